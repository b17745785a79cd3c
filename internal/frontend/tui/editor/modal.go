package editor

import "strings"

// Modal has the keys of vi change an Editor's text. It begins in insert mode,
// where keys type; in normal mode they are commands.
//
// It promises that Escape does one thing at a time: it reports whether it had
// something to do, so that who has nothing to leave may use the key for
// something else. What was typed is never lost by it.
type Modal struct {
	e      *Editor
	normal bool

	// The command that is being typed.
	count   int    // before the operator, 0 for none
	op      string // d, c, y or r; "" for none
	counted int    // behind the operator
	keys    string // all of it, to be shown

	last   change // for .
	now    change // that is being typed
	typing bool   // keys of insert mode belong to now
	before string // the text that undo goes back to
}

// change is a command that changed the text, with what was typed behind it.
type change struct {
	command func(count int)
	count   int
	typed   []func(*Editor)
	inserts bool
	repeats bool // what was typed is repeated by the count
	opens   bool // and so is the command
}

// A slip of the finger does not fill the memory: these limit a count, and the
// size of a text that is still repeated.
const (
	maxRepeat = 1000
	maxGrown  = 1 << 20
)

// NewModal has the keys of vi change a text.
func NewModal(e *Editor) *Modal { return &Modal{e: e} }

// Normal reports whether keys are commands.
func (m *Modal) Normal() bool { return m.normal }

// Pending is the part of a command that was typed, such as 2d.
func (m *Modal) Pending() string { return m.keys }

// Begin goes back to insert mode, for another text.
func (m *Modal) Begin() { m.drop(); m.normal, m.typing = false, false }

// drop forgets what was typed of a command.
func (m *Modal) drop() { m.count, m.op, m.counted, m.keys = 0, "", 0, "" }

// Escape drops a command that is not whole, else goes to normal mode, and
// reports whether it did either.
func (m *Modal) Escape() bool {
	switch {
	case m.keys != "":
		m.drop()
		return true
	case m.normal:
		return false
	}
	e := m.e
	if m.typing {
		m.now.more(e)
		m.last, m.typing = m.now, false
		m.joined()
	}
	e.moved()
	m.normal = true
	if e.caret > e.lineStart() {
		e.caret = e.before(e.caret)
	}
	return true
}

// types does what was typed.
func (c change) types(e *Editor) {
	for _, do := range c.typed {
		do(e)
	}
}

// more repeats what was typed as many times as the count.
func (c change) more(e *Editor) {
	if !c.repeats || len(c.typed) == 0 {
		return
	}
	for range c.count - 1 {
		if len(e.text) > maxGrown {
			return
		}
		if c.opens {
			c.command(1)
		}
		c.types(e)
	}
}

