package acp

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// buffers are the texts of an editor that are not saved. What a tool reads of a file is what
// the person sees there. A write goes to the disk, as without an editor, so that the journal
// and undo hold; then to the editor, whose own undo knows it. Commands and searches see what
// is saved.
type buffers struct {
	a       *agent
	session atomic.Value // its id; before it is open the disk counts
	deaf    atomic.Bool  // the editor did not answer in time: from then on the disk counts
}

// bufferTime is how long the editor may take to answer, bufferLimit the longest text, in bytes.
const (
	bufferTime  = 5 * time.Second
	bufferLimit = 4 << 20
)

func (b *buffers) over(files tool.Files) tool.Files { return &editorFiles{files, b} }

// ask sends a request about a file.
func (b *buffers) ask(ctx context.Context, method string, params object, result any) bool {
	id, open := b.session.Load().(string)
	if !open || b.deaf.Load() {
		return false
	}
	ctx, stop := context.WithTimeoutCause(ctx, b.a.BufferTime, context.DeadlineExceeded)
	defer stop()
	params["sessionId"] = id
	err := b.a.request(ctx, method, params, result)
	if ctx.Err() == context.DeadlineExceeded {
		b.deaf.Store(true)
	}
	return err == nil
}

// editorFiles are files with the editor's texts over those on the disk.
type editorFiles struct {
	tool.Files
	b *buffers
}

// Only returns a view of the judged places.
func (e *editorFiles) Only(reads, writes []tool.Span) tool.Files {
	return e.b.over(e.Files.(interface {
		Only(reads, writes []tool.Span) tool.Files
	}).Only(reads, writes))
}

// path returns the absolute path of a file that the editor may have open.
func (e *editorFiles) path(name string) (string, bool) {
	clean, inside, err := e.Files.Resolve(name)
	return filepath.Join(e.Root(), filepath.FromSlash(clean)), inside && err == nil
}

// over puts the editor's text over a file as it is on the disk, and reports whether the
// two differ. Line ends and a mark at the beginning are those of the disk: editors leave
// them out.
func (e *editorFiles) over(ctx context.Context, f *tool.File) (unsaved bool) {
	abs, ok := e.path(f.Path)
	if !ok || f.Data == nil || f.Mode&uint32(fs.ModeSymlink) != 0 || len(f.Data) > bufferLimit || !utf8.Valid(f.Data) || bytes.IndexByte(f.Data, 0) >= 0 {
		return false
	}
	var said struct {
		Content *string `json:"content"`
	}
	if !e.b.ask(ctx, "fs/read_text_file", object{"path": abs}, &said) || said.Content == nil {
		return false
	}
	text := *said.Content
	if bytes.Contains(f.Data, []byte("\r\n")) && !strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	const mark = "\ufeff"
	if bytes.HasPrefix(f.Data, []byte(mark)) && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	if text == string(f.Data) {
		return false
	}
	f.Data, f.Hash = []byte(text), workspace.HashOf([]byte(text))
	return true
}

func (e *editorFiles) Read(ctx context.Context, path string, max int64) (tool.File, error) {
	f, err := e.Files.Read(ctx, path, max)
	if err == nil {
		e.over(ctx, &f)
	}
	return f, err
}

func (e *editorFiles) ReadNoFollow(ctx context.Context, path string, max int64) (tool.File, error) {
	f, err := e.Files.ReadNoFollow(ctx, path, max)
	if err == nil {
		e.over(ctx, &f)
	}
	return f, err
}

func (e *editorFiles) Stat(path string) (tool.Hash, bool, error) {
	h, dir, err := e.Files.Stat(path)
	if err != nil || dir || h == "" {
		return h, dir, err
	}
	f, err := e.Read(e.b.a.ctx, path, bufferLimit)
	if err != nil { // too large, or not to be read here
		return h, false, nil
	}
	return f.Hash, false, nil
}

func (e *editorFiles) Lines(ctx context.Context, path string, from, to int, max int64) (f tool.File, first, last, total int, err error) {
	f, first, last, total, err = e.Files.Lines(ctx, path, from, to, max)
	if err != nil {
		return f, first, last, total, err
	}
	if whole, err := e.Files.Read(ctx, path, bufferLimit); err == nil && e.over(ctx, &whole) {
		whole.Data, first, last, total = workspace.CutLines(whole.Data, from, to, max)
		f = whole
	}
	return f, first, last, total, nil
}

func (e *editorFiles) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := e.WriteAll(ctx, []tool.Write{{Path: path, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

// WriteAll implements tool.Files. What the caller saw in the editor is saved there first;
// what it did not see is never replaced.
func (e *editorFiles) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	var unsaved []tool.File
	for _, w := range ws {
		read := e.Files.Read
		if w.NoFollow {
			read = e.Files.ReadNoFollow
		}
		f, err := read(ctx, w.Path, bufferLimit)
		if w.Expect == "" || err != nil || !e.over(ctx, &f) {
			continue
		}
		if f.Hash != w.Expect {
			return nil, &tool.StaleError{Path: w.Path, Want: w.Expect, Got: f.Hash}
		}
		if !e.b.a.writesBuffers {
			return nil, fmt.Errorf("%s has changes in the editor that are not saved: nothing was written; ask the person to save it, then make the same call again", w.Path)
		}
		unsaved = append(unsaved, f)
	}
	for _, f := range unsaved {
		if !e.tell(ctx, f.Path, f.Data) {
			return nil, fmt.Errorf("the editor did not save %s: nothing was written; make the same call again", f.Path)
		}
	}
	cs, err := e.Files.WriteAll(ctx, ws)
	if err != nil {
		return cs, err
	}
	for _, w := range ws {
		if !w.Remove && w.MoveTo == "" && fs.FileMode(w.Mode)&fs.ModeSymlink == 0 && utf8.Valid(w.Data) {
			e.tell(context.WithoutCancel(ctx), w.Path, w.Data) // else it loads the file anew by itself
		}
	}
	return cs, nil
}

// tell gives the editor the text of a file, which it saves.
func (e *editorFiles) tell(ctx context.Context, name string, data []byte) bool {
	abs, ok := e.path(name)
	return ok && e.b.a.writesBuffers && len(data) <= bufferLimit &&
		e.b.ask(ctx, "fs/write_text_file", object{"path": abs, "content": string(data)}, nil)
}
