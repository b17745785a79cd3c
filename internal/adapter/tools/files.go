package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// This file has functions that the file tools share.

const (
	editLimit    = 256 << 20 // largest file that is edited, bytes
	defaultLimit = 50_000    // bytes of text, if Env sets no limit
	lineShown    = 2000      // bytes shown of one line
	bom          = "\ufeff"
	maskMark     = "[masked:" // the beginning of masked secrets
)

func limitOf(env tool.Env) int {
	if env.Limit > 0 {
		return env.Limit
	}
	return defaultLimit
}

// failf returns an error whose text is for the model.
func failf(format string, args ...any) error { return &failure{text: fmt.Sprintf(format, args...)} }

// failure is an error with a text for the model, and the lines that the text shows.
type failure struct {
	text string
	seen []tool.Span
}

func (f *failure) Error() string { return f.text }

// failed converts an error into a result for the model. The error of an ended context is
// returned as an error.
func failed(err error) (tool.Result, error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return tool.Result{}, err
	}
	if stale, ok := errors.AsType[*tool.StaleError](err); ok {
		if stale.Want == "" {
			return tool.Errorf("%s exists now and did not a moment ago: nothing was written; read it and try again", stale.Path), nil
		}
		return tool.Errorf("%s changed while it was being edited: nothing was written; read it and try again", stale.Path), nil
	}
	r := tool.Errorf("%s", err)
	if f, ok := errors.AsType[*failure](err); ok {
		r.Seen = f.seen
	}
	return r, nil
}

// readSpan returns the footprint of reading a file. If the file cannot be read, the call
// itself reports that later.
func readSpan(env tool.Env, p string) (tool.Span, error) {
	clean, _, err := env.Files.Resolve(p)
	if err != nil {
		return tool.Span{}, err
	}
	h, dir, err := env.Files.Stat(clean)
	if err != nil {
		h = ""
	}
	return tool.Span{Path: clean, Hash: h, Dir: dir}, nil
}

// writeSpan returns the footprint of writing a file.
func writeSpan(env tool.Env, p string) (tool.Span, error) {
	clean, _, err := env.Files.Resolve(p)
	if err != nil {
		return tool.Span{}, err
	}
	h, dir, err := env.Files.Stat(clean)
	if err != nil {
		return tool.Span{}, err
	}
	if dir {
		return tool.Span{}, failf("%s is a folder: name a file", clean)
	}
	return tool.Span{Path: clean, Hash: h}, nil
}

// quote is a text that a call replaces, and what it puts there.
type quote struct{ old, new string }

// quotedOnce lists the files in which each quotation occurs exactly once
// (Footprint.Quoted).
func quotedOnce(env tool.Env, quotes map[string][]quote) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(quotes)) {
		if quotesOnce(env, p, quotes[p]) {
			out = append(out, p)
		}
	}
	return out
}

// quotesOnce reports whether each quotation occurs in a file exactly once, after those before
// it were replaced.
func quotesOnce(env tool.Env, p string, quotes []quote) bool {
	f, err := env.Files.Read(context.Background(), p, editLimit)
	if err != nil || len(quotes) == 0 || binary(f.Data) {
		return false
	}
	text := "\n" + newSource(strings.TrimPrefix(string(f.Data), bom)).plain // whole lines begin behind a newline
	for _, q := range quotes {
		old := folded(strings.TrimPrefix(q.old, bom))
		if strings.HasSuffix(old, "\n") && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if strings.TrimSpace(old) == "" || len(occurrences(text, old)) != 1 {
			return false
		}
		text = strings.Replace(text, old, folded(q.new), 1)
	}
	return true
}

// folderSpan returns the footprint of searching below a path.
func folderSpan(env tool.Env, p string) (tool.Footprint, error) {
	sp, err := readSpan(env, cmp.Or(p, "."))
	return tool.Footprint{Reads: []tool.Span{sp}}, err
}

// binary reports whether a content is not text.
func binary(data []byte) bool { return !edits.Text(data) }

// splitLines splits a text into lines that keep their endings. A final newline
// ends the last line and starts no new one.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	ls := strings.SplitAfter(s, "\n")
	if ls[len(ls)-1] == "" {
		ls = ls[:len(ls)-1]
	}
	return ls
}

