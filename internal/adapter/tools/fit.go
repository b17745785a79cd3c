package tools

import (
	"slices"
	"strings"
)

// This file finds whole lines that differ in whitespace or typographic marks, and adapts the
// new lines to the file. Lines that are the same in old and new stay as they are in the file.

func blank(l string) bool { return strings.TrimSpace(l) == "" }

// strip returns a line without leading and trailing whitespace.
func strip(l string) string { return strings.TrimSpace(l) }

// squeeze returns a line without leading and trailing whitespace, and with
// single spaces inside.
func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }

// alike returns the form in which lines are compared.
func alike(l string) string { return squeeze(marks().Replace(l)) }

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

const noteAlike = "whitespace, quotes or dashes differed from the given text; the file's indentation was kept"

// page is lines, and the form in which they are compared.
type page struct{ lines, forms []string }

func pageOf(lines []string) *page {
	p := &page{lines: lines}
	for _, l := range lines {
		p.forms = append(p.forms, alike(l))
	}
	return p
}

// places lists where old's lines match. Blank lines alone match nowhere.
func (p *page) places(old *page) []int {
	var out []int
	if strings.Join(old.forms, "") == "" {
		return nil
	}
	for i := range p.forms {
		if fits(p.forms, i, old.forms) {
			out = append(out, i)
		}
	}
	return out
}

// surrounds returns where the new lines already are around a place of old, if new contains
// old's lines; otherwise -1.
func (p *page) surrounds(at int, old, text *page) int {
	if len(text.lines) <= len(old.lines) {
		return -1
	}
	for _, k := range text.places(old) {
		if fits(p.forms, at-k, text.forms) {
			return at - k
		}
	}
	return -1
}

// fitting replaces the file's lines from at on, which match old's, by new ones.
type fitting struct {
	at             int
	file, old, new []string
	pairs          []int // for each new line the same old line, or -1
}

// fit returns the fitting of new lines at a place of the old ones.
func (p *page) fit(at int, old, text *page, pairs []int) *fitting {
	return &fitting{at: at, file: p.lines[at : at+len(old.lines)], old: old.lines, new: text.lines, pairs: pairs}
}

// reason is why lines do not fit, "" if they do.
type reason string

const (
	unclearDepth  reason = "its indentation differs there, so the right one for the new lines is unclear"
	unclearInside reason = "spaces, quotes or dashes differ inside a line to be replaced"
)

// runs returns the lines to replace, or the reason why that is not certain.
func (f *fitting) runs() ([]run, reason) {
	stand := standIns(f.pairs, len(f.old))
	if !f.inside(stand) {
		return nil, unclearInside
	}
	depths, sure := f.depths()
	b := builder{cursor: f.at}
	for t, l := range f.new {
		in := indentOf(l)
		to, ok := depths.of(in)
		switch j := f.pairs[t]; {
		case j >= 0:
			b.keep(f.at + j)
		case blank(l):
			b.put("")
		case !ok:
			sure = false
		default:
			b.put(to + f.touched(stand[t], l[len(in):]))
		}
	}
	if !sure {
		return nil, unclearDepth
	}
	b.upTo(f.at + len(f.old))
	return b.runs, ""
}

// depths map old's indentation to the file's: all lines are shifted by the same amount, or
// each depth has one of its own there.
type depths struct {
	known   map[string]string
	shifted bool // by shift, for depths that are not known
	shift   shift
}

// shift is a change of indentation: the prefix drop, which only old has, is replaced by
// add, which only the file has.
type shift struct{ add, drop string }

func shiftOf(given, file string) (shift, bool) {
	if add, more := strings.CutSuffix(file, given); more {
		return shift{add: add}, true
	}
	drop, less := strings.CutSuffix(given, file)
	return shift{drop: drop}, less
}

// of returns the file's indentation for a depth of the new lines. One that mixes tabs and
// spaces must be known.
func (d depths) of(depth string) (string, bool) {
	if to, ok := d.known[depth]; ok || !d.shifted {
		return to, ok
	}
	rest, ok := strings.CutPrefix(depth, d.shift.drop)
	to := d.shift.add + rest
	return to, ok && (d.shift == shift{} || !strings.Contains(to, " ") || !strings.Contains(to, "\t"))
}

