package offline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file reads whole files through the read tool, which shows numbered
// lines and may leave some out: what is missing is asked for again in smaller
// pieces, and a file that stays incomplete is an error, never a guess.

// page is what was shown of one file so far: its first lines.
type page struct {
	total int // lines in the file; -1: not known yet
	lines []string
	open  bool // the last line has no newline
}

// Read returns the whole content of a file.
func (h *actions) Read(path string) (string, error) {
	m, err := h.ReadAll([]string{path})
	return m[path], err
}

// ReadAll reads several files, up to 12 in one call. A file that cannot be
// read fails all of them.
func (h *actions) ReadAll(paths []string) (map[string]string, error) {
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
func (h *actions) show(files []map[string]any, pages map[string]*page) (string, error) {
	text, err := h.one("read", map[string]any{"files": files})
	parsePages(text, pages)
	return text, err
}

// complete asks for the lines of a file that are still missing, for fewer where none of
// them was shown whole.
func (h *actions) complete(path string, pages map[string]*page) error {
	pg := pages[path]
	for size := 400; pg.total != len(pg.lines); {
		had := len(pg.lines)
		text, err := h.show([]map[string]any{{"path": path, "from": had + 1, "to": had + size}}, pages)
		switch {
		case err != nil:
			return err
		case pg.total < 0:
			return fmt.Errorf("%s cannot be read: %s", path, firstLine(text))
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

// parsePages reads `== PATH (lines A-B of N) ==` headers and `N\ttext` lines up to the
// note that something was left out: the line before it may be incomplete. Anything else
// is a note of the tool or the engine. Lines after one that is missing are not used.
func parsePages(text string, pages map[string]*page) {
	text, _, torn := strings.Cut(text, "\n[… ")
	lines := strings.Split(text, "\n")
	if torn {
		lines = lines[:len(lines)-1]
	}
	var pg *page
	for _, l := range lines {
		if m := head().FindStringSubmatch(l); m != nil {
			if pg = pages[m[1]]; pg != nil {
				pg.total, _ = strconv.Atoi(m[3]) // 0 of an empty file
			}
			continue
		}
		num, content, _ := strings.Cut(l, "\t")
		n, err := strconv.Atoi(num)
		switch {
		case pg == nil:
		case err != nil:
			pg.open = pg.open || strings.HasSuffix(l, "no newline at the end]")
		case n == len(pg.lines)+1 && n <= pg.total && !isCut(content):
			pg.lines = append(pg.lines, content)
		}
	}
}

// isCut recognises the mark that a line was shortened, or that a secret in it
// was masked: then it is not what the file holds.
func isCut(line string) bool {
	return strings.Contains(line, "… [") && strings.HasSuffix(line, "not shown]") || strings.Contains(line, "[masked:")
}
