package editor

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file has vi's motions.

// reach is the kind of text range that an operator takes with a motion.
type reach uint8

const (
	exclusive reach = iota // without the character at its end
	inclusive              // with it
	linewise               // whole lines
)

// motion leads from the caret to a position; ok is false if there is none.
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
		"_":  {linesFromHere, linewise},
		"gg": {lineOf, linewise}, "G": {lineOf, linewise},
		"w": {nextWord(false), exclusive}, "W": {nextWord(true), exclusive},
		"b": {back((*Editor).lastWord, false), exclusive}, "B": {back((*Editor).lastWord, true), exclusive},
		"e": {ends(false), inclusive}, "E": {ends(true), inclusive},
		"ge": {back((*Editor).lastEnd, false), inclusive}, "gE": {back((*Editor).lastEnd, true), inclusive},
		"f": {find, inclusive}, "t": {find, inclusive}, "F": {find, exclusive}, "T": {find, exclusive},
		";": {findAgain, inclusive}, ",": {findAgain, inclusive},
		"%": {matchingBracket, inclusive}, "{": {paragraph(-1), exclusive}, "}": {paragraph(1), exclusive},
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

// line returns the position in the same column n lines below (by 1) or above (-1), or in
// the last such line. It is false if there is none at all.
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
	goal := styled.Width(e.displayText(e.text[e.lineStart():e.caret]))
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

// linesFromHere goes count-1 lines down.
func linesFromHere(m *Modal, c command) (int, bool) {
	at, ok := m.line(1, c.times()-1)
	if c.op == "y" {
		return max(at, m.e.caret), ok
	}
	return m.e.textStart(m.e.startOf(at)), ok
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

// charSearch is a search for a character in a line: f, F, t or T, and the character.
type charSearch struct{ name, arg string }

func find(m *Modal, c command) (int, bool) {
	m.lastSearch = charSearch{c.name, c.arg}
	return m.find(c.name, c.arg, c.times(), false)
}

func findAgain(m *Modal, c command) (int, bool) {
	if m.lastSearch.name == "" {
		return 0, false
	}
	return m.find(m.repeatedSearch(c.name), m.lastSearch.arg, c.times(), true)
}

// repeatedSearch returns the command that ; or , repeats: , in the other direction.
func (m *Modal) repeatedSearch(name string) string {
	if name == "," {
		return map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[m.lastSearch.name]
	}
	return m.lastSearch.name
}

// find searches the line for a character. If t or T is done again, it skips the character
// beside the caret.
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
	is := func(at int) bool { return e.text[at:at+clusterLen(e.text[at:])] == arg }
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

// matchingBracket goes to the bracket that matches the next one in the line.
func matchingBracket(m *Modal, _ command) (int, bool) {
	e := m.e
	for at := e.caret; !e.ends(at); at = e.after(at) {
		if i := strings.IndexByte(openers[:3], e.text[at]); i >= 0 {
			return e.closingBracket(at+1, openers[i], closers[i])
		}
		if i := strings.IndexByte(closers[:3], e.text[at]); i >= 0 {
			return e.openingBracket(at-1, openers[i], closers[i], 1)
		}
	}
	return 0, false
}

// closingBracket returns the bracket that closes the one before at.
func (e *Editor) closingBracket(at int, opener, closer byte) (int, bool) {
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

// openingBracket returns the times-th bracket, from the inside, that encloses a position.
func (e *Editor) openingBracket(at int, opener, closer byte, times int) (int, bool) {
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

// lines returns the lines of the text; now is the index of the caret's.
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