// depths compares old's indentation with the file's. sure is false if that says nothing about
// the new lines.
func (f *fitting) depths() (d depths, sure bool) {
	d = depths{known: map[string]string{}, shifted: true}
	mapped, n := true, 0
	for j, o := range f.old {
		if blank(o) {
			continue
		}
		given, file := indentOf(o), indentOf(f.file[j])
		s, ok := shiftOf(given, file)
		d.shifted = d.shifted && ok && (n == 0 || s == d.shift)
		d.shift = s
		was, twice := d.known[given]
		mapped = mapped && (!twice || was == file)
		d.known[given] = file
		n++
	}
	same := d.shifted && d.shift == shift{}
	return d, same || (d.shifted || mapped && inOrder(d.known)) && f.sameBase() && !f.flattened() && (n > 1 || f.flat(d.known))
}

// inOrder reports whether a map of depths keeps their order: of two, one is a prefix of the
// other, in old and in the file.
func inOrder(known map[string]string) bool {
	for a, x := range known {
		for b, y := range known {
			if a != b && (x == y || !(strings.HasPrefix(a, b) && strings.HasPrefix(x, y) || strings.HasPrefix(b, a) && strings.HasPrefix(y, x))) {
				return false
			}
		}
	}
	return true
}

// sameBase reports whether new is certainly indented like old: they have a common line,
// or begin at the same depth.
func (f *fitting) sameBase() bool {
	solid := func(l string) bool { return !blank(l) }
	first, olds := slices.IndexFunc(f.new, solid), slices.IndexFunc(f.old, solid)
	if first < 0 || indentOf(f.new[first]) == indentOf(f.old[olds]) {
		return true
	}
	for t, j := range f.pairs {
		if j >= 0 && solid(f.new[t]) {
			return true
		}
	}
	return false
}

// flat reports whether all new lines have a depth of old. One line is not enough evidence for
// others: the rest of new may have been copied with the file's indentation.
func (f *fitting) flat(known map[string]string) bool {
	return !slices.ContainsFunc(f.new, func(l string) bool { _, ok := known[indentOf(l)]; return !ok && !blank(l) })
}

// flattened reports whether new lost its indentation: all lines have the same depth,
// although one of them opens a block.
func (f *fitting) flattened() bool {
	opens, before := false, ""
	for _, l := range f.new {
		if blank(l) {
			continue
		}
		if before != "" {
			if indentOf(l) != indentOf(before) {
				return false
			}
			end := strings.TrimRight(before, " \t")
			opens = opens || strings.ContainsAny(end[len(end)-1:], "{([:") && !strings.ContainsAny(strip(l)[:1], "})]")
		}
		before = l
	}
	return opens
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

// inside returns false if a replaced line differs from the file inside, since the new line
// would then change more than was meant.
func (f *fitting) inside(stand []int) bool {
	kept, stood := map[int]bool{}, map[int]bool{}
	for t := range f.new {
		kept[f.pairs[t]], stood[stand[t]] = true, true
	}
	for j, o := range f.old {
		given, file := strip(o), strip(f.file[j])
		switch {
		case kept[j] || given == file:
		case squeeze(given) == squeeze(file):
			if strings.ContainsAny(file, "\"'`") {
				return false
			}
		// Typographic marks: the common part of old and new stays as in the file. So a
		// replaced line must have a new line, or there is no replacement.
		case strip(marks().Replace(given)) != strip(marks().Replace(file)) || !stood[j] && j > 0 && stood[j-1]:
			return false
		}
	}
	return true
}

// touched returns a new line's text with the file's typographic marks in the
// part that it shares with old line j.
func (f *fitting) touched(j int, text string) string {
	if j < 0 {
		return text
	}
	given, file := strip(f.old[j]), strip(f.file[j])
	if given == file || squeeze(given) == squeeze(file) {
		return text
	}
	m := foldMarks(file)
	c := sharedMarks(&m, 0, given, text)
	return file[:c.from] + c.text + file[c.to:]
}
