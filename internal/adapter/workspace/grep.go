package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

const (
	grepDefault = 1000   // matches, where the query sets no limit
	lineMax     = 500    // bytes shown of a line
	heldMax     = 20_000 // lines that wait for files before theirs
)

// Grep searches the files below q.Dir, or q.Dir itself if it is a file. Lines
// are sorted by path and number, the same at every run; if the limit cuts the
// search, Files and Hits count what was found up to there. Binary files, files
// over 64 MB (512 MB if the file is named) and symlinks are not searched. A
// line longer than 500 bytes is cut around the match, invalid UTF-8 is shown as
// U+FFFD, and a carriage return at the end is ignored.
func (w *Workspace) Grep(ctx context.Context, q tool.Query) (tool.Matches, error) {
	m, err := newLineMatcher(q)
	if err != nil {
		return tool.Matches{}, err
	}
	keep, err := globber(q.Glob)
	if err != nil {
		return tool.Matches{}, err
	}
	p, info, err := w.searchFolder(q.Dir)
	if err != nil {
		return tool.Matches{}, err
	}
	if q.Limit <= 0 {
		q.Limit = grepDefault
	}
	s := &search{ctx: ctx, q: q, m: m, keep: keep, base: p, buffers: make([]contents, maxWorkers)}
	for i := range s.buffers {
		s.buffers[i].max = grepLimit
	}
	if info.IsDir() {
		t, err := w.treeOf(ctx, p)
		if err != nil {
			return tool.Matches{}, err
		}
		defer t.close()
		t.visit, t.passed, t.full = s.visit, s.passed, s.full
		if err := t.all(); err != nil {
			return tool.Matches{}, err
		}
		return s.all, nil
	}
	if what := specialType(info.Mode()); what != "" {
		return tool.Matches{}, &SpecialError{Path: p.clean, What: what}
	}
	s.buffers[0].max = grepFileLimit // the call names this file
	if info.Size() > grepFileLimit {
		return tool.Matches{}, &sentence{fmt.Sprintf("%s is too large to search (%s, the limit is %s): read it by ranges, or use grep in a shell",
			p.clean, sizeText(info.Size()), sizeText(grepFileLimit)), nil}
	}
	up := w.parent(p)
	root, err := w.folder(up)
	if err != nil {
		return tool.Matches{}, wrapError("search", p.clean, err)
	}
	defer root.Close()
	in, err := openFolder(root)
	if err != nil {
		return tool.Matches{}, wrapError("search", p.clean, err)
	}
	defer in.close()
	s.base, s.q.Withhold = up, nil
	s.visit(0, in, "", []string{p.base()})
	s.passed("")
	return s.all, ctx.Err()
}

// search is one run of Grep.
type search struct {
	ctx     context.Context
	q       tool.Query
	m       *lineMatcher
	keep    func(string) bool
	base    place
	buffers []contents // one for each thread
	stop    atomic.Bool
	held    atomic.Int64 // lines of waiting

	mu      sync.Mutex
	waiting map[string]*tool.Matches // by the path of the first file
	all     tool.Matches             // of everything before those
}

