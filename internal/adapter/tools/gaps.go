package tools

import "slices"

// gapsOf returns the lines that are not blank, and how many blank lines are before each of
// them and, as the last number, after them.
func gapsOf(lines []string) (solid []string, gaps []int) {
	gaps = []int{0}
	for _, l := range lines {
		if blank(l) {
			gaps[len(gaps)-1]++
			continue
		}
		solid, gaps = append(solid, l), append(gaps, 0)
	}
	return solid, gaps
}

// spaced returns old and new lines with the file's blank lines, for lines that are in one
// place of the file but for blank lines. It returns false where it is not certain whether
// such a line belongs before or after what is inserted or removed.
func (p *page) spaced(old, text *page) (o, n *page, ok bool) {
	file, have := gapsOf(p.lines)
	olds, was := gapsOf(old.lines)
	news, want := gapsOf(text.lines)
	places := pageOf(file).places(pageOf(olds))
	if len(places) != 1 {
		return nil, nil, false
	}
	have = have[places[0]:]
	spaces := func(lines []string, gap int, l ...string) []string {
		return append(append(lines, make([]string, gap)...), l...)
	}
	var oldLines, newLines []string
	for j, l := range olds {
		gap := have[j]
		if j == 0 {
			gap = 0
		}
		oldLines = spaces(oldLines, gap, l)
	}
	differs := func(from, to int) bool { // the gaps before some lines inside old
		from, to = max(from, 1), min(to+1, len(olds))
		return from < to && !slices.Equal(was[from:to], have[from:to])
	}
	pairs := align(olds, news)
	stand := standIns(pairs, len(olds))
	last := -1
	for t, l := range news {
		gap, j := want[t], max(pairs[t], stand[t])
		inside := t > 0 && j > 0
		switch {
		case t == 0 && j == 0 && gap >= was[0]:
			gap -= was[0]
		case inside && j == last+1 && gap == was[j]:
			gap = have[j]
		case inside && j > last+1 && gap == was[j] && gap == was[last+1] && have[j] == have[last+1]: // lines are removed
			gap = have[j]
		case t == 0 && gap < was[0], !(inside && j == last+1) && differs(last+1, max(j, last+1)):
			return nil, nil, false
		}
		newLines, last = spaces(newLines, gap, l), max(last, j)
	}
	more := want[len(news)] - was[len(olds)]
	if more < 0 || differs(last+1, len(olds)) {
		return nil, nil, false
	}
	return pageOf(oldLines), pageOf(spaces(newLines, more)), true
}
