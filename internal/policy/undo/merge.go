package undo

import (
	"bytes"
	"slices"
)

// This file is a three-way merge of lines. It preserves bytes: a line includes its
// newline, so CRLF and LF differ, and a last line without a newline is a separate
// line.

// Merged is the result of Merge. Text is the merged content; it is nil if there are
// conflicts.
type Merged struct {
	Text      []byte
	Conflicts []Conflict
}

// Conflict is a place where both sides changed the base differently.
type Conflict struct {
	Line         int // of ours, counted from 1
	Ours, Theirs []byte
}

// merge applies to base the changes of ours and of theirs. Changes that are adjacent
// but share no line are both kept. It promises that without a conflict the result
// has every line of ours, except lines of the base that theirs removed.
func merge(base, ours, theirs []byte) Merged {
	b, o, t := lines(base), lines(ours), lines(theirs)
	m := &merger{base: b, ours: side{o, compare(b, o)}, theirs: side{t, compare(b, t)}}
	for m.next() {
	}
	m.emit(b[m.done:])
	if len(m.conflicts) > 0 {
		return Merged{Conflicts: m.conflicts}
	}
	return Merged{Text: m.out}
}

// merger walks along the base.
type merger struct {
	base         [][]byte
	ours, theirs side
	done         int // lines of base that are processed
	shift        int // what to add to a line number of base to get that of ours
	out          []byte
	conflicts    []Conflict
}

// side is one of the two contents, with the hunks that are not used yet.
type side struct {
	lines [][]byte
	hunks []hunk
}

// hunk: lines from to to of the base became lines lo to hi, half open, counted from 0.
// Hunks of one side are not adjacent.
type hunk struct{ from, to, lo, hi int }

// next merges the next place that either side changed.
func (m *merger) next() bool {
	first, ok := m.first()
	if !ok {
		return false
	}
	from, to := first.from, first.to
	i, j := 0, 0 // hunks of ours and of theirs that belong to the place
	for grown := true; grown; {
		grown = false
		for ; i < len(m.ours.hunks) && overlap(m.ours.hunks[i], from, to, first); i++ {
			from, to, grown = min(from, m.ours.hunks[i].from), max(to, m.ours.hunks[i].to), true
		}
		for ; j < len(m.theirs.hunks) && overlap(m.theirs.hunks[j], from, to, first); j++ {
			from, to, grown = min(from, m.theirs.hunks[j].from), max(to, m.theirs.hunks[j].to), true
		}
	}
	m.emit(m.base[m.done:from])
	ours, theirs := m.ours.take(m.base, i, from, to), m.theirs.take(m.base, j, from, to)
	switch {
	case j == 0 || slices.EqualFunc(ours, theirs, bytes.Equal):
		m.emit(ours)
	case i == 0:
		m.emit(theirs)
	default:
		m.conflict(from, ours, theirs)
	}
	m.done = to
	m.shift += len(ours) - (to - from)
	return true
}

// first returns the hunk that begins first. If two begin at the same line, an
// insertion comes before a replacement.
func (m *merger) first() (hunk, bool) {
	switch {
	case len(m.ours.hunks) == 0 && len(m.theirs.hunks) == 0:
		return hunk{}, false
	case len(m.ours.hunks) == 0:
		return m.theirs.hunks[0], true
	case len(m.theirs.hunks) == 0:
		return m.ours.hunks[0], true
	}
	o, t := m.ours.hunks[0], m.theirs.hunks[0]
	if t.from < o.from || t.from == o.from && t.to < o.to {
		return t, true
	}
	return o, true
}

// overlap reports whether a hunk changes lines from to to of the base, where hunk first
// began, or inserts at the same place as first.
func overlap(h hunk, from, to int, first hunk) bool {
	return h.from < to && from < h.to || h.from == first.from && h.to == first.to
}

// take returns the lines of this side for the lines from to to of the base, and
// consumes its next n hunks.
func (s *side) take(base [][]byte, n, from, to int) [][]byte {
	var out [][]byte
	for _, h := range s.hunks[:n] {
		out = append(out, base[from:h.from]...)
		out = append(out, s.lines[h.lo:h.hi]...)
		from = h.to
	}
	s.hunks = s.hunks[n:]
	return append(out, base[from:to]...)
}