// Insert does what a key or a paste does to the text in insert mode.
func (m *Modal) Insert(do func(*Editor)) {
	do(m.e)
	if m.typing {
		m.now.typed = append(m.now.typed, do)
	}
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

// begins notes where undo goes back to.
func (m *Modal) begins() {
	m.e.moved()
	m.e.saved()
	m.before = m.e.text
}

// Command does what a key means in normal mode, in a window of that many
// columns, and reports whether it means anything.
func (m *Modal) Command(key string, columns int) bool {
	e := m.e
	m.keys += key
	if m.op == "r" {
		m.replace(key)
		return true
	}
	if m.digit(key) {
		return true
	}
	if m.op != "" {
		known := m.operate(key)
		m.drop()
		m.Rests()
		return known
	}
	if strings.Contains("dcyr", key) {
		m.op = key
		return true
	}
	count := max(1, m.count)
	given := m.count
	m.drop()
	e.kills.rests()
	known := m.moves(key, count, columns)
	if !known {
		if cmd, inserts := m.commands(key); cmd != nil {
			known = true
			m.does(change{command: cmd, count: count, inserts: inserts, repeats: strings.Contains("iaAIoO", key), opens: strings.Contains("oO", key)})
		}
	}
	switch {
	case known:
	case key == "u":
		for range count {
			e.Undo()
		}
		known = true
	case key == ".":
		m.again(given)
		known = true
	}
	m.Rests()
	return known
}

// Redo does again what u took back.
func (m *Modal) Redo() { m.drop(); m.e.Redo(); m.Rests() }

// digit takes a digit of a count. A 0 that begins none is a movement.
func (m *Modal) digit(key string) bool {
	if len(key) != 1 || key[0] < '0' || key[0] > '9' {
		return false
	}
	of := &m.count
	if m.op != "" {
		of = &m.counted
	}
	if key == "0" && *of == 0 {
		return false
	}
	*of = min(*of*10+int(key[0]-'0'), maxRepeat)
	return true
}

// Rests puts the caret on a character, as it stands in normal mode: behind the
// last one of a line there is none.
func (m *Modal) Rests() {
	e := m.e
	if m.normal && e.caret > e.lineStart() && e.caret == e.lineEnd() {
		e.caret = e.before(e.caret)
	}
}

// moves moves the caret, and reports whether the key is a movement.
func (m *Modal) moves(key string, count, columns int) bool {
	e := m.e
	if key == "j" || key == "k" {
		for range count {
			switch {
			case key == "k" && !e.Up(columns):
				e.Older()
				return true
			case key == "j" && !e.Down(columns):
				e.Newer()
				return true
			}
		}
		return true
	}
	to, ok := m.target(key, count)
	if ok {
		e.moved()
		e.caret = to
	}
	return ok
}

// target is where a movement within the text leads.
func (m *Modal) target(key string, count int) (to int, ok bool) {
	e := m.e
	to = e.caret
	switch key {
	case "0":
		return e.lineStart(), true
	case "^":
		return e.textStart(e.lineStart()), true
	case "$":
		for range count - 1 {
			if n := strings.IndexByte(e.text[to:], '\n'); n >= 0 {
				to += n + 1
			}
		}
		return e.endOf(to), true
	case "G":
		return e.textStart(strings.LastIndexByte(e.text, '\n') + 1), true
	}
	step := map[string]func(int) int{
		"h": func(at int) int {
			if at > e.startOf(at) {
				return e.before(at)
			}
			return at
		},
		"l": func(at int) int {
			if at < e.endOf(at) {
				return at + next(e.text[at:])
			}
			return at
		},
		"w": e.nextWord, "b": e.lastWord, "e": e.wordEnd,
	}[key]
	if step == nil {
		return to, false
	}
	for range count {
		to = step(to)
	}
	return to, true
}

// operate does d, c or y over what a movement passes.
func (m *Modal) operate(key string) bool {
	op := m.op
	count := min(max(1, m.count)*max(1, m.counted), maxRepeat)
	var command func(int)
	switch {
	case key == op || key == "j" || key == "k":
		command = func(n int) { m.lines(op, key, n) }
	default:
		if _, ok := m.target(key, 1); !ok {
			return false
		}
		command = func(n int) { m.span(op, key, n) }
	}
	if op == "y" {
		command(count)
		return true
	}
	m.does(change{command: command, count: count, inserts: op == "c"})
	return true
}

// does carries out a command that changes the text.
func (m *Modal) does(c change) {
	m.begins()
	c.command(c.times())
	if c.inserts {
		m.now, m.typing, m.normal = c, true, false
		return
	}
	m.joined()
	m.last = c
}

// times is what a command itself does with its count: what is typed behind it is
// repeated by Escape.
func (c change) times() int {
	if c.repeats {
		return 1
	}
	return c.count
}

// again repeats the last change, with another count if one is given.
func (m *Modal) again(count int) {
	c := m.last
	if c.command == nil {
		return
	}
	if count > 0 {
		c.count = count
	}
	m.begins()
	c.command(c.times())
	c.types(m.e)
	c.more(m.e)
	if e := m.e; c.inserts && e.caret > e.lineStart() {
		e.caret = e.before(e.caret)
	}
	m.joined()
	m.last = c
}

// commands are those of one key that change the text; inserts reports whether
// text follows.
func (m *Modal) commands(key string) (cmd func(count int), inserts bool) {
	e := m.e
	switch key {
	case "i":
		return func(int) {}, true
	case "a":
		return func(int) {
			if e.caret < e.lineEnd() {
				e.caret += next(e.text[e.caret:])
			}
		}, true
	case "A":
		return func(int) { e.caret = e.lineEnd() }, true
	case "I":
		return func(int) { e.caret = e.textStart(e.lineStart()) }, true
	case "o":
		return func(int) { e.caret = e.lineEnd(); e.change(); e.insert("\n") }, true
	case "O":
		return func(int) {
			e.caret = e.lineStart()
			e.change()
			e.insert("\n")
			e.caret--
		}, true
	case "x":
		return func(n int) { m.span("d", "l", n) }, false
	case "X":
		return func(n int) { m.span("d", "h", n) }, false
	case "D":
		return func(n int) { m.span("d", "$", n) }, false
	case "C":
		return func(n int) { m.span("c", "$", n) }, true
	case "p":
		return func(n int) { m.puts(n, true) }, false
	case "P":
		return func(n int) { m.puts(n, false) }, false
	}
	return nil, false
}
