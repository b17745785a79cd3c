package editor

import (
	"strings"
	"unicode"
)

// This file has vi's operators.

// part is the text that an operator is applied to: from up to to, or the whole lines of
// these. caret is where the caret goes.
type part struct {
	from, to int
	lines    bool
	caret    int
}

var operators map[string]func(m *Modal, p part, c command)

func init() {
	operators = map[string]func(*Modal, part, command){
		"d": (*Modal).erase, "c": (*Modal).erase, "y": (*Modal).yank,
		">": (*Modal).shift, "<": (*Modal).shift,
		"gu": mapLetters(unicode.ToLower), "gU": mapLetters(unicode.ToUpper), "g~": mapLetters(swapCase),
	}
}

// part returns the text that a command's operator is applied to; false if there is none.
func (m *Modal) part(c command) (part, bool) {
	e := m.e
	switch {
	case c.name == "":
		return m.samePart(c.over), true
	case (c.name[0] == 'i' || c.name[0] == 'a') && len(c.name) > 1:
		of, ok := objects[c.name[1:]](e, e.caret, e.caret, c.times(), c.name[0] == 'a')
		return m.toPart(of, c.op), ok
	}
	mo := motions[c.name]
	of := selection{from: e.caret, reach: mo.reach}
	var ok bool
	if c.op == "c" && (c.name == "w" || c.name == "W") && class(e.text[e.caret:]) > 0 { // cw leaves the blank after the word
		of.to, ok, of.reach = e.caret, true, inclusive
		for n := range c.times() {
			of.to, _ = e.wordEnd(of.to, c.name == "W", n == 0, false)
		}
	} else {
		of.to, ok = mo.to(m, c)
	}
	if c.name == ";" || c.name == "," {
		if name := m.repeatedSearch(c.name); name == "F" || name == "T" {
			of.reach = exclusive
		}
	}
	return m.toPart(of, c.op), ok
}

// toPart turns a selection into a part, with vim's exceptions. An exclusive selection that
// ends at the beginning of a line ends with the previous line, and is of whole lines if only
// blanks are before it. So is what d erases in several lines with only blanks around it.
func (m *Modal) toPart(of selection, op string) part {
	e := m.e
	from, to := of.from, of.to
	if from > to {
		from, to = to, from
	}
	p := part{from: from, to: to, caret: from, lines: of.reach == linewise}
	if p.lines {
		return p
	}
	if of.reach == inclusive && !e.ends(to) {
		p.to = e.after(to)
	}
	indent := from <= e.textStart(e.startOf(from))
	if of.reach == exclusive && to > from && to == e.startOf(to) {
		p.to--
		if p.lines = indent; p.lines {
			return p
		}
	}
	if op == "d" && indent && strings.Contains(e.text[p.from:p.to], "\n") && strings.Trim(e.text[p.to:e.endOf(p.to)], " \t") == "" {
		p.lines = true
	}
	return p
}

// wholeLines returns the range of a part's lines.
func (e *Editor) wholeLines(p part) (from, to int) { return e.startOf(p.from), e.endOf(p.to) }

func (m *Modal) yank(p part, c command) {
	e := m.e
	from, to := p.from, p.to
	if p.lines {
		from, to = e.wholeLines(p)
	}
	m.setRegister(e.text[from:to], p.lines, c, true)
	e.moved()
	e.caret = p.caret
}

func (m *Modal) erase(p part, c command) {
	e := m.e
	from, to := p.from, p.to
	if p.lines {
		from, to = e.wholeLines(p)
	}
	if from == to && (!p.lines || e.text == "") {
		e.caret = from
		return
	}
	m.setRegister(e.text[from:to], p.lines, c, false)
	e.beforeChange()
	switch {
	case !p.lines || c.op == "c":
	case to < len(e.text):
		to++
	case from > 0:
		from--
	}
	e.text = e.text[:from] + e.text[to:]
	if e.caret = min(from, len(e.text)); p.lines && c.op == "d" {
		e.caret = e.textStart(e.lineStart())
	}
}

