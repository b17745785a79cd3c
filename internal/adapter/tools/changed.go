package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
)

// changedLines returns the lines of the new content that a unified diff adds, and where
// it only removes some, the gap.
func changedLines(diff string) (out []region) {
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
		case l[0] == ' ':
			line++
			open = false
		case l[0] == '+' || l[0] == '-':
			if !open {
				out = append(out, region{line, line - 1})
				open = true
			}
			if l[0] == '+' {
				out[len(out)-1].to = line
				line++
			}
		}
	}
	return out
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