// emit appends lines. Nothing may follow a last line without a newline: the two would
// become one line that nobody wrote.
func (m *merger) emit(ls [][]byte) {
	if len(ls) == 0 {
		return
	}
	if n := len(m.out); n > 0 && m.out[n-1] != '\n' {
		m.conflict(m.done, nil, ls)
		return
	}
	m.out = append(m.out, join(ls)...)
}

func (m *merger) conflict(at int, ours, theirs [][]byte) {
	m.conflicts = append(m.conflicts, Conflict{Line: at + m.shift + 1, Ours: join(ours), Theirs: join(theirs)})
}

func lines(b []byte) [][]byte { return slices.Collect(bytes.Lines(b)) }

func join(ls [][]byte) []byte { return bytes.Join(ls, nil) }

// maxDepth limits the recursion between common lines, and so the cost: each level costs
// the number of lines.
const maxDepth = 32

// compare returns the hunks from a to b. It anchors on lines that occur exactly once in
// both (patience diff), as a person would.
func compare(a, b [][]byte) []hunk {
	c := &comparison{a: a, b: b}
	c.between(0, len(a), 0, len(b), 0)
	return c.hunks
}

type comparison struct {
	a, b  [][]byte
	hunks []hunk
}

func (c *comparison) between(from, to, lo, hi, depth int) {
	for from < to && lo < hi && bytes.Equal(c.a[from], c.b[lo]) {
		from, lo = from+1, lo+1
	}
	for from < to && lo < hi && bytes.Equal(c.a[to-1], c.b[hi-1]) {
		to, hi = to-1, hi-1
	}
	if from == to && lo == hi {
		return
	}
	var same []pair
	if from < to && lo < hi && depth < maxDepth {
		same = longestRising(c.unique(from, to, lo, hi))
	}
	if len(same) == 0 {
		c.add(hunk{from, to, lo, hi})
		return
	}
	for _, p := range append(same, pair{to, hi}) {
		c.between(from, p.a, lo, p.b, depth+1)
		from, lo = p.a+1, p.b+1
	}
}

// add appends a hunk; a hunk adjacent to the last one is merged into it.
func (c *comparison) add(h hunk) {
	if n := len(c.hunks); n > 0 && c.hunks[n-1].to == h.from && c.hunks[n-1].hi == h.lo {
		c.hunks[n-1].to, c.hunks[n-1].hi = h.to, h.hi
		return
	}
	c.hunks = append(c.hunks, h)
}

// pair is a line of a and the same line of b.
type pair struct{ a, b int }

// unique returns the lines that occur exactly once in both parts, in the order of a.
func (c *comparison) unique(from, to, lo, hi int) []pair {
	type seen struct{ inA, inB, a, b int }
	at := make(map[string]*seen, to-from)
	for i := from; i < to; i++ {
		s := at[string(c.a[i])]
		if s == nil {
			s = &seen{}
			at[string(c.a[i])] = s
		}
		s.inA, s.a = s.inA+1, i
	}
	for i := lo; i < hi; i++ {
		if s := at[string(c.b[i])]; s != nil {
			s.inB, s.b = s.inB+1, i
		}
	}
	var out []pair
	for i := from; i < to; i++ {
		if s := at[string(c.a[i])]; s.inA == 1 && s.inB == 1 {
			out = append(out, pair{i, s.b})
		}
	}
	return out
}

// longestRising returns the longest subsequence of pairs whose positions in b rise.
func longestRising(ps []pair) []pair {
	var ends []int // ends[n] is the last pair of the best run of length n+1
	before := make([]int, len(ps))
	for i, p := range ps {
		n, _ := slices.BinarySearchFunc(ends, p.b, func(e, b int) int { return ps[e].b - b })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	out := make([]pair, len(ends))
	if len(ends) > 0 {
		for i, n := ends[len(ends)-1], len(ends)-1; n >= 0; i, n = before[i], n-1 {
			out[n] = ps[i]
		}
	}
	return out
}
