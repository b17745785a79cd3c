package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// imageLimit is the size limit of an image for a model, in bytes.
const imageLimit = 5 << 20

type readFile struct {
	Path string `json:"path" doc:"relative to the workspace"`
	From int    `json:"from,omitempty" doc:"first line, 1-based; default 1"`
	To   int    `json:"to,omitempty" doc:"last line; default the last"`
}

// String names the file and the lines that are asked for.
func (f readFile) String() string {
	switch {
	case f.To > 0:
		return fmt.Sprintf("%s %d-%d", f.Path, max(f.From, 1), f.To)
	case f.From > 1:
		return fmt.Sprintf("%s from %d", f.Path, f.From)
	}
	return f.Path
}

type readArgs struct {
	Files []readFile `json:"files" doc:"one or more files, each whole or a range of lines"`
}

// Read returns the tool that shows files: text with line numbers, images and documents as such.
func Read() tool.Tool {
	t := tool.New("read",
		"Read files, several at once. Text comes as a header, then one \"number, tab, text\" per line; "+
			"the number and tab are not part of the file. Images and PDFs are shown. Read a file before you edit it; "+
			"prefer one call with all files you need, and for more than 1000 lines several calls in one reply.",
		func(env tool.Env, in readArgs) (fp tool.Footprint, err error) {
			for _, f := range in.Files {
				sp, err := readSpan(env, f.Path)
				if err != nil {
					return fp, err
				}
				if f.From > 0 || f.To > 0 {
					sp.From, sp.To = max(f.From, 1), f.To
				}
				fp.Reads = append(fp.Reads, sp)
			}
			return fp, nil
		},
		func(ctx context.Context, env tool.Env, in readArgs) (tool.Result, error) {
			if len(in.Files) == 0 {
				return tool.Errorf("files is empty: name at least one file"), nil
			}
			r := &reader{env: env, room: limitOf(env)}
			files := map[string]bool{} // two ranges may be of one
			for i, f := range in.Files {
				if err := ctx.Err(); err != nil {
					return tool.Result{}, err
				}
				if i > 0 && r.room < 200 {
					var left []string
					for _, f := range in.Files[i:] {
						left = append(left, f.String())
					}
					r.say("[not read, the result is full: %s; to be read in another call]\n", strings.Join(left, ", "))
					break
				}
				files[f.Path] = true
				if err := r.file(ctx, f); err != nil {
					if ctx.Err() != nil {
						return tool.Result{}, ctx.Err()
					}
					r.fails++
					r.say("== %s ==\nerror: %s\n", f.Path, err)
				}
			}
			return r.result(len(files)), nil
		})
	t.Facts = tool.Facts{Kind: tool.Read, Aliases: []string{"cat", "openfile", "readfile", "readmanyfiles", "view", "viewfile"}, Family: tool.ReadFamily, Shows: showFile, Repeatable: true, Hooks: []string{"Read"}}
	t.ReadOnly = true
	t.Example = `{"files":[{"path":"main.go"},{"path":"doc/notes.md","from":1,"to":80}]}`
	return t
}

func showFile(m tool.Mention) any {
	if m.Dir {
		return nil
	}
	return readArgs{[]readFile{{m.Path, m.From, m.To}}}
}

// reader collects the result of one call.
type reader struct {
	env    tool.Env
	b      strings.Builder
	room   int // bytes of text that still fit
	fails  int
	lines  int
	images []llm.Media
	seen   []tool.Span
}

func (r *reader) say(format string, args ...any) {
	n := r.b.Len()
	fmt.Fprintf(&r.b, format, args...)
	r.room -= r.b.Len() - n
}

func (r *reader) result(files int) tool.Result {
	note := plural.Of(r.lines, "line")
	if files > 1 {
		note = plural.Of(files, "file") + ", " + note
	}
	if len(r.images) > 0 {
		note += ", " + llm.CountMedia(r.images)
	}
	return tool.Result{
		Text: strings.TrimSuffix(r.b.String(), "\n"), Error: r.fails == files,
		Images: r.images, Seen: r.seen, Note: note,
	}
}

