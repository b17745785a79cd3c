package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
)

// inPlace returns the lines that a diff of the call changes, where the call put them: where
// the lines around an insertion are equal, a diff can name the lines one further on.
func (s *staged) inPlace(diff string) []region {
	at, cut := changedLines(diff)
	lines := splitLines(s.body)
	for i, r := range at {
		for _, p := range s.places {
			if cut[i] || r.to < p.from || p.to < r.from {
				continue
			}
			for r.to > p.to && r.from > 1 && lines[r.from-2] == lines[r.to-1] {
				r.from, r.to = r.from-1, r.to-1
			}
			for r.from < p.from && r.to < len(lines) && lines[r.from-1] == lines[r.to] {
				r.from, r.to = r.from+1, r.to+1
			}
			at[i] = r
			break
		}
	}
	return at
}

// changedLines returns the lines of the new content that a unified diff adds, and where
// it only removes some, the gap. cut tells where it removes lines too.
func changedLines(diff string) (out []region, cut []bool) {
	line, open := 0, false // the next line of the new content; the last region goes on
	for l := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(l, "@@"):
			_, after, _ := strings.Cut(l, " +")
			line, _ = strconv.Atoi(after[:strings.IndexAny(after+" ", ", ")])
			if _, n, _ := strings.Cut(strings.Fields(after)[0], ","); n == "0" {
				line++ // "+n,0": behind line n
			}
			open = false
		case line == 0: // the names
		case l[0] == '+' || l[0] == '-':
			if !open {
				out = append(out, region{line, line - 1})
				cut = append(cut, false)
				open = true
			}
			cut[len(cut)-1] = cut[len(cut)-1] || l[0] == '-'
			if l[0] == '+' {
				out[len(out)-1].to = line
				line++
			}
		case l[0] == ' ':
			line++
			open = false
		}
	}
	return out, cut
}

// maxPlaces is how many places of a change a result names.
const maxPlaces = 20

// atLines names the changed lines: " at lines 3-5, 9".
func atLines(rs []region) string {
	if len(rs) == 0 {
		return ""
	}
	var named []string
	for _, r := range rs[:min(len(rs), maxPlaces)] {
		if r.to > r.from {
			named = append(named, fmt.Sprintf("%d-%d", r.from, r.to))
		} else {
			named = append(named, strconv.Itoa(r.from))
		}
	}
	text := " at line " + strings.Join(named, ", ")
	if len(named) > 1 || strings.Contains(text, "-") {
		text = " at lines " + strings.Join(named, ", ")
	}
	if more := len(rs) - len(named); more > 0 {
		text += fmt.Sprintf(" and %s more", plural.Of(more, "place"))
	}
	return text
}
