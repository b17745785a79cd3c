package editor

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file is where the motions of vi lead.

// reach is the kind of text range that an operator takes with a motion.
type reach uint8

const (
	exclusive reach = iota // up to the character at its end
	inclusive              // with it
	linewise               // whole lines
)

// motion leads from the caret to a place; ok is false where there is none.
type motion struct {
	to    func(m *Modal, c command) (at int, ok bool)
	reach reach
}

var motions map[string]motion

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
	back := func(step func(e *Editor, at int, big bool) int, big bool) func(*Modal, command) (int, bool) {
		to := steps(func(e *Editor, at int) int { return step(e, at, big) })
		return func(m *Modal, c command) (int, bool) {
			at, _ := to(m, c)
			return at, m.e.caret > 0
		}
	}
	ends := func(big bool) func(*Modal, command) (int, bool) {
		return steps(func(e *Editor, at int) int { at, _ = e.wordEnd(at, big, false, false); return at })
	}
	left := steps(func(e *Editor, at int) int {
		if at > e.startOf(at) {
			return e.before(at)
		}
		return at
	})
	motions = map[string]motion{
		"h": {left, exclusive}, "l": {steps((*Editor).right), exclusive}, " ": {steps((*Editor).right), exclusive},
		"0": {func(m *Modal, _ command) (int, bool) { return m.e.lineStart(), true }, exclusive},
		"^": {lineText, exclusive},
		"$": {lineEnd, inclusive}, "g_": {lastText, inclusive},
		"j": {down(1), linewise}, "k": {down(-1), linewise}, "+": {downText(1), linewise}, "-": {downText(-1), linewise},
		"_":  {same, linewise},
		"gg": {lineOf, linewise}, "G": {lineOf, linewise},
		"w": {nextWord(false), exclusive}, "W": {nextWord(true), exclusive},
		"b": {back((*Editor).lastWord, false), exclusive}, "B": {back((*Editor).lastWord, true), exclusive},
		"e": {ends(false), inclusive}, "E": {ends(true), inclusive},
		"ge": {back((*Editor).lastEnd, false), inclusive}, "gE": {back((*Editor).lastEnd, true), inclusive},
		"f": {find, inclusive}, "t": {find, inclusive}, "F": {find, exclusive}, "T": {find, exclusive},
		";": {findAgain, inclusive}, ",": {findAgain, inclusive},
		"%": {pair, inclusive}, "{": {paragraph(-1), exclusive}, "}": {paragraph(1), exclusive},
	}
}

func lineEnd(m *Modal, c command) (int, bool) {
	e, at := m.e, m.e.lineEnd()
	for range c.times() - 1 {
		if at == len(e.text) {
			return at, false
		}
		at = e.endOf(at + 1)
	}
	if at > e.startOf(at) && m.visual == "" {
		at = e.before(at)
	}
	return at, true
}

// lineText returns the first character of the line that is not a blank, or the last
// character.
func lineText(m *Modal, _ command) (int, bool) {
	at := m.e.textStart(m.e.lineStart())
	if m.e.ends(at) && at > m.e.lineStart() {
		at = m.e.before(at)
	}
	return at, true
}

func lastText(m *Modal, c command) (int, bool) {
	end, _ := m.line(1, c.times()-1)
	e := m.e
	from := e.startOf(end)
	text := strings.TrimRight(e.text[from:e.endOf(end)], " \t")
	if text == "" {
		return from, true
	}
	return e.before(from + len(text)), true
}

// line is the place as far into the line that is n lines further down, or up, and
// fails where there is none at all.
func (m *Modal) line(by, n int) (int, bool) {
	e, at := m.e, m.e.lineStart()
	moved := n == 0
	for ; n > 0; n-- {
		switch {
		case by > 0 && e.endOf(at) < len(e.text):
			at = e.endOf(at) + 1
		case by < 0 && at > 0:
			at = e.startOf(at - 1)
		default:
			n = 0
			continue
		}
		moved = true
	}
	goal := styled.Width(e.shown(e.text[e.lineStart():e.caret]))
	for width := 0; !e.ends(at); {
		size, w := e.cell(at)
		if width += w; width > goal {
			break
		}
		at += size
	}
	return at, moved
}

func down(by int) func(*Modal, command) (int, bool) {
	return func(m *Modal, c command) (int, bool) { return m.line(by, c.times()) }
}

func downText(by int) func(*Modal, command) (int, bool) {
	return func(m *Modal, c command) (int, bool) {
		at, ok := m.line(by, c.times())
		return m.e.textStart(m.e.startOf(at)), ok
	}
}

