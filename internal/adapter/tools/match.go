package tools

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// foldLimit is the size limit of a text for inexact matching, in bytes.
const foldLimit = 8 << 20

// This file finds the place of a replacement in a file. Its texts have no byte order
// mark.

// region is the lines from..to of a text. If to < from, it is the gap before from.
type region struct{ from, to int }

// replaced is a replacement whose place was found.
type replaced struct {
	body    string
	regions []region // the changed lines, in body
	count   int
	already bool   // the text already had the wanted content
	at      int    // with already: the line
	note    string // how the place was found, if not by an exact match
}

// miss is the reason why no place was found, and the lines to show.
type miss struct {
	text    string
	show    []region
	many    bool // there are several exact matches
	nowhere bool // there is no hint of the place: show similar lines
	olds    []string
}

// edit is one replacement in a text, with all line endings as \n.
type edit struct {
	in        *source
	old, text string
	all       bool
}

// replace replaces old by text. It looks for an exact match, otherwise for one that
// ignores typographic marks or whitespace: then there must be only one such place, and it
// must be certain how to insert text there. show reports whether a miss shows similar
// lines.
func replace(body, old, text string, all, show bool) (replaced, *miss) {
	if old == "" {
		return replaced{}, &miss{text: "old is empty: give the exact text to replace (with a line beside it, to insert)"}
	}
	if old == text {
		return replaced{}, &miss{text: "old and new are the same: nothing would change"}
	}
	e := &edit{in: newSource(body), old: withEnding(old, "\n"), text: folded(text), all: all}
	if e.old == e.text {
		return replaced{}, &miss{text: "old and new differ in their line endings only, and the file's are kept: change those with a command"}
	}
	if !strings.HasSuffix(old, "\r") {
		e.text = strings.TrimRight(e.text, "\r")
	}
	r, m := e.find()
	switch {
	case m != nil && m.nowhere && show:
		m = near(e.in.plain, m.olds, m.text)
	case m == nil && !r.already && strings.Contains(old+text, "\n") && strings.Contains(old+text, "\r\n") != (e.in.crlf > 0):
		r.note = strings.TrimPrefix(r.note+"; "+noteEnding, "; ")
	}
	return r, m
}

const noteEnding = "line endings differed from the given text; the file's were kept"

// find finds the place of the edit. It tries the most certain way first.
func (e *edit) find() (replaced, *miss) {
	if spots := occurrences(e.in.plain, e.old); len(spots) > 0 {
		return e.exactly(spots)
	}
	if len(e.in.plain) > foldLimit {
		return replaced{}, e.nowhere()
	}
	p := pageOf(plainLines(e.in.plain))
	// If new is in the file already, the edit may have been made before, and an inexact
	// match may be another place; for a deletion nothing would show that. Then only an
	// exact match is accepted.
	if !blank(e.text) && !strings.Contains(e.in.plain, e.text) {
		if r, m, found := e.byMarks(); found {
			return r, m
		}
		if r, m, found := e.byLines(p); found {
			return r, m
		}
	}
	if line := e.done(p); line > 0 {
		return e.alreadyAt(line), nil
	}
	return replaced{}, e.nowhere()
}

// alreadyAt returns a replacement that was made before.
func (e *edit) alreadyAt(line int) replaced {
	return replaced{body: e.in.body, already: true, at: line}
}

// nowhere returns a miss that states that no place was found, and why.
func (e *edit) nowhere() *miss {
	m := &miss{nowhere: true, text: "the text to replace was not found", olds: strings.Split(strings.TrimSuffix(e.old, "\n"), "\n")}
	at := -1
	if len(squeeze(e.text)) >= 6 {
		at = strings.Index(e.in.plain, e.text)
	}
	switch {
	case at >= 0:
		m.text += fmt.Sprintf(" (the new text stands at line %d: was the edit made already?)", lineAt(e.in.plain, at))
	case blank(e.text):
		m.text += " exactly, and only exact text is deleted"
	}
	return m
}

// doubtful returns a miss for a place that is known, but not how to insert new there.
func doubtful(lines []string, at, n int, why reason) *miss {
	m := manyLines(lines, []int{at}, n)
	m.text = "the text to replace is there only with other whitespace, and " + string(why) + copyNearest
	return m
}

// exactly replaces old at its exact matches.
func (e *edit) exactly(spots []int) (replaced, *miss) {
	plain := e.in.plain
	inside := 0
	for _, at := range spots {
		k, whole := newAround(plain, e.old, e.text, at)
		if k < 0 {
			continue
		}
		if !whole {
			return replaced{}, &miss{text: fmt.Sprintf("the text to replace is at line %d in what looks like new, but goes on there: "+
				"was the edit made already? Give whole words or lines", lineAt(plain, at)), show: around(plain, []int{at})}
		}
		inside++
	}
	switch {
	case inside == len(spots) && (len(spots) == 1 || e.all):
		return e.alreadyAt(lineAt(plain, spots[0])), nil
	case len(spots) > 1 && !e.all:
		return replaced{}, ambiguous(plain, spots)
	case inside > 0:
		return replaced{}, &miss{text: "new contains old and stands in some of the places already: replace the others one by one, with lines around them", show: around(plain, spots)}
	case !e.all && changesPart(plain, spots[0], e.old, e.text):
		return replaced{}, &miss{text: fmt.Sprintf("the text to replace is at line %d only as a part of another number: give the whole of it", lineAt(plain, spots[0])), show: around(plain, spots)}
	}
	var cuts []cut
	for _, at := range disjoint(spots, len(e.old)) {
		cuts = append(cuts, cut{at, at + len(e.old), e.text})
	}
	return e.in.splice(cuts, ""), nil
}

