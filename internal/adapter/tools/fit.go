package tools

import (
	"slices"
	"strings"
)

// This file finds whole lines that differ in whitespace, and adapts the new lines to the
// file. Lines that are the same in old and new stay as they are in the file.

// passage is the lines of a text that are not blank, with the numbers of blank lines
// before each of them and after the last.
type passage struct {
	lines []string
	gaps  []int
	tail  int
}

func blank(l string) bool { return strings.TrimSpace(l) == "" }

func passageOf(lines []string) (p passage) {
	gap := 0
	for _, l := range lines {
		if blank(l) {
			gap++
			continue
		}
		p.lines, p.gaps = append(p.lines, l), append(p.gaps, gap)
		gap = 0
	}
	p.tail = gap
	return p
}

// page is a file's lines, and the indexes of those that are not blank.
type page struct {
	lines []string
	solid []int
}

func pageOf(lines []string) *page {
	p := &page{lines: lines}
	for i, l := range lines {
		if !blank(l) {
			p.solid = append(p.solid, i)
		}
	}
	return p
}

// fold is one way to compare lines.
type fold struct {
	of   func(string) string
	note string
}

// strip returns a line without leading and trailing whitespace.
func strip(l string) string { return strings.TrimSpace(l) }

// squeeze returns a line without leading and trailing whitespace, and with
// single spaces inside.
func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }

const (
	noteSpace = "whitespace differed from the given text; the file's indentation was kept"
	noteBoth  = "whitespace, and quotes or dashes, differed from the given text; the file's indentation was kept"
)

// folds are the ways to compare whole lines, the strictest first.
var folds = []fold{
	{strip, noteSpace},
	{squeeze, noteSpace},
	{func(l string) string { return strip(marks().Replace(l)) }, noteMarks},
	{func(l string) string { return squeeze(marks().Replace(l)) }, noteBoth},
}

// places lists where o's lines match, as indexes of solid.
func (p *page) places(o passage, f fold) []int {
	if len(o.lines) == 0 || len(o.lines) > len(p.solid) {
		return nil
	}
	want := make([]string, len(o.lines))
	for i, l := range o.lines {
		want[i] = f.of(l)
	}
	have := make([]string, len(p.solid))
	for i, n := range p.solid {
		have[i] = f.of(p.lines[n])
	}
	var out []int
	for s := 0; s+len(want) <= len(have); s++ {
		if have[s] == want[0] && slices.Equal(have[s:s+len(want)], want) {
			out = append(out, s)
		}
	}
	return out
}

// matchSite is a place where old's lines match. ends means that the blank lines at old's
// start and end match there too.
type matchSite struct {
	at   int // in solid
	ends bool
}

// closest returns the places that also have all of old's blank lines; otherwise those
// with the blank lines between its lines; otherwise all.
func (p *page) closest(places []int, o passage) []matchSite {
	var full, inner, all []matchSite
	for _, s := range places {
		same := true
		for j := 1; j < len(o.lines) && same; j++ {
			same = p.solid[s+j]-p.solid[s+j-1]-1 == o.gaps[j]
		}
		all = append(all, matchSite{s, false})
		if !same {
			continue
		}
		inner = append(inner, matchSite{s, false})
		before, after := p.blanksAround(s, s+len(o.lines)-1)
		if before >= o.gaps[0] && after >= o.tail {
			full = append(full, matchSite{s, true})
		}
	}
	for _, some := range [][]matchSite{full, inner} {
		if len(some) > 0 {
			return some
		}
	}
	return all
}

// blanksAround counts the blank lines before one solid line and after another.
func (p *page) blanksAround(first, last int) (before, after int) {
	before, after = p.solid[first], len(p.lines)-1-p.solid[last]
	if first > 0 {
		before -= p.solid[first-1] + 1
	}
	if last+1 < len(p.solid) {
		after = p.solid[last+1] - p.solid[last] - 1
	}
	return before, after
}

// fitting replaces old lines by new ones.
type fitting struct {
	page     *page
	spot     matchSite
	old, new passage
	pairs    []int // for each new line the same old line, or -1
	stand    []int // for each other new line the old line that it replaces, or -1
}

// reason is why lines do not fit, "" if they do.
type reason string

const (
	unclearDepth  reason = "its indentation differs there, so the right one for the new lines is unclear"
	unclearBlank  reason = "blank lines are between them there, so the right place for the new lines is unclear"
	unclearInside reason = "spaces, quotes or dashes differ inside a line to be replaced"
)

func (f *fitting) file(j int) string { return f.page.lines[f.page.solid[f.spot.at+j]] }

