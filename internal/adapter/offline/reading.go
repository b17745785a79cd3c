package offline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file reads whole files through the read tool, which shows numbered
// lines and may leave some out: what is missing is asked for again in smaller
// pieces, and a file that stays incomplete is an error, never a guess.

// maxLines is the longest file that is read.
const maxLines = 1_000_000

// page is what was shown of one file so far: its first lines.
type page struct {
	total int // lines in the file; -1: not known yet
	lines []string
	open  bool // the last line has no newline
}

// Read returns the whole content of a file.
func (h *hands) Read(path string) (string, error) {
	m, err := h.ReadAll([]string{path})
	return m[path], err
}

// ReadAll reads several files, up to 12 in one call. A file that cannot be
// read fails all of them.
func (h *hands) ReadAll(paths []string) (map[string]string, error) {
	out := map[string]string{}
	for group := range slices.Chunk(paths, 12) {
		pages := map[string]*page{}
		var files []map[string]any
		for _, p := range group {
			pages[p] = &page{total: -1}
			files = append(files, map[string]any{"path": p})
		}
		if _, err := h.show(files, pages); err != nil {
			return nil, err
		}
		for _, p := range group {
			if err := h.complete(p, pages); err != nil {
				return nil, err
			}
			out[p] = strings.Join(pages[p].lines, "\n")
			if pages[p].total > 0 && !pages[p].open {
				out[p] += "\n"
			}
			h.seen[p] = out[p]
		}
	}
	return out, nil
}

// show makes a call of the read tool, and reads its result.
func (h *hands) show(files []map[string]any, pages map[string]*page) (string, error) {
	text, err := h.one("read", map[string]any{"files": files})
	parsePages(text, pages)
	return text, err
}

// complete asks for the lines of a file that are still missing, for fewer where none of
// them was shown whole.
func (h *hands) complete(path string, pages map[string]*page) error {
	pg := pages[path]
	for size := 400; pg.total != len(pg.lines); {
		had := len(pg.lines)
		text, err := h.show([]map[string]any{{"path": path, "from": had + 1, "to": had + size}}, pages)
		switch {
		case err != nil:
			return err
		case pg.total < 0:
			return fmt.Errorf("%s cannot be read: %s", path, firstLine(text))
		case pg.total > maxLines:
			return fmt.Errorf("%s has %d lines, more than the built-in model reads", path, pg.total)
		case len(pg.lines) == had:
			if size /= 4; size == 0 {
				return fmt.Errorf("%s: line %d cannot be shown whole", path, had+1)
			}
		}
	}
	return nil
}

// head matches the line before a file's lines.
var head = lazyregexp.New(`^== (.*) \((?:(empty)|lines? (?:\d+)(?:-\d+)? of (\d+)\b.*)\) ==\r?$`)

// parsePages reads `== PATH (lines A-B of N) ==` headers and `N\ttext` lines.
// Anything else is a note of the tool or the engine. Lines next to the note
// that something was left out may be incomplete, and are not used; nor are lines after
// one that is missing.
func parsePages(text string, pages map[string]*page) {
	var pg *page
	took, torn := false, false // the line before was taken; it was the note
	for l := range strings.SplitSeq(text, "\n") {
		if m := head().FindStringSubmatch(l); m != nil && !torn {
			pg, took = nil, false
			for _, p := range slices.Sorted(maps.Keys(pages)) {
				if samePath(p, m[1]) {
					pg = pages[p]
					pg.total, _ = strconv.Atoi(m[3]) // 0 of an empty file
				}
			}
			continue
		}
		note := strings.HasPrefix(l, "[… ") && strings.HasSuffix(l, "]")
		num, content, _ := strings.Cut(l, "\t")
		n, err := strconv.Atoi(num)
		switch {
		case pg == nil:
		case note && took:
			pg.lines = pg.lines[:len(pg.lines)-1]
		case err != nil && strings.HasPrefix(l, "[") && strings.HasSuffix(l, "no newline at the end]"):
			pg.open = true
		case err == nil && !torn && n == len(pg.lines)+1 && n <= pg.total && !isCut(content):
			pg.lines = append(pg.lines, content)
		}
		took = pg != nil && err == nil && n == len(pg.lines)
		torn = note
	}
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
