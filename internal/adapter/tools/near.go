package tools

import (
	"fmt"
	"strconv"
	"strings"
)

// This file chooses the lines that a refusal shows, so that the next edit can be right.

const (
	// shownSpots is how many of several matches are listed.
	shownSpots = 100
	// shownAround is how many matches are shown with the lines around them.
	shownAround = 12
	// shortFile is the length, in lines, of files that are shown whole if they contain
	// nothing similar.
	shortFile = 60
)

// ambiguous returns a miss for a text that occurs several times, with the lines around
// each place: they help to make the next edit unique.
func ambiguous(plain string, spots []int) *miss {
	at := make([]int, len(spots))
	line, pos := 0, 0
	for i, s := range spots {
		line += strings.Count(plain[pos:s], "\n")
		at[i], pos = line, s
	}
	m := manyLines(plainLines(plain), at, 1)
	m.many = true
	m.text = fmt.Sprintf("the text to replace matches %d places, at line %s: add lines around it until it is the only one, or set replace_all to change every one",
		len(spots), lineList(at))
	return m
}

// lineList lists line numbers, counted from 0.
func lineList(at []int) string {
	var out []string
	for i, n := range at {
		if len(out) == shownSpots {
			out = append(out, "…")
			break
		}
		if i == 0 || n != at[i-1] {
			out = append(out, strconv.Itoa(n+1))
		}
	}
	return strings.Join(out, ", ")
}

// manyLines returns a miss that shows the places of n lines, with five lines around each,
// or three if there are many places.
func manyLines(lines []string, at []int, n int) *miss {
	more := 5
	if len(at) > 4 {
		more = 3
	}
	m := &miss{}
	for i, l := range at {
		if i == shownAround {
			break
		}
		m.show = join(m.show, region{max(1, l+1-more), min(len(lines), l+n+more)})
	}
	return m
}

// join appends a region, or merges it with the last one if they touch.
func join(rs []region, r region) []region {
	if k := len(rs) - 1; k >= 0 && r.from <= rs[k].to+1 {
		rs[k].to = max(rs[k].to, r.to)
		return rs
	}
	return append(rs, r)
}

// around returns the lines around some byte offsets of a text.
func around(plain string, spots []int) []region { return ambiguous(plain, spots).show }

const copyNearest = "\nThe nearest lines are below, as they are now: copy old from them exactly"

// near returns a miss that shows the lines of the file that are most similar to old.
func near(plain string, olds []string, text string) *miss {
	lines := plainLines(plain)
	m := &miss{text: text}
	if len(lines) == 0 {
		m.text += ": the file is empty"
		return m
	}
	found := likely(lines, olds)
	switch {
	case len(found) == 0 && len(lines) <= shortFile:
		m.text += ", and nothing in the file is like it\nThese are all its lines, as they are now"
		m.show = []region{{1, len(lines)}}
	case len(found) == 0:
		m.text += ", and nothing in the file is like it: read the file again"
	default:
		m.text += copyNearest
		m.show = found
	}
	return m
}

// likely returns the lines of a file with the most of old's lines and words, weighted by
// their rarity in the file, with three more lines at each side; nil if it has none of them.
func likely(lines, olds []string) []region {
	want := map[string]bool{}
	for _, o := range olds {
		for _, t := range tokens(o) {
			want[t] = true
		}
	}
	often := map[string]int{}
	have := make([][]string, len(lines))
	for i, l := range lines {
		for _, t := range tokens(l) {
			if want[t] {
				have[i] = append(have[i], t)
				often[t]++
			}
		}
	}
	worth := func(t string) float64 {
		if strings.HasPrefix(t, "\n") { // a whole line
			return 4 / float64(often[t])
		}
		return 1 / float64(often[t])
	}
	// A window is as long as old, plus some lines that old may have left out.
	width := len(olds) + min(len(olds)/4+1, 20)
	in := map[string]int{}
	sum, best, last := 0.0, 0.0, -1
	for i := range lines {
		for _, t := range have[i] {
			if in[t]++; in[t] == 1 {
				sum += worth(t)
			}
		}
		if k := i - width; k >= 0 {
			for _, t := range have[k] {
				if in[t]--; in[t] == 0 {
					sum -= worth(t)
				}
			}
		}
		if sum > best+1e-9 {
			best, last = sum, i
		}
	}
	if last < 0 {
		return nil
	}
	first := max(0, last-width+1)
	for len(have[first]) == 0 {
		first++
	}
	// The window ends at the last similar line; old may begin later in it, or end after it.
	return []region{{max(1, first+1-3), min(len(lines), max(last+1, first+width)+3)}}
}

// tokens returns a line's words of at least two characters, and the whole line
// after a newline. Only the beginning of very long lines is used.
func tokens(l string) []string {
	l = l[:min(len(l), 1000)]
	out := strings.FieldsFunc(l, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x80)
	})
	n := 0
	for _, w := range out {
		if len(w) > 1 {
			out[n] = w
			n++
		}
	}
	if out = out[:n]; len(strip(l)) > 2 {
		out = append(out, "\n"+squeeze(l))
	}
	return out
}
