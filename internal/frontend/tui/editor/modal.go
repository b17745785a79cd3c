package editor

import "strings"

// Modal edits an Editor's text with vi's key bindings. It begins in insert mode. Commands
// do what vim does; a character is a grapheme cluster.
//
// It promises that Escape loses no text and does one thing at a time. If there is nothing
// to do, it reports false, so that the caller may use the key for something else.
type Modal struct {
	e          *Editor
	normal     bool
	keys       []string // of the unfinished command
	lastSearch charSearch

	visual     string // "v": characters are selected, "V": lines; "": nothing
	anchor     int    // the other end of the selection
	visualText string // the text when visual mode began

	last        change   // for .
	current     change   // whose text is being typed
	recording   bool     // what is typed in insert mode is added to current
	before      string   // the text before current, for undo
	replaced    []string // the characters that replace mode has replaced
	replaceMode bool     // insert mode types over the text
}

// change is a command that changed the text, with the text typed after it.
type change struct {
	command
	typed []func(*Editor)
}

// endOfRows is a goal column that keeps up and down at the ends of rows.
const endOfRows = 1 << 30

// maxReplay limits the text that a count repeats, in bytes, so that a typing error does not
// fill the memory.
const maxReplay = 1 << 20

// NewModal returns a Modal in insert mode.
func NewModal(e *Editor) *Modal { return &Modal{e: e} }

// Mode returns insert, replace, normal, visual or visual line.
func (m *Modal) Mode() string {
	switch {
	case m.normal && m.hasSelection() && m.visual == "V":
		return "visual line"
	case m.normal && m.visual != "":
		return "visual"
	case m.normal:
		return "normal"
	case m.replaceMode:
		return "replace"
	}
	return "insert"
}

// Normal reports whether keys are commands, as in normal and visual mode.
func (m *Modal) Normal() bool { return m.normal }

// Pending returns the typed part of an unfinished command, such as 2d.
func (m *Modal) Pending() string { return strings.Join(m.keys, "") }

// InsertMode switches to insert mode. An unfinished command is dropped.
func (m *Modal) InsertMode() {
	m.keys, m.visual = nil, ""
	m.normal, m.recording, m.replaceMode = false, false, false
	m.FixCaret()
}

// Escape drops an unfinished command, or the selection, or switches to normal mode. It
// reports whether it did one of these.
func (m *Modal) Escape() bool {
	e := m.e
	switch {
	case len(m.keys) > 0:
		m.keys = nil
	case m.normal && m.hasSelection():
		m.visual = ""
		m.FixCaret()
	case m.normal:
		return false
	default:
		if m.recording {
			m.replayRest(m.current)
			m.last, m.recording = m.current, false
			m.endUndoStep()
		}
		e.moved()
		m.normal, m.replaceMode = true, false
		if e.caret > e.lineStart() {
			e.caret = e.before(e.caret)
		}
	}
	return true
}

// FixCaret must be called after the caller moved the caret or changed the text: the caret
// goes onto a character, in normal mode not after a line's last one, and the shown selection
// is updated.
func (m *Modal) FixCaret() {
	e := m.e
	e.caret = e.onCharacter(e.caret)
	e.selectedRange = row{}
	if m.hasSelection() {
		m.anchor = e.onCharacter(m.anchor)
		e.selectedRange.from, e.selectedRange.to = m.selection()
		return
	}
	if m.normal && e.caret > e.lineStart() && e.caret == e.lineEnd() {
		e.caret = e.before(e.caret)
	}
}

// Insert applies what a key or a paste does in insert mode.
func (m *Modal) Insert(do func(*Editor)) {
	if m.recording {
		m.current.typed = append(m.current.typed, do)
	}
	if m.replaceMode && !m.normal {
		m.typeOver(do)
		return
	}
	do(m.e)
}

// Command handles a key in normal mode, with rows of that many columns. It reports false
// if the keys are not the beginning of a command.
func (m *Modal) Command(key string, columns int) bool {
	visual := m.hasSelection()
	m.keys = append(m.keys, key)
	c, state := parse(m.keys, visual)
	if state == begun {
		return true
	}
	m.keys = nil
	if state == complete {
		m.e.kills.reset()
		if visual {
			m.runVisual(c, columns)
		} else {
			m.runNormal(c, columns)
		}
	}
	m.FixCaret()
	return state == complete
}

// runNormal runs a command of normal mode.
func (m *Modal) runNormal(c command, columns int) {
	switch a := actions[c.name]; {
	case c.op == "y":
		m.execute(c)
	case c.op != "" || a.changes:
		m.runChange(c)
	case a.do != nil:
		a.do(m, c)
	default:
		m.moveCaret(c, columns)
	}
}

// moveCaret carries out a motion. Up and down move by rows of the screen and, unless
// something is selected, on to older and newer entries of the history.
func (m *Modal) moveCaret(c command, columns int) {
	e := m.e
	if c.name != "j" && c.name != "k" {
		to, ok := motions[c.name].to(m, c)
		if !ok {
			return
		}
		e.moved()
		if e.caret = to; c.name == "$" {
			e.goalColumn = endOfRows
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

// runChange runs a command that changes the text, as one undo step.
func (m *Modal) runChange(c command) {
	m.startUndoStep()
	first := c
	if c.repeats() {
		first.count = 0 // the count is for Escape, see replayRest
	}
	switch done := m.execute(first); {
	case done && c.inserts():
		m.current, m.recording, m.normal = change{command: c}, true, false
		return
	case done:
		m.last = change{command: c}
	}
	m.endUndoStep()
}

// execute runs an operator or an action, and reports whether it was possible.
func (m *Modal) execute(c command) bool {
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

// repeatLast repeats the last change, with another count if one is given.
func (m *Modal) repeatLast(c command) bool {
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
	m.startUndoStep()
	m.execute(first)
	m.replay(last)
	m.replayRest(last)
	if e := m.e; last.inserts() && e.caret > e.lineStart() {
		e.caret = e.before(e.caret)
	}
	m.replaceMode = false
	m.endUndoStep()
	m.last = last
	return true
}

// startUndoStep makes the present text the one that undo goes back to.
func (m *Modal) startUndoStep() {
	m.e.moved()
	m.e.pushUndo()
	m.before = m.e.text
}

// endUndoStep makes all changes since startUndoStep one undo step.
func (m *Modal) endUndoStep() {
	e := m.e
	for i := len(e.undo) - 1; i >= 0; i-- {
		if e.undo[i].text == m.before {
			e.undo = e.undo[:i+1]
			return
		}
	}
}

// replay repeats what was typed in insert mode after a command.
func (m *Modal) replay(c change) {
	for _, do := range c.typed {
		if m.replaceMode {
			m.typeOver(do)
		} else {
			do(m.e)
		}
	}
}

// replayRest repeats what was typed n-1 times, for a count of n.
func (m *Modal) replayRest(c change) {
	if !c.repeats() || len(c.typed) == 0 {
		return
	}
	for range c.times() - 1 {
		if len(m.e.text) > maxReplay {
			return
		}
		if a := actions[c.name]; a.repeatsSelf {
			a.do(m, command{name: c.name})
		}
		m.replay(c)
	}
}

// Redo repeats what u undid.
func (m *Modal) Redo() { m.keys, m.visual = nil, ""; m.e.Redo(); m.FixCaret() }