// bare returns a line without its ending.
func bare(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// numbered writes lines as "number, tab, text", from the number first on, while they fit
// in room bytes. It returns how many it wrote, and the spans of complete lines: a cut
// line does not count as seen.
func numbered(b *strings.Builder, ls []string, first, room int, of tool.Span) (written int, seen []tool.Span) {
	begin := b.Len()
	for i, l := range ls {
		text, cut := showLine(bare(l))
		entry := fmt.Sprintf("%d\t%s\n", first+i, text)
		if b.Len()-begin+len(entry) > room {
			break
		}
		b.WriteString(entry)
		written++
		if cut {
			continue
		}
		n := first + i
		if k := len(seen) - 1; k >= 0 && seen[k].To == n-1 {
			seen[k].To = n
		} else {
			seen = append(seen, tool.Span{Path: of.Path, Hash: of.Hash, From: n, To: n})
		}
	}
	return written, seen
}

// showLine returns a line in the form for the model: valid UTF-8, cut if it is very long.
// cut is true if the form differs from the line.
func showLine(l string) (string, bool) {
	cut := false
	if len(l) > lineShown {
		end := lineShown
		for end > 0 && !utf8.RuneStart(l[end]) {
			end--
		}
		l, cut = fmt.Sprintf("%s… [%d more bytes of this line not shown]", l[:end], len(l)-end), true
	}
	if !utf8.ValidString(l) {
		return strings.ToValidUTF8(l, "\uFFFD"), true
	}
	return l, cut
}

// Lines shows lines of files as read does, for a refusal that includes what the model
// should have read (SPEC 4.6). A span 0,0 is the whole file. text has at most limit
// bytes. Unreadable and binary files are left out.
func Lines(ctx context.Context, files tool.Files, spans []tool.Span, limit int) (text string, seen []tool.Span) {
	var b strings.Builder
	for _, sp := range spans {
		f, err := files.Read(ctx, sp.Path, 0)
		if err != nil || binary(f.Data) {
			continue
		}
		ls := splitLines(strings.TrimPrefix(string(f.Data), bom))
		from, to := max(sp.From, 1), len(ls)
		if sp.To > 0 {
			to = min(sp.To, len(ls))
		}
		if from > to || limit-b.Len() < 100 {
			continue
		}
		var body strings.Builder
		n, s := numbered(&body, ls[from-1:to], from, limit-b.Len()-len(sp.Path)-60, tool.Span{Path: f.Path, Hash: f.Hash})
		if n == 0 {
			continue
		}
		fmt.Fprintf(&b, "== %s (lines %d-%d of %d) ==\n%s", f.Path, from, from+n-1, len(ls), body.String())
		seen = append(seen, s...)
	}
	return b.String(), seen
}

// missing returns the error text for a missing file, with the most similar names.
func missing(ctx context.Context, env tool.Env, p string) string {
	text := p + " does not exist"
	if near := nearest(ctx, env, p); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return text
}

// nearest lists up to five files with names like p's: those with the same name
// elsewhere, then those with similar names in the same folder.
func nearest(ctx context.Context, env tool.Env, p string) []string {
	var out []string
	base := path.Base(p)
	if !strings.ContainsAny(base, `*?[]{}\!`) {
		out, _, _ = env.Files.Glob(ctx, ".", "**/"+base, 3)
	}
	dir := path.Dir(p)
	entries, err := env.Files.List(ctx, dir)
	if err != nil {
		return out
	}
	type near struct {
		name string
		far  int
	}
	var ns []near
	for _, e := range entries {
		d := editdistance.Distance(strings.ToLower(e.Name), strings.ToLower(base))
		if d <= max(2, len(base)/3) && d < max(len(base), len(e.Name)) {
			name := path.Join(dir, e.Name)
			if e.Dir {
				name += "/"
			}
			ns = append(ns, near{name, d})
		}
	}
	sorting.By(ns, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	for _, n := range ns {
		if len(out) < 5 && !slices.Contains(out, n.name) {
			out = append(out, n.name)
		}
	}
	return out
}

// load reads a file that will be changed; exists is false for a new file.
func load(ctx context.Context, env tool.Env, p string) (f tool.File, exists bool, err error) {
	clean, _, err := env.Files.Resolve(p)
	if err != nil {
		return tool.File{}, false, err
	}
	f, err = env.Files.Read(ctx, clean, editLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.File{Path: clean}, false, nil
	}
	return f, err == nil, err
}

// unmask returns an error for a text with a mask that was not there before (SPEC 16.7).
func unmask(p, before, after string) error {
	if strings.Count(after, maskMark) > strings.Count(before, maskMark) {
		return failf("the new text of %s contains %s…]: that is how pawl hides a secret from you, it is not what the file says; "+
			"leave those lines alone or edit around them", p, maskMark)
	}
	return nil
}