// same goes as many lines down, less one: to this one.
func same(m *Modal, c command) (int, bool) {
	at, ok := m.line(1, c.times()-1)
	if c.op == "y" {
		return max(at, m.e.caret), ok
	}
	return m.e.textStart(m.e.startOf(at)), ok
}

// lineOf goes to the line of a number: the first one, for G the last one, where
// none is given.
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

// nextWord passes words; an operator stays in the line of the last one.
func nextWord(big bool) func(*Modal, command) (int, bool) {
	return func(m *Modal, c command) (int, bool) {
		at := m.e.caret
		for n := c.times(); n > 0; n-- {
			at = m.e.nextWord(at, big, c.op != "" && n == 1)
		}
		return at, true
	}
}

// found is the last search for a character in a line.
type found struct{ name, arg string }

func find(m *Modal, c command) (int, bool) {
	m.found = found{c.name, c.arg}
	return m.find(c.name, c.arg, c.times(), false)
}

func findAgain(m *Modal, c command) (int, bool) {
	if m.found.name == "" {
		return 0, false
	}
	return m.find(m.search(c.name), m.found.arg, c.times(), true)
}

// search is the one that ; or , does.
func (m *Modal) search(name string) string {
	if name == "," {
		return map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[m.found.name]
	}
	return m.found.name
}

// find searches the line for a character. A search up to before it that is done
// again does not stay where it is.
func (m *Modal) find(name, arg string, times int, again bool) (int, bool) {
	e, at := m.e, m.e.caret
	back := name == "F" || name == "T"
	short := name == "t" || name == "T"
	step := func(at int) (int, bool) {
		switch {
		case back && at > e.startOf(at):
			return e.before(at), true
		case !back && !e.ends(at) && !e.ends(e.after(at)):
			return e.after(at), true
		}
		return at, false
	}
	is := func(at int) bool { return e.text[at:at+next(e.text[at:])] == arg }
	if beside, ok := step(at); short && again && times == 1 && ok && is(beside) {
		at = beside
	}
	for n := times; n > 0; {
		var ok bool
		if at, ok = step(at); !ok {
			return 0, false
		}
		if is(at) {
			n--
		}
	}
	switch {
	case short && back:
		at = e.after(at)
	case short:
		at = e.before(at)
	}
	return at, true
}

const openers, closers = "([{<", ")]}>"

// pair goes to the other one of two brackets, of the first one in the line.
func pair(m *Modal, _ command) (int, bool) {
	e := m.e
	for at := e.caret; !e.ends(at); at = e.after(at) {
		if i := strings.IndexByte(openers[:3], e.text[at]); i >= 0 {
			return e.closing(at+1, openers[i], closers[i])
		}
		if i := strings.IndexByte(closers[:3], e.text[at]); i >= 0 {
			return e.opening(at-1, openers[i], closers[i], 1)
		}
	}
	return 0, false
}

// closing is the bracket that closes what is open at a place.
func (e *Editor) closing(at int, opener, closer byte) (int, bool) {
	for depth := 1; at < len(e.text); at++ {
		switch e.text[at] {
		case opener:
			depth++
		case closer:
			if depth--; depth == 0 {
				return at, true
			}
		}
	}
	return 0, false
}

// opening is the bracket that a place is within, the times-th from the inside.
func (e *Editor) opening(at int, opener, closer byte, times int) (int, bool) {
	for at = min(at, len(e.text)-1); at >= 0; at-- {
		switch e.text[at] {
		case closer:
			times++
		case opener:
			if times--; times == 0 {
				return at, true
			}
		}
	}
	return 0, false
}

// paragraph goes to the next empty line after or before text that is not empty.
func paragraph(by int) func(*Modal, command) (int, bool) {
	return func(m *Modal, c command) (int, bool) {
		e := m.e
		rows, now := e.lines()
		for n := c.times(); n > 0; n-- {
			text := false
			for first := true; ; first = false {
				empty := rows[now].from == rows[now].to
				text = text || !empty
				if !first && text && empty {
					break
				}
				if now+by < 0 || now+by >= len(rows) {
					if n > 1 {
						return 0, false
					}
					if by > 0 {
						return len(e.text), true
					}
					return 0, true
				}
				now += by
			}
		}
		return rows[now].from, true
	}
}

// lines are the lines of the text; now is the caret's.
func (e *Editor) lines() (rows []row, now int) {
	for from := 0; ; {
		r := row{from, e.endOf(from)}
		if e.caret >= from {
			now = len(rows)
		}
		if rows = append(rows, r); r.to == len(e.text) {
			return rows, now
		}
		from = r.to + 1
	}
}