func (s *search) visit(worker int, in *folder, at string, names []string) {
	r := &tool.Matches{}
	for _, name := range names {
		if s.stop.Load() || s.ctx.Err() != nil {
			return
		}
		switch p := at + name; {
		case !s.keep(p):
		case s.q.Withhold != nil && s.q.Withhold(s.base.join(p)):
			r.Withheld = append(r.Withheld, s.base.join(p))
		default:
			s.file(in, &s.buffers[worker], s.base.join(p), name, r)
		}
	}
	s.held.Add(int64(len(r.Lines)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[string]*tool.Matches{}
	}
	s.waiting[at+names[0]] = r
}

func (s *search) full() bool { return s.held.Load() > heldMax }

// passed adds up what was found before a path, and ends the search when that is
// enough: the result does not depend on the threads' speed.
func (s *search) passed(before string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ready []string
	for k := range s.waiting {
		if before == "" || k < before {
			ready = append(ready, k)
		}
	}
	slices.Sort(ready)
	for _, k := range ready {
		r := s.waiting[k]
		delete(s.waiting, k)
		s.held.Add(-int64(len(r.Lines)))
		if !s.all.More {
			s.add(r)
		}
	}
	if s.all.More {
		s.stop.Store(true)
	}
	return !s.all.More
}

// add adds what comes next, up to the limit.
func (s *search) add(r *tool.Matches) {
	all := &s.all
	all.Searched += r.Searched
	all.Skipped += r.Skipped
	all.Binary = append(all.Binary, r.Binary...)
	all.Withheld = append(all.Withheld, r.Withheld...)
	left := s.q.Limit - s.counted(all)
	if s.counted(r) <= left {
		all.Files += r.Files
		all.Hits += r.Hits
		all.Lines = append(all.Lines, r.Lines...)
		return
	}
	all.More = true
	s.cut(all, r, left)
}

// counted returns what the limit counts.
func (s *search) counted(r *tool.Matches) int {
	if s.q.FilesOnly {
		return r.Files
	}
	return r.Hits
}

func (s *search) file(in *folder, c *contents, shown, name string, r *tool.Matches) {
	switch ok, skipped := in.read(name, c); {
	case skipped:
		r.Skipped++
		return
	case !ok:
		return
	}
	scan, low := s.m.scan(c.buf, c.low)
	c.low = low
	f, ok := scan.line(0)
	switch {
	case ok && bytes.IndexByte(c.buf, 0) >= 0:
		r.Skipped++
		r.Binary = append(r.Binary, shown)
		return
	case isBinary(c.buf):
		r.Skipped++
		return
	}
	r.Searched++
	if !ok {
		return
	}
	r.Files++
	out := printer{r: r, path: shown, buf: c.buf, context: s.q.Context, filesOnly: s.q.FilesOnly}
	for ok && r.Hits <= s.q.Limit {
		r.Hits++
		out.hit(f)
		if s.q.FilesOnly {
			break
		}
		next := bytes.IndexByte(c.buf[f.end:], '\n')
		if next < 0 {
			break
		}
		f, ok = scan.line(f.end + next + 1)
	}
	out.after()
}

// cut adds the first of r's matches, with the context before each.
func (s *search) cut(all, r *tool.Matches, left int) {
	last, file := -1, ""
	for i, l := range r.Lines {
		if !l.Hit {
			continue
		}
		if left == 0 {
			break
		}
		left--
		last = i
		all.Hits++
		if l.Path != file {
			file = l.Path
			all.Files++
		}
	}
	all.Lines = append(all.Lines, r.Lines[:last+1]...)
}

// printer turns the hits of one file into lines with context.
type printer struct {
	r         *tool.Matches
	path      string
	buf       []byte
	context   int
	filesOnly bool

	counted int // newlines before this offset are in line
	line    int // lines that end before counted
	shown   int // the offset after the last line that was added
	tail    int // context lines still wanted after the last hit
}

func (p *printer) hit(f found) {
	if p.filesOnly {
		p.r.Lines = append(p.r.Lines, tool.Match{Path: p.path, Hit: true})
		return
	}
	p.until(f.start)
	start := f.start
	for range p.context {
		if start <= p.shown {
			break
		}
		start = bytes.LastIndexByte(p.buf[:start-1], '\n') + 1
	}
	for start < f.start {
		start = p.add(start, false, found{})
	}
	p.shown = p.add(f.start, true, f)
	p.tail = p.context
}

// until adds the context after the last hit, up to the offset end.
func (p *printer) until(end int) {
	for p.tail > 0 && p.shown < end {
		p.tail--
		p.shown = p.add(p.shown, false, found{})
	}
}

func (p *printer) after() {
	if !p.filesOnly {
		p.until(len(p.buf))
	}
}

// add adds the line that begins at start and returns where the next one does.
func (p *printer) add(start int, hit bool, f found) int {
	p.line += bytes.Count(p.buf[p.counted:start], []byte("\n"))
	p.counted = start
	end, next := len(p.buf), len(p.buf)
	if i := bytes.IndexByte(p.buf[start:], '\n'); i >= 0 {
		end, next = start+i, start+i+1
	}
	text := bytes.TrimSuffix(p.buf[start:end], []byte("\r"))
	p.r.Lines = append(p.r.Lines, tool.Match{Path: p.path, Line: p.line + 1, Text: cutLine(text, f.from, f.to), Hit: hit})
	return next
}

// cutLine returns a line as it is shown: valid UTF-8, and at most lineMax bytes
// around the match.
func cutLine(line []byte, from, to int) string {
	if len(line) <= lineMax {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	start := max(0, min(from-(lineMax-min(to-from, lineMax))/2, len(line)-lineMax))
	end := min(len(line), start+lineMax)
	for start > 0 && start < end && !utf8.RuneStart(line[start]) {
		start++
	}
	for end < len(line) && end > start && !utf8.RuneStart(line[end]) {
		end--
	}
	s := strings.ToValidUTF8(string(line[start:end]), "\uFFFD")
	if start > 0 {
		s = "…" + s
	}
	if end < len(line) {
		s += "…"
	}
	return s
}

// contents is a worker's buffer, reused for each file.
type contents struct {
	buf, low []byte
	max      int64 // larger files are left out, bytes
}

func (c *contents) room(n int) []byte {
	if cap(c.buf) < n {
		c.buf = make([]byte, n+n/4)
	}
	return c.buf[:cap(c.buf)]
}

// searchable reports whether a file is searched; large and special files are
// skipped and counted.
func (c *contents) searchable(mode fs.FileMode, size int64) (ok, skipped bool) {
	return mode.IsRegular() && size <= c.max, mode.IsRegular() && size > c.max
}
