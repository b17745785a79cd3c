package undo

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// kept adds what is kept of a file or a folder that a command ended. It is a change without
// contents: its set has the files.
func (f *Fold) kept(e event.Event, b event.Kept) {
	f.add(e, event.FileChanged{Call: b.Call, Tool: b.Tool, Path: b.Path, Kept: true, Does: tool.Exec}, &b)
}

// Of returns the set of files that a change is, "" for a change of a single file.
func (c *Change) Of() string {
	if c.set == nil {
		return ""
	}
	return c.set.Set
}

// AddKept adds what sets keep to a plan, the newest first: a folder and its sets are one
// file of the plan. blocked returns why a set cannot be restored at a path now.
func (p *Plan) AddKept(cs []Change, blocked func(set, path string) string) {
	for _, c := range slices.Backward(cs) {
		i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == c.Path && (f.Sets != nil || f.Action != Delete && !f.Blocked()) })
		if i >= 0 && p.Files[i].Sets == nil { // the plan restores an older content
			p.Files[i].Changes = append(p.Files[i].Changes, c.Seq)
			continue
		}
		if i < 0 {
			f := File{Path: c.Path, Action: PutBack, Command: c.Command}
			// What the plan deletes is out of the way then.
			if !slices.ContainsFunc(p.Files, func(o File) bool { return o.Path == c.Path && o.Action == Delete }) {
				if why := blocked(c.set.Set, c.Path); why != "" {
					f.Action, f.Why = Clash, why
				}
			}
			i, p.Files = len(p.Files), append(p.Files, f)
		}
		f := &p.Files[i]
		f.Sets, f.Changes = append(f.Sets, c.set.Set), append(f.Changes, c.Seq)
		f.Count, f.Bytes = f.Count+c.set.Files, f.Bytes+c.set.Bytes
	}
}
