package session

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// What a permission question shows of a call that changes files: the diff of
// what it would do, to the files as the calls before it in the same step would
// leave them.

// previewLimit is how many bytes of a diff a question shows. What is longer is
// whole in a file that the question names: nothing that is asked about is out
// of reach (SPEC 16.11), and no log or screen drowns in it.
const previewLimit = 100 << 10

// questions words the question for each asked call of a step, in order.
func (g *permissionGate) questions(ctx context.Context, step []*turn.Pending, asked map[*turn.Pending]permission.Decision) []event.Question {
	d := newDraft(g.s.cfg.Files)
	var out []event.Question
	unknown := false
	for _, p := range step {
		if p.Refused != nil || len(out) == len(asked) {
			continue
		}
		text, counts := g.preview(ctx, p, d)
		if decision, ok := asked[p]; ok {
			out = append(out, g.question(ctx, p, decision, text, counts, unknown))
		}
		unknown = unknown || p.Footprint.Unknown
	}
	return out
}

func (g *permissionGate) question(ctx context.Context, p *turn.Pending, d permission.Decision, preview, counts string, unknown bool) event.Question {
	q := event.Question{
		Call: p.Call.ID, Tool: p.Tool.Spec.Name, Title: title(p), Reason: d.Reason,
		Pattern: d.Pattern, Always: d.CanAlways, Edits: g.edits(ctx, p), Preview: string(p.Args),
	}
	if p.Footprint.Shell != "" {
		q.Preview = p.Footprint.Shell
		if also := p.Footprint.Besides; also != "" {
			q.Preview += "\n" + also
		}
	}
	if preview != "" {
		// Commands and arguments are shown whole, however long.
		q.Preview = g.bounded(ctx, p, g.s.cfg.Mask.String(preview))
		if unknown {
			q.Preview = "(as the files are now; a command before it in this step may change them)\n" + q.Preview
		}
	}
	if counts != "" {
		q.Title = p.Tool.Spec.Name + " " + counts
	}
	return q
}

// bounded cuts a preview at a line and says what was left out and where it is.
// Where it cannot be kept, it is shown whole.
func (g *permissionGate) bounded(ctx context.Context, p *turn.Pending, text string) string {
	if len(text) <= previewLimit {
		return text
	}
	path, err := g.s.spill(ctx, "preview-"+p.Call.ID, text)
	if err != nil {
		return text
	}
	n := strings.LastIndexByte(text[:previewLimit], '\n') + 1
	if n == 0 {
		n = len(strings.ToValidUTF8(text[:previewLimit], ""))
	}
	return fmt.Sprintf("%s[%d of %d lines are shown here. All of it is in %s]\n",
		text[:n], strings.Count(text[:n], "\n"), strings.Count(text, "\n"), path)
}

// preview says what a call would do to the files of d and does it there.
// counts names each file with the lines that come and go. A call without a
// preview gives neither.
func (g *permissionGate) preview(ctx context.Context, p *turn.Pending, d *draftFiles) (text, counts string) {
	if p.Tool.Preview == nil {
		return "", ""
	}
	env := tool.Env{Files: d, Out: func(string) {}, Limit: previewLimit, Correct: g.s.cfg.AutoCorrect}
	text, err := p.Preview(ctx, env)
	if err != nil {
		// It must not hide what is asked: the arguments follow.
		return "as things are it would fail: " + err.Error() + "\n" + string(p.Args), ""
	}
	d.changes = nil
	if _, err := p.Try(ctx, env); err != nil || len(d.changes) == 0 {
		return text, ""
	}
	return text, counted(d.changes)
}

// counted lists what would happen to each file.
func counted(cs []tool.Change) string {
	var out []string
	for _, c := range cs {
		what := fmt.Sprintf("+%d -%d", c.Added, c.Removed)
		switch {
		case c.Before == "":
			what = fmt.Sprintf("new, +%d", c.Added)
		case c.After == "":
			what = fmt.Sprintf("deleted, -%d", c.Removed)
		case c.Diff == "" && c.Before != c.After:
			what = "binary"
		case c.Diff == "":
			what = "mode"
		}
		out = append(out, fmt.Sprintf("%s (%s)", c.Path, what))
	}
	return strings.Join(out, ", ")
}

// draftFiles is the workspace with changes that are only thought of.
type draftFiles struct {
	tool.Files
	files   map[string]draft
	changes []tool.Change // of the last call
}

func newDraft(files tool.Files) *draftFiles {
	return &draftFiles{Files: files, files: map[string]draft{}}
}

type draft struct {
	data []byte
	mode uint32
	gone bool
}

// at gives a draft of a path, as it was resolved.
func (d *draftFiles) at(path string) (string, draft, bool) {
	clean, _, err := d.Files.Resolve(path)
	if err != nil {
		return path, draft{}, false
	}
	f, ok := d.files[clean]
	return clean, f, ok
}

func missingFile(path string) error {
	return &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
}

// Stat is part of tool.Files.
func (d *draftFiles) Stat(path string) (tool.Hash, bool, error) {
	_, f, ok := d.at(path)
	if !ok {
		return d.Files.Stat(path)
	}
	if f.gone {
		return "", false, nil
	}
	return edits.HashOf(f.data), false, nil
}

// Read is part of tool.Files.
func (d *draftFiles) Read(ctx context.Context, path string, max int64) (tool.File, error) {
	clean, f, ok := d.at(path)
	if !ok {
		return d.Files.Read(ctx, path, max)
	}
	if f.gone {
		return tool.File{}, missingFile(clean)
	}
	return tool.File{Path: clean, Data: f.data, Hash: edits.HashOf(f.data), Mode: f.mode}, nil
}

// Itself is part of tool.Files.
func (d *draftFiles) Itself(ctx context.Context, path string, max int64) (tool.File, error) {
	if _, _, ok := d.at(path); ok {
		return d.Read(ctx, path, max)
	}
	return d.Files.Itself(ctx, path, max)
}

// Write is part of tool.Files.
func (d *draftFiles) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := d.WriteAll(ctx, []tool.Write{{Path: path, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

// WriteAll is part of tool.Files. It changes drafts only.
func (d *draftFiles) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	var out []tool.Change
	for _, w := range ws {
		from, to := w.Path, w.Path
		from, _, _ = d.at(from)
		if w.MoveTo != "" {
			to = w.MoveTo
		}
		to, _, _ = d.at(to)
		var before tool.File
		if w.Expect != "" {
			var err error
			if before, err = d.Read(ctx, from, maxDraft); err != nil {
				return nil, err
			}
		}
		mode := before.Mode
		if w.Mode != 0 {
			mode = w.Mode
		}
		if w.Remove || from != to {
			d.files[from] = draft{gone: true}
			out = append(out, drafted(from, before, tool.File{}))
			before = tool.File{}
		}
		if !w.Remove {
			d.files[to] = draft{data: w.Data, mode: mode}
			out = append(out, drafted(to, before, tool.File{Data: w.Data, Hash: edits.HashOf(w.Data), Mode: mode}))
		}
	}
	d.changes = append(d.changes, out...)
	return out, nil
}

// maxDraft is the largest file that a preview looks at, bytes: none that an
// edit tool takes is larger.
const maxDraft = 1 << 30

func drafted(path string, before, after tool.File) tool.Change {
	c := tool.Change{Path: path, Before: before.Hash, After: after.Hash, ModeBefore: before.Mode, Mode: after.Mode}
	if edits.Text(before.Data) && edits.Text(after.Data) {
		c.Diff, c.Added, c.Removed = edits.Diff("a/"+path, "b/"+path, before.Data, after.Data)
	}
	return c
}
