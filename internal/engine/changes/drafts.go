package changes

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// Drafts is the workspace with changes in memory: what a call would do to the
// files, after the earlier calls of its step.
type Drafts struct {
	tool.Files
	files   map[string]draft
	writes  []draftWrite
	correct bool
	// Code answers questions about the files on disk.
	Code tool.Code
}

// NewDrafts returns Drafts without changes. correct is that of tool.Env.
func NewDrafts(files tool.Files, correct bool) *Drafts {
	return &Drafts{Files: files, files: map[string]draft{}, correct: correct}
}

// takeWrites returns the writes since its last call.
func (d *Drafts) takeWrites() []draftWrite {
	out := d.writes
	d.writes = nil
	return out
}

type draft struct {
	data []byte
	mode uint32
	gone bool
}

func (d *Drafts) lookup(path string) (string, draft, bool) {
	clean, _, err := d.Files.Resolve(path)
	if err != nil {
		return path, draft{}, false
	}
	f, ok := d.files[clean]
	return clean, f, ok
}

func missingFile(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

func (d *Drafts) Stat(path string) (tool.Hash, bool, error) {
	_, f, ok := d.lookup(path)
	if !ok {
		return d.Files.Stat(path)
	}
	if f.gone {
		return "", false, nil
	}
	return edits.HashOf(f.data), false, nil
}

func (d *Drafts) Read(ctx context.Context, path string, max int64) (tool.File, error) {
	clean, f, ok := d.lookup(path)
	if !ok {
		return d.Files.Read(ctx, path, max)
	}
	if f.gone {
		return tool.File{}, missingFile(clean)
	}
	return tool.File{Path: clean, Data: f.data, Hash: edits.HashOf(f.data), Mode: f.mode}, nil
}

func (d *Drafts) ReadNoFollow(ctx context.Context, path string, max int64) (tool.File, error) {
	if _, _, ok := d.lookup(path); ok {
		return d.Read(ctx, path, max)
	}
	return d.Files.ReadNoFollow(ctx, path, max)
}

func (d *Drafts) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := d.WriteAll(ctx, []tool.Write{{Path: path, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

// WriteAll implements tool.Files. It changes only drafts.
func (d *Drafts) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	var out []tool.Change
	for _, w := range ws {
		n := draftWrite{mode: w.Mode}
		n.from, _, _ = d.lookup(w.Path)
		if n.to = n.from; w.MoveTo != "" {
			n.to, _, _ = d.lookup(w.MoveTo)
		}
		if w.Expect != "" {
			var err error
			if n.before, err = d.Read(ctx, n.from, maxDraft); err != nil {
				return nil, err
			}
		}
		if w.Remove || n.to != n.from {
			d.files[n.from] = draft{gone: true}
		}
		if w.Remove {
			n.to = ""
		} else {
			n.after = tool.File{Data: w.Data, Hash: edits.HashOf(w.Data), Mode: cmp.Or(w.Mode, n.before.Mode)}
			d.files[n.to] = draft{data: w.Data, mode: n.after.Mode}
		}
		d.writes = append(d.writes, n)
		out = append(out, n.changes()...)
	}
	return out, nil
}

// maxDraft is the size limit of a file in a preview, in bytes: edit tools
// accept no larger one.
const maxDraft = 1 << 30

// draftWrite is one write to the drafts. to is empty if the file is deleted, and
// differs from from if it is moved.
type draftWrite struct {
	from, to      string
	before, after tool.File // without a hash: the file does not exist
	mode          uint32    // the mode that the write asks for, 0: none
}

func (n draftWrite) moved() bool { return n.to != "" && n.to != n.from }

// changes returns the write as tool.Files reports it: a move is two changes.
func (n draftWrite) changes() []tool.Change {
	if n.moved() {
		return []tool.Change{changeOf(n.from, n.before, tool.File{}), changeOf(n.to, tool.File{}, n.after)}
	}
	return []tool.Change{changeOf(n.from, n.before, n.after)}
}

func changeOf(path string, before, after tool.File) tool.Change {
	c := tool.Change{Path: path, Before: before.Hash, After: after.Hash, ModeBefore: before.Mode, Mode: after.Mode}
	if edits.Text(before.Data) && edits.Text(after.Data) {
		c.Diff, c.Added, c.Removed = edits.Diff("a/"+path, "b/"+path, before.Data, after.Data)
	}
	return c
}

// preview returns the write as shown to a person: one diff, also for a move.
func (n draftWrite) preview() string {
	var b strings.Builder
	from, to := "a/"+n.from, "b/"+n.to
	if n.mode != 0 {
		fmt.Fprintf(&b, "mode of %s becomes %04o\n", n.from, n.mode)
	}
	if n.moved() {
		fmt.Fprintf(&b, "rename %s to %s\n", n.from, n.to)
	}
	if n.before.Hash == "" {
		from = "/dev/null"
		if len(n.after.Data) == 0 {
			fmt.Fprintf(&b, "new empty file %s\n", n.to)
		}
	}
	if n.to == "" {
		to = "/dev/null"
		if len(n.before.Data) == 0 {
			fmt.Fprintf(&b, "delete the empty file %s\n", n.from)
		}
	}
	if !edits.Text(n.before.Data) || !edits.Text(n.after.Data) {
		fmt.Fprintf(&b, "--- %s\n+++ %s\n(binary)\n", from, to)
		return b.String()
	}
	text, _, _ := edits.Diff(from, to, n.before.Data, n.after.Data)
	return b.String() + text
}