// newAround returns the offset of old in text, if text already surrounds old at a place:
// then the insertion was made before. Otherwise it returns -1. whole is false if text
// continues in a longer word there.
func newAround(plain, old, text string, at int) (k int, whole bool) {
	for from := 0; ; from = k + 1 {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return -1, false
		}
		k = from + i
		if at >= k && strings.HasPrefix(plain[at-k:], text) {
			return k, !cutsWord(plain, at-k, len(text))
		}
	}
}

// cutsWord reports whether a part of a text begins or ends inside a word.
func cutsWord(s string, at, n int) bool {
	if n == 0 {
		return false
	}
	is := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	before, after := ends(s, at, n)
	last, first := ends(s, at+n, -n)
	return is(before) && is(first) || is(last) && is(after)
}

// ends returns the runes before and after a part of a text.
func ends(s string, at, n int) (before, after rune) {
	before, _ = utf8.DecodeLastRuneInString(s[:at])
	after, _ = utf8.DecodeRuneInString(s[at+n:])
	return before, after
}

// changesPart reports whether text instead of old, which is there in s, would put other
// digits in the place of a part of a number. Such an old may be a number as it was once.
func changesPart(s string, at int, old, text string) bool {
	first := func(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsDigit))] }
	last := func(s string) string { return s[len(strings.TrimRightFunc(s, unicode.IsDigit)):] }
	before, after := ends(s, at, len(old))
	return unicode.IsDigit(before) && first(old) != first(text) || unicode.IsDigit(after) && last(old) != last(text)
}

// byLines finds old by whole lines.
func (e *edit) byLines(p *page) (r replaced, m *miss, found bool) {
	olds, news := pageOf(plainLines(e.old)), pageOf(plainLines(e.text))
	places := p.places(olds)
	if len(places) == 0 {
		var ok bool
		if olds, news, ok = p.spaced(olds, news); !ok {
			return r, nil, false
		}
		places = p.places(olds)
	}
	switch len(places) {
	case 1:
	default:
		m := manyLines(p.lines, places, len(olds.lines))
		m.text = fmt.Sprintf("the text to replace matches %d places, at line %s, but with other whitespace: "+
			"copy the one you mean exactly, with lines around it; replace_all needs the exact text", len(places), lineList(places))
		return r, m, true
	}
	at := places[0]
	if around := p.surrounds(at, olds, news); around >= 0 {
		return e.alreadyAt(around + 1), nil, true
	}
	runs, why := p.fit(at, olds, news, align(olds.lines, news.lines)).runs()
	if why != "" {
		return r, doubtful(p.lines, at, len(olds.lines), why), true
	}
	r = e.in.splice(e.in.cuts(p.lines, runs, asBefore), noteAlike)
	if r.count = 1; r.body == e.in.body {
		r = e.alreadyAt(at + 1)
	}
	return r, nil, true
}

// done returns the line of an edit that was made before, or 0. The new text must occur
// exactly once, complete, and be tied to old. The lines that only old has must be gone, or
// old may be elsewhere.
func (e *edit) done(p *page) int {
	solid := strings.Join(strings.Fields(e.text), "")
	if len(solid) < 6 {
		return 0
	}
	has := func(lines []string) map[string]bool { // true for those that say something
		set := map[string]bool{}
		for _, l := range lines {
			set[l] = len(l) > 2
		}
		return set
	}
	olds, news := pageOf(plainLines(e.old)), pageOf(plainLines(e.text))
	fresh, left, shared := has(news.forms), has(p.forms), false
	for _, l := range olds.forms {
		_, stays := fresh[l]
		if shared = shared || fresh[l]; !stays && left[l] {
			return 0
		}
	}
	pre, post := common(e.old, e.text)
	if !shared && len(solid) < 24 && 2*(pre+post) < len(e.text) {
		return 0
	}
	spots := occurrences(e.in.plain, e.text)
	if len(spots) == 0 {
		if places := p.places(news); len(places) == 1 {
			return places[0] + 1
		}
	}
	if len(spots) != 1 || cutsWord(e.in.plain, spots[0], len(e.text)) {
		return 0
	}
	return lineAt(e.in.plain, spots[0])
}

// occurrences lists the offsets of old in body, including overlapping ones: if matches
// overlap, it is not clear which one is meant.
func occurrences(body, old string) []int {
	var out []int
	for from := 0; ; {
		i := strings.Index(body[from:], old)
		if i < 0 {
			return out
		}
		out = append(out, from+i)
		from += i + 1
	}
}

func disjoint(spots []int, n int) []int {
	var out []int
	end := 0
	for _, s := range spots {
		if s >= end {
			out = append(out, s)
			end = s + n
		}
	}
	return out
}

func lineAt(body string, at int) int { return strings.Count(body[:at], "\n") + 1 }