func (r *reader) file(ctx context.Context, in readFile) error {
	if in.To > 0 && in.From > in.To {
		return failf("from %d is after to %d", in.From, in.To)
	}
	from := max(in.From, 1)
	f, err := r.env.Files.Read(ctx, in.Path, 0)
	var large interface{ TooLarge() int64 }
	switch {
	case errors.As(err, &large):
		return r.part(ctx, in, from)
	case errors.Is(err, fs.ErrNotExist):
		return failf("%s", missing(ctx, r.env, in.Path))
	case err != nil:
		if _, dir, serr := r.env.Files.Stat(in.Path); serr == nil && dir {
			return failf("%s is a folder: use glob, or ls in bash", in.Path)
		}
		return err
	}
	if kind := llm.MediaType(f.Data); kind != "" {
		return r.media(f, kind)
	}
	if binary(f.Data) {
		what := "a binary file"
		if len(f.Data) > 1 && (f.Data[0] == 0xFF && f.Data[1] == 0xFE || f.Data[0] == 0xFE && f.Data[1] == 0xFF) {
			what = "UTF-16 text"
		}
		return failf("%s is %s of %d bytes: it cannot be shown as lines", f.Path, what, len(f.Data))
	}
	text, marked := strings.CutPrefix(string(f.Data), bom)
	ls := splitLines(text)
	if len(ls) == 0 {
		r.say("== %s (empty) ==\n", f.Path)
		r.seen = append(r.seen, tool.Span{Path: f.Path, Hash: f.Hash})
		return nil
	}
	if from > len(ls) {
		return failf("%s has %s: nothing at line %d", f.Path, plural.Of(len(ls), "line"), from)
	}
	to := len(ls)
	if in.To > 0 {
		to = min(in.To, to)
	}
	r.show(f, ls[from-1:to], from, len(ls))
	r.quirks(text, marked)
	return nil
}

// quirks reports properties of a text that its lines do not show.
func (r *reader) quirks(text string, marked bool) {
	var q []string
	if crlf, lf := endings(text); crlf > 0 && lf == 0 {
		q = append(q, "CRLF line endings (edits keep them)")
	} else if crlf > 0 {
		q = append(q, fmt.Sprintf("mixed line endings (%d CRLF, %d LF)", crlf, lf))
	}
	if marked {
		q = append(q, "byte order mark")
	}
	if !strings.HasSuffix(text, "\n") {
		q = append(q, "no newline at the end")
	}
	if len(q) > 0 {
		r.say("[%s]\n", strings.Join(q, ", "))
	}
}

// part reads lines of a file that is too large to read whole.
func (r *reader) part(ctx context.Context, in readFile, from int) error {
	f, first, last, total, err := r.env.Files.Lines(ctx, in.Path, from, in.To, int64(max(r.room, lineShown+1)))
	if err != nil {
		return err
	}
	if binary(f.Data) {
		return failf("%s is a large binary file: it cannot be shown as lines", f.Path)
	}
	if first == 0 {
		return failf("%s has %s: nothing at line %d", f.Path, plural.Of(total, "line"), from)
	}
	ls := splitLines(string(f.Data))
	want := total
	if in.To > 0 {
		want = min(in.To, total)
	}
	n := r.show(f, ls, first, total)
	if n > 0 && first+n-1 == last && last < want {
		r.say("[lines %d-%d not shown, the result is full: read again with from %d, or use grep]\n", last+1, want, last+1)
	}
	return nil
}

// show writes a header and as many lines as fit, and reports what was left out. It
// returns how many lines it wrote.
func (r *reader) show(f tool.File, ls []string, from, total int) int {
	var body strings.Builder
	room := r.room - len(f.Path) - 200
	if r.b.Len() == 0 { // one line at least
		room = max(room, lineShown+100)
	}
	n, seen := numbered(&body, ls, from, room, tool.Span{Path: f.Path, Hash: f.Hash})
	if n == 0 && len(ls) > 0 {
		r.say("[not read, the result is full: %s; read it in another call]\n", f.Path)
		return 0
	}
	r.say("== %s (lines %d-%d of %d) ==\n%s", f.Path, from, from+n-1, total, body.String())
	if n < len(ls) {
		r.say("[lines %d-%d not shown, the result is full: read again with from %d, or use grep]\n", from+n, from+len(ls)-1, from+n)
	}
	r.lines += n
	if len(seen) == 1 && seen[0].From == 1 && seen[0].To == total { // the whole file
		seen[0].From = 0
	}
	r.seen = append(r.seen, seen...)
	return n
}

// tokensShown is how many tokens of a document go into one result: four times a text's.
func tokensShown(env tool.Env) int { return limitOf(env) / 3 * 4 }

func (r *reader) media(f tool.File, kind string) error {
	m, err := llm.NewMedia(kind, f.Data)
	switch {
	case err != nil:
		return failf("%s: %v", f.Path, err)
	case m.Kind() == llm.Images && len(f.Data) > imageLimit:
		return failf("%s is an image of %.1f MB, more than a model takes (5 MB): make it smaller first", f.Path, float64(len(f.Data))/(1<<20))
	case m.Kind() != llm.Images && m.Tokens() > tokensShown(r.env): // a quarter of the window, or less
		return failf("%s is a %s of about %d tokens, more than a result takes (%d): take a part of it, or its text", f.Path, m.Kind().Name(), m.Tokens(), tokensShown(r.env))
	}
	r.images = append(r.images, m)
	r.say("== %s (%s, %d bytes) ==\n", f.Path, kind, len(f.Data))
	return nil
}
