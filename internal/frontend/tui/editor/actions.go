package editor

import "strings"

// This file has the commands of vi that are neither motions nor operators.

// action is a command of one key. do reports whether it did something.
type action struct {
	do          func(m *Modal, c command) bool
	changes     bool // it changes the text, and . repeats it
	inserts     bool // insert mode follows
	repeats     bool // the count repeats the inserted text
	repeatsSelf bool // and the action with it
}

// actions are the actions of normal mode, selectedActions those of visual mode.
var actions, selectedActions map[string]action

func table(selected bool) map[string]action {
	if selected {
		return selectedActions
	}
	return actions
}

// inserts reports whether insert mode follows a command.
func (c command) inserts() bool { return c.op == "c" || c.op == "" && actions[c.name].inserts }

// repeats reports whether a command's count repeats the inserted text.
func (c command) repeats() bool { return c.op == "" && actions[c.name].repeats }

func init() {
	typed := func(do func(e *Editor)) action {
		return action{do: func(m *Modal, _ command) bool { do(m.e); return true }, changes: true, inserts: true, repeats: true}
	}
	opens := func(do func(e *Editor)) action { a := typed(do); a.repeatsSelf = true; return a }
	// short is the action of a key that stands for an operator with a motion.
	short := func(op, name string) action {
		do := func(m *Modal, c command) bool { c.op, c.name = op, name; return m.execute(c) }
		return action{do: do, changes: op != "y", inserts: op == "c"}
	}
	changes := func(do func(m *Modal, c command) bool) action { return action{do: do, changes: true} }
	actions = map[string]action{
		"i": typed(func(*Editor) {}), "a": typed(func(e *Editor) { e.caret = e.right(e.caret) }),
		"A": typed(func(e *Editor) { e.caret = e.lineEnd() }),
		"I": typed(func(e *Editor) { e.caret = e.textStart(e.lineStart()) }),
		"o": opens(func(e *Editor) { e.caret = e.lineEnd(); e.beforeChange(); e.insert("\n") }),
		"O": opens(func(e *Editor) { e.caret = e.lineStart(); e.beforeChange(); e.insert("\n"); e.caret-- }),
		"R": {do: func(m *Modal, _ command) bool { m.replaceMode, m.replaced = true, nil; return true }, changes: true, inserts: true, repeats: true},
		"x": short("d", "l"), "X": short("d", "h"), "D": short("d", "$"), "C": short("c", "$"),
		"s": short("c", "l"), "S": short("c", "_"), "Y": short("y", "_"),
		"p": changes((*Modal).put), "P": changes((*Modal).put), "r": changes((*Modal).replaceChars),
		"J": changes((*Modal).joinLines), "~": changes((*Modal).swapCases),
		"u": {do: func(m *Modal, c command) bool {
			for range c.times() {
				m.e.Undo()
			}
			return true
		}},
		".": {do: (*Modal).repeatLast}, "v": {do: (*Modal).toggleVisual}, "V": {do: (*Modal).toggleVisual},
		"/": {do: func(m *Modal, _ command) bool { m.e.Search(); return true }},
	}
	// as is the action of a key that applies an operator to the selection; lines: to whole
	// lines.
	as := func(op string, lines bool) action {
		return action{do: func(m *Modal, c command) bool { m.operate(op, c, lines); return true }}
	}
	selectedActions = map[string]action{
		"x": as("d", false), "X": as("d", true), "D": as("d", true), "s": as("c", false), "S": as("c", true), "R": as("c", true), "C": as("c", true),
		"Y": as("y", true), "~": as("g~", false), "u": as("gu", false), "U": as("gU", false), "J": as("J", true), "r": as("r", false),
		"p": as("p", false), "P": as("P", false),
		"v": {do: (*Modal).toggleVisual}, "V": {do: (*Modal).toggleVisual},
		"o": {do: func(m *Modal, _ command) bool { m.anchor, m.e.caret = m.e.caret, m.anchor; return true }},
	}
}

// replaceChars replaces as many characters as the count by c.arg. It does nothing if the
// line has too few.
func (m *Modal) replaceChars(c command) bool {
	e := m.e
	to := e.caret
	for range c.times() {
		if e.ends(to) {
			return false
		}
		to = e.after(to)
	}
	e.beforeChange()
	from, char := e.caret, sanitize(c.arg)
	e.text = e.text[:from] + strings.Repeat(char, c.times()) + e.text[to:]
	e.caret = from + len(char)*(c.times()-1)
	return true
}

// joinLines joins as many lines as the count, at least 2.
func (m *Modal) joinLines(c command) bool {
	return m.join(max(2, c.times()))
}

func (m *Modal) join(lines int) bool {
	e := m.e
	if e.lineEnd() == len(e.text) {
		return false
	}
	e.beforeChange()
	for range lines - 1 {
		at := e.lineEnd()
		if at == len(e.text) {
			break
		}
		rest := e.textStart(at + 1)
		space := " "
		if e.ends(rest) || e.text[rest] == ')' || at == e.lineStart() || strings.HasSuffix(e.text[:at], " ") || strings.HasSuffix(e.text[:at], "\t") {
			space = ""
		}
		e.text = e.text[:at] + space + e.text[rest:]
		e.caret = at
	}
	return true
}

// swapCases swaps upper and lower case from the caret on.
func (m *Modal) swapCases(c command) bool {
	e := m.e
	from, to := e.caret, e.caret
	for n := c.times(); n > 0 && !e.ends(to); n-- {
		to = e.after(to)
	}
	if from == to {
		return false
	}
	operators["g~"](m, part{from: from, to: to, caret: from}, c)
	for n := c.times(); n > 0; n-- {
		e.caret = e.right(e.caret)
	}
	return true
}

// typeOver applies do in replace mode: typed text replaces the characters after the caret,
// and erasing it brings them back.
func (m *Modal) typeOver(do func(*Editor)) {
	e := m.e
	was, at := e.text, e.caret
	do(e)
	switch {
	case e.caret > at && len(e.text) > len(was):
		for _, r := range e.text[at:e.caret] {
			covered := ""
			if r != '\n' && !e.ends(e.caret) {
				to := e.after(e.caret)
				covered = e.text[e.caret:to]
				e.text = e.text[:e.caret] + e.text[to:]
			}
			m.replaced = append(m.replaced, covered)
		}
	case e.caret < at && len(e.text) < len(was):
		back := e.caret
		for range was[e.caret:at] {
			n := len(m.replaced)
			if n == 0 { // nothing was typed over there: the caret goes back
				e.text = was[:at] + e.text[e.caret:]
				e.caret = back
				return
			}
			e.text = e.text[:back] + m.replaced[n-1] + e.text[back:]
			m.replaced = m.replaced[:n-1]
		}
	}
}
