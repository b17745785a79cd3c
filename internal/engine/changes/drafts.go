package changes

import (
	"context"
	"io/fs"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// Drafts is the workspace with changes that are only thought of: what a call
// would do to the files, on what the calls before it would leave.
type Drafts struct {
	tool.Files
	files   map[string]draft
	changes []tool.Change
	correct bool
}

// NewDrafts has no changes yet. correct is tool.Env's.
func NewDrafts(files tool.Files, correct bool) *Drafts {
	return &Drafts{Files: files, files: map[string]draft{}, correct: correct}
}

// Changed returns the changes since it was called last.
func (d *Drafts) Changed() []tool.Change {
	out := d.changes
	d.changes = nil
	return out
}

type draft struct {
	data []byte
	mode uint32
	gone bool
}

// at returns a draft of a path, as it was resolved.
func (d *Drafts) at(path string) (string, draft, bool) {
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
func (d *Drafts) Stat(path string) (tool.Hash, bool, error) {
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
func (d *Drafts) Read(ctx context.Context, path string, max int64) (tool.File, error) {
	clean, f, ok := d.at(path)
	if !ok {
		return d.Files.Read(ctx, path, max)
	}
	if f.gone {
		return tool.File{}, missingFile(clean)
	}
	return tool.File{Path: clean, Data: f.data, Hash: edits.HashOf(f.data), Mode: f.mode}, nil
}

// ReadNoFollow is part of tool.Files.
func (d *Drafts) ReadNoFollow(ctx context.Context, path string, max int64) (tool.File, error) {
	if _, _, ok := d.at(path); ok {
		return d.Read(ctx, path, max)
	}
	return d.Files.ReadNoFollow(ctx, path, max)
}

// Write is part of tool.Files.
func (d *Drafts) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := d.WriteAll(ctx, []tool.Write{{Path: path, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

// WriteAll is part of tool.Files. It changes drafts only.
func (d *Drafts) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
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