// indent is what > puts before a line: the width of a tab as it is shown.
const indent = "    "

func (m *Modal) shift(p part, c command) {
	e := m.e
	from, to := e.wholeLines(p)
	times := 1
	if c.name == "" {
		times = c.times()
	}
	lines := strings.Split(e.text[from:to], "\n")
	for i, l := range lines {
		if l == "" {
			continue
		}
		text := strings.TrimLeft(l, " \t")
		width := len(strings.ReplaceAll(l[:len(l)-len(text)], "\t", indent))
		if c.op == ">" {
			width += times * len(indent)
		} else {
			width = max(0, width-times*len(indent))
		}
		lines[i] = strings.Repeat(" ", width) + text
	}
	e.beforeChange()
	e.text = e.text[:from] + strings.Join(lines, "\n") + e.text[to:]
	e.caret = e.textStart(from)
}

// mapLetters returns an operator that maps each rune.
func mapLetters(of func(rune) rune) func(*Modal, part, command) {
	return func(m *Modal, p part, _ command) {
		e := m.e
		from, to := p.from, p.to
		if p.lines {
			from, to = e.wholeLines(p)
		}
		e.beforeChange()
		e.text = e.text[:from] + strings.Map(of, e.text[from:to]) + e.text[to:]
		e.caret = p.caret
		for e.caret > from && e.before(e.after(e.caret)) != e.caret { // a letter's size may have changed
			e.caret--
		}
	}
}

func swapCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// setRegister stores a text in a command's register and for Ctrl+Y. An upper case letter
// appends to the register.
func (m *Modal) setRegister(text string, lines bool, c command, copied bool) {
	k := &m.e.kills
	if c.register == "_" {
		return
	}
	if k.registers == nil {
		k.registers = map[string]register{}
	}
	if lines {
		text += "\n"
	}
	r := register{text, lines}
	name := strings.ToLower(c.register)
	if name != c.register {
		old := k.registers[name]
		if r.lines && !old.lines && old.text != "" {
			old.text += "\n"
		}
		if r = (register{old.text + r.text, old.lines || r.lines}); old.lines && !lines {
			r.text += "\n"
		}
	}
	switch {
	case name != "" && name != `"`:
		k.registers[name] = r
	case copied:
		k.registers["0"] = r
	}
	k.registers[`"`] = r
	k.add(r.text, false, false)
}

// getRegister returns a register; without a name the text that was erased or copied last,
// by any key.
func (m *Modal) getRegister(name string) (register, bool) {
	k := &m.e.kills
	if name = strings.ToLower(name); name != "" && name != `"` {
		r, ok := k.registers[name]
		return r, ok && name != "_"
	}
	if len(k.texts) == 0 {
		return register{}, false
	}
	text := k.texts[len(k.texts)-1]
	if r := k.registers[`"`]; r.text == text {
		return r, true
	}
	return register{text: text}, true
}

// put inserts a register: lines below (p) or above (P) the caret's line, other text after
// or before the caret.
func (m *Modal) put(c command) bool {
	e := m.e
	r, ok := m.getRegister(c.register)
	if !ok || r.text == "" {
		return false
	}
	behind := c.name == "p"
	text := strings.Repeat(r.text, min(c.times(), max(1, maxReplay/len(r.text))))
	e.beforeChange()
	if !r.lines {
		if behind && !e.ends(e.caret) {
			e.caret = e.after(e.caret)
		}
		at := e.caret
		if e.insert(text); strings.Contains(text, "\n") {
			e.caret = at
		} else {
			e.caret = e.before(e.caret)
		}
		return true
	}
	at := e.lineStart()
	if behind {
		at = e.lineEnd()
	}
	switch {
	case at < len(e.text) && behind:
		at++
		fallthrough
	case !behind:
		e.text = e.text[:at] + text + e.text[at:]
	default: // the last line ends without a newline
		e.text += "\n" + strings.TrimSuffix(text, "\n")
		at++
	}
	e.caret = e.textStart(at)
	return true
}
