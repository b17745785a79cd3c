package editor

import "strings"

// Modal edits an Editor's text with vi's most used keys. It begins in insert mode. A
// character is a grapheme cluster. For all that vi can, the text goes to the person's own
// editor.
//
// It promises that Escape loses no text and does one thing at a time. If there is nothing
// to do, it reports false, so that the caller may use the key for something else.
type Modal struct {
	e         *Editor
	normal    bool
	keys      []string // of the unfinished command
	found     command  // the last search in a line, for ; and ,
	last      change   // for .
	current   change   // whose text is being typed
	recording bool     // what is typed in insert mode is added to current
	before    string   // the text before current, for undo
}

// command is a command of normal mode.
type command struct {
	count    int    // 0: none was given
	op, name string // an operator, "" for none; a motion, an object (i or a) or an action
	arg      string // the character for f, t and r; the object's name
}

func (c command) times() int { return max(1, c.count) }

func (c command) inserts() bool { return c.op == "c" || c.op == "" && inserts[c.name] != nil }

// change is a command that changed the text, with the text typed after it.
type change struct {
	command
	typed []func(*Editor)
}

const (
	maxCount  = 1000    // so that a typing error does not fill the memory
	maxReplay = 1 << 20 // in bytes, likewise
	endOfRows = 1 << 30 // a goal column that keeps up and down at the ends of rows
)

// NewModal returns a Modal in insert mode.
func NewModal(e *Editor) *Modal { return &Modal{e: e} }

// Normal reports whether keys are commands.
func (m *Modal) Normal() bool { return m.normal }

// Pending returns the typed part of an unfinished command, such as 2d.
func (m *Modal) Pending() string { return strings.Join(m.keys, "") }

// InsertMode switches to insert mode. An unfinished command is dropped.
func (m *Modal) InsertMode() { m.keys, m.normal, m.recording = nil, false, false }

// Escape drops an unfinished command, or switches to normal mode. It reports whether it did
// one of these.
func (m *Modal) Escape() bool {
	e := m.e
	switch {
	case len(m.keys) > 0:
		m.keys = nil
	case m.normal:
		return false
	default:
		if m.recording {
			m.last, m.recording = m.current, false
			m.endUndoStep()
		}
		e.moved()
		if m.normal = true; e.caret > e.lineStart() {
			e.caret = e.before(e.caret)
		}
	}
	return true
}

// FixCaret must be called after the caller moved the caret or changed the text: the caret
// goes onto a character, in normal mode not after a line's last one.
func (m *Modal) FixCaret() {
	e := m.e
	e.caret = e.onCharacter(e.caret)
	if m.normal && e.caret > e.lineStart() && e.caret == e.lineEnd() {
		e.caret = e.before(e.caret)
	}
}

// Insert applies what a key or a paste does in insert mode.
func (m *Modal) Insert(do func(*Editor)) {
	if m.recording {
		m.current.typed = append(m.current.typed, do)
	}
	do(m.e)
}

// Redo repeats what u undid.
func (m *Modal) Redo() { m.keys = nil; m.e.Redo(); m.FixCaret() }

// Command handles a key in normal mode, with rows of that many columns. It reports false
// if the keys are not the beginning of a command.
func (m *Modal) Command(key string, columns int) bool {
	m.keys = append(m.keys, key)
	c, whole, known := parse(m.keys)
	if known && !whole {
		return true
	}
	if m.keys = nil; !known {
		return false
	}
	m.e.kills.reset()
	switch {
	case c.name == "u":
		for range c.times() {
			m.e.Undo()
		}
	case c.name == ".":
		m.repeatLast(c)
	case c.name == "/":
		m.e.Search()
	case c.op == "y":
		m.execute(c)
	case c.op == "" && motions[c.name] != nil:
		m.moveCaret(c, columns)
	default:
		m.runChange(c)
	}
	m.FixCaret()
	return true
}

// short are the keys that stand for an operator with a motion.
var short = map[string][2]string{"x": {"d", "l"}, "X": {"d", "h"}, "D": {"d", "$"}, "C": {"c", "$"}, "s": {"c", "l"}, "S": {"c", "_"}, "Y": {"y", "_"}}