// runs returns the lines to replace, or the reason why that is not certain.
func (f *fitting) runs() ([]run, reason) {
	f.stand = standIns(f.pairs, len(f.old.lines))
	if r := f.inside(); r != "" {
		return nil, r
	}
	depths, ok := f.depths()
	if !ok {
		return nil, unclearDepth
	}
	first := f.page.solid[f.spot.at]
	end := f.page.solid[f.spot.at+len(f.old.lines)-1] + 1
	start, stop := first, end
	if f.spot.ends {
		start, stop = first-f.old.gaps[0], end+f.old.tail
	}
	b := builder{cursor: start}
	b.ends(f.spot.ends, f.old.gaps[0], f.new.gaps[0], start, first)
	was := -1 // the old line of the previous new line
	for t, l := range f.new.lines {
		j := f.pairs[t]
		if j < 0 {
			j = f.stand[t]
		}
		if t > 0 {
			if !f.gap(&b, t, was, j) {
				return nil, unclearBlank
			}
		}
		switch {
		case f.pairs[t] >= 0:
			b.keep(f.page.solid[f.spot.at+j])
		default:
			b.put(depths[t] + f.touched(j, strings.TrimPrefix(l, indentOf(l))))
		}
		if was = j; j < 0 {
			was = -2 // an insertion
		}
	}
	b.ends(f.spot.ends, f.old.tail, f.new.tail, end, stop)
	b.upTo(stop)
	return b.runs, ""
}

// gap adds the blank lines before new line t. If old and new have the same number, those
// of the file stay. It reports whether it is certain which belong there.
func (f *fitting) gap(b *builder, t, was, j int) bool {
	if j > 0 && was == j-1 && f.old.gaps[j] == f.new.gaps[t] {
		for i := f.page.solid[f.spot.at+j-1] + 1; i < f.page.solid[f.spot.at+j]; i++ {
			b.keep(i)
		}
		return true
	}
	for range f.new.gaps[t] {
		b.put("")
	}
	if j >= 0 && was >= 0 {
		return true
	}
	// An insertion: blank lines of the file that old does not have could belong
	// before or after it.
	for k := max(1, was+1); k < len(f.old.lines) && (j < 0 || k <= j); k++ {
		if f.page.solid[f.spot.at+k]-f.page.solid[f.spot.at+k-1]-1 != f.old.gaps[k] {
			return false
		}
		if j < 0 && was >= 0 {
			break // only the gap after the line before it
		}
	}
	return true
}

// builder collects runs of unchanged and of added lines.
type builder struct {
	cursor int
	lines  []string
	runs   []run
}

func (b *builder) put(l string) { b.lines = append(b.lines, l) }

func (b *builder) keep(i int) {
	b.upTo(i)
	b.cursor = i + 1
}

func (b *builder) upTo(i int) {
	if i > b.cursor || len(b.lines) > 0 {
		b.runs = append(b.runs, run{b.cursor, i, b.lines})
	}
	b.cursor, b.lines = i, nil
}

// ends adds the blank lines of one end. If old's blank lines are there, and new has the
// same number, the lines from..to of the file stay.
func (b *builder) ends(there bool, olds, news, from, to int) {
	if there && olds == news {
		for i := from; i < to; i++ {
			b.keep(i)
		}
		return
	}
	if !there {
		news -= olds
	}
	for range max(0, news) {
		b.put("")
	}
}

// inside returns a reason if a replaced line differs from the file inside, since the new
// line would then change more than was meant.
func (f *fitting) inside() reason {
	kept, stood := map[int]bool{}, map[int]bool{}
	for t, j := range f.pairs {
		kept[j], stood[f.stand[t]] = true, true
	}
	for j, o := range f.old.lines {
		given, file := strip(o), strip(f.file(j))
		if kept[j] || given == file {
			continue
		}
		if squeeze(given) == squeeze(file) {
			if strings.ContainsAny(file, "\"'`") {
				return unclearInside
			}
			continue
		}
		// Typographic marks: the common part of old and new stays as in the file. So a
		// replaced line must have a new line, or there is no replacement.
		if strip(marks().Replace(given)) != strip(marks().Replace(file)) || !stood[j] && j > 0 && stood[j-1] {
			return unclearInside
		}
	}
	return ""
}

// touched returns a new line's text with the file's typographic marks in the
// part that it shares with old line j.
func (f *fitting) touched(j int, text string) string {
	if j < 0 {
		return text
	}
	given, file := strip(f.old.lines[j]), strip(f.file(j))
	if given == file || squeeze(given) == squeeze(file) {
		return text
	}
	m := foldMarks(file)
	c := sharedMarks(&m, 0, given, text)
	return file[:c.from] + c.text + file[c.to:]
}
