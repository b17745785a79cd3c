package editor

import "strings"

// Modal has the keys of vi change an Editor's text. It begins in insert mode,
// where keys type; in normal mode they are commands, which visual mode has work
// on what is selected.
//
// It promises that Escape does one thing at a time: it reports whether it had
// something to do, so that the caller may use the key for something else if not.
// Text is never lost by it. Commands do what vim does
// with them; characters are those that a person sees.
type Modal struct {
	e      *Editor
	normal bool
	keys   []string // of the command that is being typed
	found  found

	visual string // what is selected: "v" characters, "V" lines, "" nothing
	anchor int    // where the selection began
	of     string // the text that is selected from

	last   change   // for .
	now    change   // that is being typed
	typing bool     // keys of insert mode belong to now
	before string   // the text that undo goes back to
	over   []string // what typing in place of other characters took away
	covers bool     // typing puts characters in place of others
}

// change is a command that changed the text, with the text typed after it.
type change struct {
	command
	typed []func(*Editor)
}

// endOfRows has up and down go to the ends of rows.
const endOfRows = 1 << 30

// maxGrown is the size of a text that is still repeated: a slip of the finger
// does not fill the memory.
const maxGrown = 1 << 20

// NewModal has the keys of vi change a text.
func NewModal(e *Editor) *Modal { return &Modal{e: e} }

// Mode is insert, replace, normal, visual or visual line.
func (m *Modal) Mode() string {
	switch {
	case m.normal && m.selects() && m.visual == "V":
		return "visual line"
	case m.normal && m.visual != "":
		return "visual"
	case m.normal:
		return "normal"
	case m.covers:
		return "replace"
	}
	return "insert"
}

// Normal reports whether keys are commands.
func (m *Modal) Normal() bool { return m.normal }

// Pending is the part of a command that was typed, such as 2d.
func (m *Modal) Pending() string { return strings.Join(m.keys, "") }

// Begin goes back to insert mode, for another text.
func (m *Modal) Begin() {
	m.keys, m.visual = nil, ""
	m.normal, m.typing, m.covers = false, false, false
	m.Rests()
}

// Escape drops a command that is not whole, or the selection, else goes to
// normal mode, and reports whether it did any of these.
func (m *Modal) Escape() bool {
	e := m.e
	switch {
	case len(m.keys) > 0:
		m.keys = nil
	case m.normal && m.selects():
		m.visual = ""
		m.Rests()
	case m.normal:
		return false
	default:
		if m.typing {
			m.more(m.now)
			m.last, m.typing = m.now, false
			m.joined()
		}
		e.moved()
		m.normal, m.covers = true, false
		if e.caret > e.lineStart() {
			e.caret = e.before(e.caret)
		}
	}
	return true
}

// Rests moves the caret onto a character, as in normal mode: it cannot be after a line's
// last one. A selection is shown.
func (m *Modal) Rests() {
	e := m.e
	e.caret = e.onCharacter(e.caret)
	e.selected = row{}
	if m.selects() {
		m.anchor = e.onCharacter(m.anchor)
		e.selected.from, e.selected.to = m.selection()
		return
	}
	if m.normal && e.caret > e.lineStart() && e.caret == e.lineEnd() {
		e.caret = e.before(e.caret)
	}
}

// Insert does what a key or a paste does to the text in insert mode.
func (m *Modal) Insert(do func(*Editor)) {
	if m.typing {
		m.now.typed = append(m.now.typed, do)
	}
	if m.covers && !m.normal {
		m.cover(do)
		return
	}
	do(m.e)
}

// Command does what a key means in normal mode, in a window of that many
// columns, and reports whether it means anything.
func (m *Modal) Command(key string, columns int) bool {
	visual := m.selects()
	m.keys = append(m.keys, key)
	c, state := parse(m.keys, visual)
	if state == begun {
		return true
	}
	m.keys = nil
	if state == complete {
		m.e.kills.rests()
		if visual {
			m.selected(c, columns)
		} else {
			m.runs(c, columns)
		}
	}
	m.Rests()
	return state == complete
}

// runs does a command.
func (m *Modal) runs(c command, columns int) {
	switch a := actions[c.name]; {
	case c.op == "y":
		m.does(c)
	case c.op != "" || a.changes:
		m.changed(c)
	case a.do != nil:
		a.do(m, c)
	default:
		m.moves(c, columns)
	}
}

// moves moves the caret. Up and down go by the rows of the window, and, where
// nothing is selected, on to the entries before and after.
func (m *Modal) moves(c command, columns int) {
	e := m.e
	if c.name != "j" && c.name != "k" {
		to, ok := motions[c.name].to(m, c)
		if !ok {
			return
		}
		e.moved()
		if e.caret = to; c.name == "$" {
			e.goal = endOfRows
		}
		return
	}
	step, beyond := e.Down, e.Newer
	if c.name == "k" {
		step, beyond = e.Up, e.Older
	}
	for range c.times() {
		if step(columns) {
			continue
		}
		if m.visual == "" {
			beyond()
		}
		return
	}
}

// changed does a command that changes the text.
func (m *Modal) changed(c command) {
	m.begins()
	first := c
	if c.repeats() {
		first.count = 0 // Escape repeats the text typed after it
	}
	switch done := m.does(first); {
	case done && c.inserts():
		m.now, m.typing, m.normal = change{command: c}, true, false
		return
	case done:
		m.last = change{command: c}
	}
	m.joined()
}

// does carries out an operator or an action, and reports whether it could.
func (m *Modal) does(c command) bool {
	if c.op == "" {
		return actions[c.name].do(m, c)
	}
	p, ok := m.part(c)
	switch do := operators[c.op]; {
	case !ok:
	case do != nil:
		do(m, p, c)
	default:
		selectedOperators[c.op](m, p, c)
	}
	return ok
}

// again repeats the last change, with another count if one is given.
func (m *Modal) again(c command) bool {
	last := m.last
	if last.op == "" && last.name == "" {
		return false
	}
	if c.count > 0 {
		last.count = c.count
	}
	first := last.command
	if first.repeats() {
		first.count = 0
	}
	m.begins()
	m.does(first)
	m.types(last)
	m.more(last)
	if e := m.e; last.inserts() && e.caret > e.lineStart() {
		e.caret = e.before(e.caret)
	}
	m.covers = false
	m.joined()
	m.last = last
	return true
}

// begins notes where undo goes back to.
func (m *Modal) begins() {
	m.e.moved()
	m.e.saved()
	m.before = m.e.text
}

// joined makes one step of undo of all that was done since begins.
func (m *Modal) joined() {
	e := m.e
	for i := len(e.undo) - 1; i >= 0; i-- {
		if e.undo[i].text == m.before {
			e.undo = e.undo[:i+1]
			return
		}
	}
}

// types repeats the text that was typed after a command.
func (m *Modal) types(c change) {
	for _, do := range c.typed {
		if m.covers {
			m.cover(do)
		} else {
			do(m.e)
		}
	}
}

// more repeats what was typed: with a count of n, n-1 more times.
func (m *Modal) more(c change) {
	if !c.repeats() || len(c.typed) == 0 {
		return
	}
	for range c.times() - 1 {
		if len(m.e.text) > maxGrown {
			return
		}
		if a := actions[c.name]; a.opens {
			a.do(m, command{name: c.name})
		}
		m.types(c)
	}
}

// Redo does again what u took back.
func (m *Modal) Redo() { m.keys, m.visual = nil, ""; m.e.Redo(); m.Rests() }