// parse parses the keys of a command; whole is false if more keys must follow:
//
//	command = [count] ( action | motion | operator [count] ( motion | object | the operator again ) )
func parse(keys []string) (c command, whole, known bool) {
	next := func() (k string) {
		if len(keys) > 0 {
			k, keys = keys[0], keys[1:]
		}
		return k
	}
	count := func() string {
		k, n := next(), 0
		for ; len(k) == 1 && k[0] >= '0' && k[0] <= '9' && (k != "0" || n > 0); k = next() {
			n = min(n*10+int(k[0]-'0'), maxCount)
		}
		if n > 0 {
			c.count = min(c.times()*n, maxCount)
		}
		return k
	}
	if c.name = count(); c.name == "d" || c.name == "c" || c.name == "y" {
		c.op = c.name
		if c.name = count(); c.name == c.op {
			c.name = "_"
		}
	}
	if c.name == "g" {
		c.name += next()
	}
	object := c.op != "" && (c.name == "i" || c.name == "a")
	takes := object || strings.Contains("fFtTr", c.name)
	if takes {
		c.arg = next()
	}
	if c.name == "" || c.name == "g" || takes && c.arg == "" {
		return c, false, true
	}
	if is, ok := short[c.name]; ok && c.op == "" {
		c.op, c.name = is[0], is[1]
	}
	switch {
	case object:
		known = strings.Contains("wW\"'`(b)[]{B}<>", c.arg)
	case motions[c.name] != nil:
		known = true
	default:
		known = c.op == "" && (inserts[c.name] != nil || edits[c.name] != nil || strings.Contains("u./", c.name))
	}
	return c, true, known
}

// moveCaret carries out a motion. Up and down move by rows of the screen, and on to older
// and newer entries of the history.
func (m *Modal) moveCaret(c command, columns int) {
	e := m.e
	if c.name != "j" && c.name != "k" {
		if to, ok := motions[c.name](m, c); ok {
			e.moved()
			if e.caret = to; c.name == "$" {
				e.goalColumn = endOfRows
			}
		}
		return
	}
	step, beyond := e.Down, e.Newer
	if c.name == "k" {
		step, beyond = e.Up, e.Older
	}
	for range c.times() {
		if !step(columns) {
			beyond()
			return
		}
	}
}

// runChange runs a command that changes the text, as one undo step.
func (m *Modal) runChange(c command) {
	m.startUndoStep()
	switch done := m.execute(c); {
	case done && c.inserts():
		m.current, m.recording, m.normal = change{command: c}, true, false
		return
	case done:
		m.last = change{command: c}
	}
	m.endUndoStep()
}

