package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

const (
	grepDefault = 1000 // matches, where the query sets no limit
	lineMax     = 500  // bytes shown of a line
	batchFiles  = 256  // files a worker takes at once, at most
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
	p, info, err := w.base(q.Dir)
	if err != nil {
		return tool.Matches{}, err
	}
	names := []string{p.base()}
	var withheld []string
	base := w.parent(p)
	if info.IsDir() {
		base = p
		if names, err = w.files(ctx, p); err != nil {
			return tool.Matches{}, err
		}
		names, withheld = withhold(names, q.Withhold, keep)
	} else if what := special(info.Mode()); what != "" {
		return tool.Matches{}, &SpecialError{Path: p.clean, What: what}
	}
	if q.Limit <= 0 {
		q.Limit = grepDefault
	}
	root, err := w.folder(base)
	if err != nil {
		return tool.Matches{}, wrapError("search", p.clean, err)
	}
	defer root.Close()
	s := &search{ctx: ctx, q: q, m: m, root: root, base: base, batches: batches(names, keep), max: grepLimit}
	if !info.IsDir() {
		s.max = grepFileLimit // the call names this file
		if info.Size() > s.max {
			return tool.Matches{}, &sentence{fmt.Sprintf("%s is too large to search (%s, the limit is %s): read it by ranges, or use grep in a shell",
				p.clean, size(info.Size()), size(s.max)), nil}
		}
	}
	s.run()
	if err := ctx.Err(); err != nil {
		return tool.Matches{}, err
	}
	out := s.result()
	for _, name := range withheld {
		out.Withheld = append(out.Withheld, p.join(name))
	}
	return out, nil
}

// withhold removes from a list what must not be searched.
func withhold(names []string, no func(string) bool, keep func(string) bool) (rest, withheld []string) {
	if no == nil {
		return names, nil
	}
	for _, n := range names {
		if !no(n) {
			rest = append(rest, n)
		} else if keep(n) {
			withheld = append(withheld, n)
		}
	}
	return rest, withheld
}

// fileBatch is files of one folder, which a worker opens once.
type fileBatch struct {
	dir   string // relative to the search's folder, "" for itself
	names []string
}

func batches(paths []string, keep func(string) bool) []fileBatch {
	var out []fileBatch
	for _, p := range paths {
		if !keep(p) {
			continue
		}
		i := strings.LastIndexByte(p, '/') + 1
		last := len(out) - 1
		if last < 0 || out[last].dir != p[:i] || len(out[last].names) >= batchFiles {
			out = append(out, fileBatch{dir: p[:i]})
			last++
		}
		out[last].names = append(out[last].names, p[i:])
	}
	return out
}

// search is one run of Grep over its batches.
type search struct {
	ctx     context.Context
	q       tool.Query
	m       *lineMatcher
	root    *os.Root
	base    place
	batches []fileBatch
	max     int64 // as contents.max

	next atomic.Int64
	stop atomic.Bool

	mu      sync.Mutex
	results []*tool.Matches // by batch
	prefix  int             // batches that are done without a gap
	hits    int             // hits in those
}

func (s *search) run() {
	s.results = make([]*tool.Matches, len(s.batches))
	workers := min(max(runtime.GOMAXPROCS(0), 2), 4, len(s.batches))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(s.work)
	}
	wg.Wait()
}

func (s *search) work() {
	c := contents{max: s.max}
	for !s.stop.Load() && s.ctx.Err() == nil {
		i := int(s.next.Add(1)) - 1
		if i >= len(s.batches) {
			return
		}
		s.done(i, s.batch(s.batches[i], &c))
	}
}

// done records a batch, and ends the search when the batches before the first
// gap have enough: the result does not depend on the workers' speed.
func (s *search) done(i int, r *tool.Matches) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[i] = r
	for s.prefix < len(s.results) && s.results[s.prefix] != nil {
		s.hits += s.counted(s.results[s.prefix])
		s.prefix++
	}
	if s.hits > s.q.Limit {
		s.stop.Store(true)
	}
}

// counted returns what the limit counts.
func (s *search) counted(r *tool.Matches) int {
	if s.q.FilesOnly {
		return r.Files
	}
	return r.Hits
}

func (s *search) batch(b fileBatch, c *contents) *tool.Matches {
	r := &tool.Matches{}
	dir := s.root
	if b.dir != "" {
		var err error
		if dir, err = s.root.OpenRoot(path.Clean(b.dir)); err != nil {
			return r
		}
		defer dir.Close()
	}
	in, err := openFolder(dir)
	if err != nil {
		return r
	}
	defer in.close()
	for _, name := range b.names {
		if s.stop.Load() || s.ctx.Err() != nil {
			return r
		}
		s.file(in, c, s.base.join(b.dir+name), name, r)
	}
	return r
}

func (s *search) file(in *folder, c *contents, shown, name string, r *tool.Matches) {
	switch ok, skipped := in.read(name, c); {
	case skipped:
		r.Skipped++
		return
	case !ok:
		return
	}
	if Binary(c.buf) {
		r.Skipped++
		return
	}
	r.Searched++
	scan, low := s.m.scan(c.buf, c.low)
	c.low = low
	f, ok := scan.line(0)
	if !ok {
		return
	}
	if bytes.IndexByte(c.buf, 0) >= 0 {
		r.Searched--
		r.Skipped++
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

// result joins the batches up to the limit.
func (s *search) result() tool.Matches {
	var all tool.Matches
	for _, r := range s.results {
		if r == nil {
			all.More = true
			break
		}
		all.Searched += r.Searched
		all.Skipped += r.Skipped
		left := s.q.Limit - s.counted(&all)
		if s.counted(r) <= left {
			all.Files += r.Files
			all.Hits += r.Hits
			all.Lines = append(all.Lines, r.Lines...)
			continue
		}
		all.More = true
		s.cut(&all, r, left)
		break
	}
	return all
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
