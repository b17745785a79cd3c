package offline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file reads whole files through the read tool, which shows numbered
// lines and may leave some out: what is missing is asked for again in smaller
// pieces, and a file that stays incomplete is an error, never a guess.

// maxLines is the longest file that is read.
const maxLines = 1_000_000

// page is what was shown of one file so far.
type page struct {
	total int // lines in the file; -1: not known yet
	lines map[int]string
	open  bool // the last line has no newline
	whole int  // lines 1 to whole are there
}

// Read returns the whole content of a file.
func (h *hands) Read(path string) (string, error) {
	m, err := h.ReadAll([]string{path})
	if err != nil {
		return "", err
	}
	return m[path], nil
}

// ReadAll reads several files, up to 12 in one call. A file that cannot be
// read fails all of them.
func (h *hands) ReadAll(paths []string) (map[string]string, error) {
	out := map[string]string{}
	for group := range slices.Chunk(paths, 12) {
		pages := map[string]*page{}
		var files []map[string]any
		for _, p := range group {
			pages[p] = &page{total: -1, lines: map[int]string{}}
			files = append(files, map[string]any{"path": p})
		}
		text, err := h.one("read", map[string]any{"files": files})
		if err != nil {
			return nil, err
		}
		parsePages(text, pages)
		for _, p := range group {
			c, err := h.complete(p, pages)
			if err != nil {
				return nil, err
			}
			out[p] = c
			h.seen[p] = c
		}
	}
	return out, nil
}

// complete asks for the lines of a file that are still missing.
func (h *hands) complete(path string, pages map[string]*page) (string, error) {
	pg := pages[path]
	for size := 400; ; {
		if pg.total < 0 {
			// Its part of the result was left out, or it failed: by itself it
			// tells which.
			text, err := h.one("read", map[string]any{"files": []map[string]any{{"path": path, "from": 1, "to": size}}})
			if err != nil {
				return "", err
			}
			parsePages(text, pages)
			if pg.total < 0 {
				return "", fmt.Errorf("%s %w: %s", path, errGone, firstLine(text))
			}
		}
		if pg.total > maxLines {
			return "", fmt.Errorf("%s has %d lines, more than the built-in model reads", path, pg.total)
		}
		from, to := pg.gap(size)
		if from == 0 {
			break
		}
		had := len(pg.lines)
		text, err := h.one("read", map[string]any{"files": []map[string]any{{"path": path, "from": from, "to": to}}})
		if err != nil {
			return "", err
		}
		parsePages(text, pages)
		if len(pg.lines) == had {
			if size /= 4; size == 0 {
				return "", fmt.Errorf("%s: line %d cannot be shown whole", path, from)
			}
		}
	}
	if pg.total == 0 {
		return "", nil
	}
	var b strings.Builder
	for i := 1; i <= pg.total; i++ {
		l, ok := pg.lines[i]
		if !ok {
			return "", fmt.Errorf("%s: line %d was shown and then left out", path, i)
		}
		b.WriteString(l)
		if i < pg.total || !pg.open {
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// gap returns the first run of missing lines, at most size of them.
func (pg *page) gap(size int) (from, to int) {
	for i := pg.whole + 1; i <= pg.total; i++ {
		if _, ok := pg.lines[i]; !ok {
			pg.whole, to = i-1, i
			for to < pg.total && to-i+1 < size {
				if _, ok := pg.lines[to+1]; ok {
					break
				}
				to++
			}
			return i, to
		}
	}
	return 0, 0
}

// parsePages reads `== PATH (lines A-B of N) ==` headers and `N\ttext` lines.
// Anything else is a note of the tool or the engine. Lines next to the note
// that something was left out may be incomplete, and are not used.
func parsePages(text string, pages map[string]*page) {
	var pg *page
	next, last := 0, 0 // the lowest number that may follow; the line taken last
	torn := false
	for l := range strings.SplitSeq(text, "\n") {
		if path, from, total, ok := header(l); ok && !torn {
			pg, next, last = nil, from, 0
			for _, p := range slices.Sorted(maps.Keys(pages)) {
				if samePath(p, path) {
					pg = pages[p]
					pg.total = total
				}
			}
			continue
		}
		num, content, ok := strings.Cut(l, "\t")
		n, err := strconv.Atoi(num)
		switch {
		case strings.HasPrefix(l, "[… ") && strings.HasSuffix(l, "]"):
			if pg != nil {
				delete(pg.lines, last)
			}
			torn = true
			continue
		case pg == nil:
		case !ok || err != nil:
			if strings.HasPrefix(l, "[") && strings.HasSuffix(l, "no newline at the end]") {
				pg.open = true
			}
		case !torn && n >= next && n <= pg.total:
			next, last = n+1, n
			if !isCut(content) {
				pg.lines[n] = content
			}
		}
		torn = false
	}
}

func header(l string) (path string, from, total int, ok bool) {
	l = strings.TrimRight(l, "\r")
	if !strings.HasPrefix(l, "== ") || !strings.HasSuffix(l, " ==") {
		return "", 0, 0, false
	}
	l = strings.TrimSuffix(strings.TrimPrefix(l, "== "), " ==")
	i := strings.LastIndex(l, " (")
	if i < 0 || !strings.HasSuffix(l, ")") {
		return "", 0, 0, false
	}
	path, said := l[:i], l[i+2:len(l)-1]
	if said == "empty" {
		return path, 1, 0, true
	}
	if f := strings.Fields(said); len(f) >= 4 && (f[0] == "lines" || f[0] == "line") && f[2] == "of" {
		a, _, _ := strings.Cut(f[1], "-")
		from, err1 := strconv.Atoi(a)
		total, err2 := strconv.Atoi(strings.TrimRight(f[3], ",;"))
		if err1 == nil && err2 == nil {
			return path, from, total, true
		}
	}
	return "", 0, 0, false
}

// samePath compares the path asked for with the one in a header, which may be
// relative where the other is not.
func samePath(asked, shown string) bool {
	asked, shown = strings.TrimPrefix(asked, "./"), strings.TrimPrefix(shown, "./")
	return asked == shown || strings.HasSuffix(asked, "/"+shown) || strings.HasSuffix(shown, "/"+asked)
}

// isCut recognises the mark that a line was shortened, or that a secret in it
// was masked: then it is not what the file holds.
func isCut(line string) bool {
	return strings.Contains(line, "… [") && strings.HasSuffix(line, "not shown]") || strings.Contains(line, "[masked:")
}