// repeatLast repeats the last change, with another count if one is given.
func (m *Modal) repeatLast(c command) {
	if m.last.name == "" {
		return
	}
	if c.count > 0 {
		m.last.count = c.count
	}
	m.startUndoStep()
	m.execute(m.last.command)
	for _, do := range m.last.typed {
		do(m.e)
	}
	if e := m.e; m.last.inserts() && e.caret > e.lineStart() {
		e.caret = e.before(e.caret)
	}
	m.endUndoStep()
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

// execute runs an operator or an action, and reports whether it was possible.
func (m *Modal) execute(c command) bool {
	if c.op != "" {
		return m.operate(c)
	}
	if do := inserts[c.name]; do != nil {
		do(m.e)
		return true
	}
	return edits[c.name](m.e, c)
}

// operate erases (d, c) or copies (y) what a motion or an object selects. What was erased or
// copied whole lines of ends with a newline.
func (m *Modal) operate(c command) bool {
	e := m.e
	from, to, lines, ok := m.part(c)
	if !ok {
		return false
	}
	caret := from
	if lines {
		from, to = e.startOf(from), e.endOf(to)
	}
	if text := e.text[from:to]; lines {
		e.kills.add(text+"\n", false, false)
	} else if text != "" {
		e.kills.add(text, false, false)
	}
	if c.op == "y" {
		e.moved()
		e.caret = caret
		return true
	}
	e.beforeChange()
	switch {
	case !lines || c.op == "c":
	case to < len(e.text):
		to++
	case from > 0:
		from--
	}
	e.text = e.text[:from] + e.text[to:]
	if e.caret = min(from, len(e.text)); lines && c.op == "d" {
		e.caret = e.textStart(e.lineStart())
	}
	return true
}

// part returns what a command's operator is applied to, or the lines of that.
func (m *Modal) part(c command) (from, to int, lines, ok bool) {
	e := m.e
	if c.name == "i" || c.name == "a" {
		from, to, ok = e.object(c.arg, c.name == "a")
		return from, to, false, ok
	}
	if c.op == "c" && (c.name == "w" || c.name == "W") && class(e.text[e.caret:]) > 0 { // cw leaves the blank after the word
		to = e.caret
		for n := range c.times() {
			to = e.wordEnd(to, c.name == "W", n == 0)
		}
		return e.caret, e.after(to), false, true
	}
	to, ok = motions[c.name](m, c)
	if from = e.caret; from > to {
		from, to = to, from
	} else if (strings.Contains("eE$ft", c.name) || to > from && strings.Contains(";,", c.name)) && !e.ends(to) { // with the character there
		to = e.after(to)
	}
	return from, to, c.name == "_" || c.name == "j" || c.name == "k" || c.name == "G" || c.name == "gg", ok
}

// inserts are the actions that insert mode follows.
var inserts = map[string]func(e *Editor){
	"i": func(*Editor) {}, "a": func(e *Editor) { e.caret = e.right(e.caret) },
	"A": func(e *Editor) { e.caret = e.lineEnd() },
	"I": func(e *Editor) { e.caret = e.textStart(e.lineStart()) },
	"o": func(e *Editor) { e.caret = e.lineEnd(); e.beforeChange(); e.insert("\n") },
	"O": func(e *Editor) { e.caret = e.lineStart(); e.beforeChange(); e.insert("\n"); e.caret-- },
}

// edits are the other actions that change the text. They report whether they were possible.
var edits = map[string]func(e *Editor, c command) bool{
	"p": (*Editor).put, "P": (*Editor).put, "r": (*Editor).replaceChars, "J": (*Editor).joinLines, "~": (*Editor).swapCases,
}

// put inserts the text that was erased or copied last: lines below (p) or above (P) the
// caret's line, other text after or before the caret.
func (e *Editor) put(c command) bool {
	if len(e.kills.texts) == 0 {
		return false
	}
	text := e.kills.texts[len(e.kills.texts)-1]
	text = strings.Repeat(text, min(c.times(), max(1, maxReplay/len(text))))
	e.beforeChange()
	if !strings.HasSuffix(text, "\n") {
		if c.name == "p" {
			e.caret = e.right(e.caret)
		}
		e.insert(text)
		e.caret = e.before(e.caret)
		return true
	}
	at := e.lineStart()
	if c.name == "p" {
		if at = e.lineEnd(); at == len(e.text) { // the last line ends without a newline
			e.text += "\n"
			text = strings.TrimSuffix(text, "\n")
		}
		at++
	}
	e.text = e.text[:at] + text + e.text[at:]
	e.caret = e.textStart(at)
	return true
}

// replaceChars replaces as many characters as the count by c.arg, if the line has them.
func (e *Editor) replaceChars(c command) bool {
	to := e.caret
	for range c.times() {
		if e.ends(to) {
			return false
		}
		to = e.after(to)
	}
	e.beforeChange()
	char := sanitize(c.arg)
	e.text = e.text[:e.caret] + strings.Repeat(char, c.times()) + e.text[to:]
	e.caret += len(char) * (c.times() - 1)
	return true
}

// joinLines joins as many lines as the count, at least 2.
func (e *Editor) joinLines(c command) bool {
	if e.lineEnd() == len(e.text) {
		return false
	}
	e.beforeChange()
	for n := max(2, c.times()); n > 1 && e.lineEnd() < len(e.text); n-- {
		at := e.lineEnd()
		rest := e.textStart(at + 1)
		space := " "
		if e.ends(rest) || e.text[rest] == ')' || at == e.lineStart() || strings.HasSuffix(e.text[:at], " ") {
			space = ""
		}
		e.text = e.text[:at] + space + e.text[rest:]
		e.caret = at
	}
	return true
}

// swapCases swaps upper and lower case from the caret on.
func (e *Editor) swapCases(c command) bool {
	e.beforeChange()
	for n := c.times(); n > 0 && !e.ends(e.caret); n-- {
		old := e.text[e.caret:e.after(e.caret)]
		char := strings.ToUpper(old)
		if char == old {
			char = strings.ToLower(old)
		}
		e.text = e.text[:e.caret] + char + e.text[e.caret+len(old):]
		e.caret += len(char)
	}
	return true
}
