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

// AddKept adds what sets keep to a plan, the newest first: a folder and its sets are one
// file of the plan. blocked returns why a set cannot be restored at a path now.
func (p *Plan) AddKept(cs []Change, blocked func(set, path string) string) {
	for _, c := range slices.Backward(cs) {
		i := slices.IndexFunc(p.Files, func(f File) bool { return f.Path == c.Path && (f.Sets != nil || f.Action != Delete) })
		switch {
		case i < 0:
			f := File{Path: c.Path, Action: PutBack, Step: c.Step, Description: c.Description}
			// What the plan deletes is out of the way then.
			if !slices.ContainsFunc(p.Files, func(o File) bool { return o.Path == c.Path && o.Action == Delete }) {
				if why := blocked(c.set.Set, c.Path); why != "" {
					f.Action, f.Why = Clash, why
				}
			}
			i, p.Files = len(p.Files), append(p.Files, f)
		case p.Files[i].Sets == nil && (p.Files[i].Blocked() || p.Files[i].Changes[0] < c.Seq): // the plan restores what was before
			p.Files[i].Changes = append(p.Files[i].Changes, c.Seq)
			continue
		case p.Files[i].Action == Beside:
			p.Files[i].block(Clash, "it was changed since, and was too large to be merged before")
			continue
		case p.Files[i].Sets == nil: // the set has what was before all of that
			f := &p.Files[i]
			f.Action, f.Over, f.Diff, f.To, f.Data = PutBack, true, "", "", nil
		}
		f := &p.Files[i]
		f.Changes = slices.Insert(f.Changes, len(f.Sets), c.Seq)
		f.Sets = append(f.Sets, c.set.Set)
		f.Count, f.Bytes = f.Count+c.set.Files, f.Bytes+c.set.Bytes
	}
}
