package editor

import "strings"

// This file has vi's motions and objects.

// motions lead from the caret to a position; ok is false if there is none.
var motions map[string]func(m *Modal, c command) (at int, ok bool)

func init() {
	steps := func(step func(e *Editor, at int) int) func(*Modal, command) (int, bool) {
		return func(m *Modal, c command) (int, bool) {
			at := m.e.caret
			for range c.times() {
				at = step(m.e, at)
			}
			return at, true
		}
	}
	words := func(step func(e *Editor, at int, big bool) int, big bool) func(*Modal, command) (int, bool) {
		return steps(func(e *Editor, at int) int { return step(e, at, big) })
	}
	ends := func(e *Editor, at int, big bool) int { return e.wordEnd(at, big, false) }
	left := func(e *Editor, at int) int {
		if at > e.startOf(at) {
			return e.before(at)
		}
		return at
	}
	motions = map[string]func(*Modal, command) (int, bool){
		"h": steps(left), "l": steps((*Editor).right), " ": steps((*Editor).right),
		"0": func(m *Modal, _ command) (int, bool) { return m.e.lineStart(), true },
		"^": func(m *Modal, _ command) (int, bool) { return m.e.textStart(m.e.lineStart()), true },
		"$": func(m *Modal, _ command) (int, bool) { return left(m.e, m.e.lineEnd()), true },
		"j": func(m *Modal, c command) (int, bool) { return m.e.line(1, c.times()) },
		"k": func(m *Modal, c command) (int, bool) { return m.e.line(-1, c.times()) },
		"_": func(m *Modal, c command) (int, bool) {
			at, ok := m.e.line(1, c.times()-1)
			return max(at, m.e.caret), ok
		},
		"gg": lineOf, "G": lineOf,
		"w": nextWord(false), "W": nextWord(true),
		"b": words((*Editor).lastWord, false), "B": words((*Editor).lastWord, true),
		"e": words(ends, false), "E": words(ends, true),
		"f": find, "t": find, "F": find, "T": find, ";": find, ",": find,
	}
}

// line returns the start of the line n lines below (by 1) or above (-1), or of the last such
// line. It is false if there is none at all.
func (e *Editor) line(by, n int) (at int, ok bool) {
	at = e.lineStart()
	for ok = n == 0; n > 0; n-- {
		switch {
		case by > 0 && e.endOf(at) < len(e.text):
			at = e.endOf(at) + 1
		case by < 0 && at > 0:
			at = e.startOf(at - 1)
		default:
			return at, ok
		}
		ok = true
	}
	return at, ok
}

// lineOf goes to the line with the count as its number. Without a count, gg goes to the
// first line and G to the last one.
func lineOf(m *Modal, c command) (int, bool) {
	e, at := m.e, 0
	if c.name == "G" && c.count == 0 {
		return e.textStart(e.startOf(len(e.text))), true
	}
	for n := c.times(); n > 1 && e.endOf(at) < len(e.text); n-- {
		at = e.endOf(at) + 1
	}
	return e.textStart(at), true
}

// nextWord goes words forward; with an operator, the last one not beyond its line.
func nextWord(big bool) func(*Modal, command) (int, bool) {
	return func(m *Modal, c command) (int, bool) {
		at := m.e.caret
		for n := c.times(); n > 0; n-- {
			at = m.e.nextWord(at, big, c.op != "" && n == 1)
		}
		return at, true
	}
}

// find searches the line for a character. If t or T is done again, it skips the character
// beside the caret.
func find(m *Modal, c command) (int, bool) {
	e, at, name, char := m.e, m.e.caret, c.name, c.arg
	again := name == ";" || name == ","
	if again {
		if name, char = m.found.name, m.found.arg; c.name == "," {
			name = map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[name]
		}
	} else {
		m.found = c
	}
	back, short := name == "F" || name == "T", name == "t" || name == "T"
	step := func() bool {
		switch {
		case back && at > e.startOf(at):
			at = e.before(at)
		case !back && !e.ends(at) && !e.ends(e.after(at)):
			at = e.after(at)
		default:
			return false
		}
		return true
	}
	for n := c.times(); n > 0 && name != ""; {
		first := at == e.caret
		if !step() {
			return 0, false
		}
		if e.text[at:e.after(at)] == char && !(first && again && short) {
			n--
		}
	}
	switch {
	case short && back:
		at = e.after(at)
	case short:
		at = e.before(at)
	}
	return at, name != ""
}

// object returns the range of a text object around the caret: a word, or what is in quotes
// or brackets. around: with the blanks beside it, the quotes or the brackets.
func (e *Editor) object(name string, around bool) (from, to int, ok bool) {
	if name == "w" || name == "W" {
		from, to = e.wordAround(name == "W", around)
		return from, to, true
	}
	pair := strings.Index("(b)[ ]{B}< >", name)
	if pair < 0 {
		from, to, ok = e.quotes(name[0])
	} else {
		pair -= pair % 3
		from, to, ok = e.brackets("(b)[ ]{B}< >"[pair], "(b)[ ]{B}< >"[pair+2])
	}
	if !around {
		return from + 1, to, ok
	}
	if to++; pair < 0 { // with the blanks behind it
		to = e.textStart(to)
	}
	return from, to, ok
}

func (e *Editor) wordAround(big, around bool) (from, to int) {
	from = e.runStart(e.caret, big)
	to = e.runEnd(from, big)
	blank := e.kind(from, big) == 0
	switch {
	case !around:
	case blank || e.kind(to, big) == 0 && !e.ends(to):
		to = e.runEnd(to, big)
	case from > e.startOf(from):
		if before := e.runStart(e.before(from), big); e.kind(before, big) == 0 && before > e.startOf(from) {
			from = before
		}
	}
	return from, to
}

// quotes returns a pair of quotes in the caret's line: around the caret, or the first one. A
// quote after a backslash is text.
func (e *Editor) quotes(quote byte) (from, to int, ok bool) {
	var all []int
	next := -1 // the first one that is not before the caret
	for i := e.lineStart(); i < e.lineEnd(); i++ {
		switch e.text[i] {
		case '\\':
			i++
		case quote:
			if next < 0 && i >= e.caret {
				next = len(all)
			}
			all = append(all, i)
		}
	}
	if next > 0 && (all[next] != e.caret || next%2 == 1) {
		next--
	}
	if next < 0 || next+1 >= len(all) {
		return 0, 0, false
	}
	return all[next], all[next+1], true
}

// brackets returns the brackets around the caret, which may be on one of them.
func (e *Editor) brackets(opener, closer byte) (from, to int, ok bool) {
	depth := 0
	for from = min(e.caret, len(e.text)-1); from >= 0; from-- {
		if e.text[from] == opener {
			if depth--; depth < 0 {
				break
			}
		} else if e.text[from] == closer && from < e.caret {
			depth++
		}
	}
	if from < 0 {
		return 0, 0, false
	}
	depth = 0
	for to = from; to < len(e.text); to++ {
		switch e.text[to] {
		case opener:
			depth++
		case closer:
			if depth--; depth == 0 {
				return from, to, true
			}
		}
	}
	return 0, 0, false
}
