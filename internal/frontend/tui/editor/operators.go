package editor

import (
	"strings"
	"unicode"
)

// This file is what the operators of vi do to a part of a text.

// part is what an operator works on: whole lines, or from its first byte up to
// its last one. at is where the caret goes.
type part struct {
	from, to int
	lines    bool
	at       int
}

var operators map[string]func(m *Modal, p part, c command)

func init() {
	operators = map[string]func(*Modal, part, command){
		"d": (*Modal).erases, "c": (*Modal).erases, "y": (*Modal).copies,
		">": (*Modal).indents, "<": (*Modal).indents,
		"gu": letters(unicode.ToLower), "gU": letters(unicode.ToUpper), "g~": letters(otherCase),
	}
}

// part is what a command's operator works on.
func (m *Modal) part(c command) (part, bool) {
	e := m.e
	switch {
	case c.name == "":
		return m.repeated(c.over), true
	case (c.name[0] == 'i' || c.name[0] == 'a') && len(c.name) > 1:
		of, ok := objects[c.name[1:]](e, e.caret, e.caret, c.times(), c.name[0] == 'a')
		return m.fitted(of, c.op), ok
	}
	mo := motions[c.name]
	of := selection{from: e.caret, reach: mo.reach}
	var ok bool
	if c.op == "c" && (c.name == "w" || c.name == "W") && class(e.text[e.caret:]) > 0 { // the blank after the word stays
		of.to, ok, of.reach = e.caret, true, inclusive
		for n := range c.times() {
			of.to, _ = e.wordEnd(of.to, c.name == "W", n == 0, false)
		}
	} else {
		of.to, ok = mo.to(m, c)
	}
	if c.name == ";" || c.name == "," {
		if name := m.search(c.name); name == "F" || name == "T" {
			of.reach = exclusive
		}
	}
	return m.fitted(of, c.op), ok
}

// fitted is a selection as operators take it. One that would end at the
// beginning of a line ends with the line before it, and is of whole lines where
// nothing but blanks of its first line is left.
func (m *Modal) fitted(of selection, op string) part {
	e := m.e
	from, to := of.from, of.to
	if from > to {
		from, to = to, from
	}
	p := part{from: from, to: to, at: from, lines: of.reach == linewise}
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

// whole are the lines of a part.
func (e *Editor) whole(p part) (from, to int) { return e.startOf(p.from), e.endOf(p.to) }

func (m *Modal) copies(p part, c command) {
	e := m.e
	from, to := p.from, p.to
	if p.lines {
		from, to = e.whole(p)
	}
	m.keep(e.text[from:to], p.lines, c, true)
	e.moved()
	e.caret = p.at
}

func (m *Modal) erases(p part, c command) {
	e := m.e
	from, to := p.from, p.to
	if p.lines {
		from, to = e.whole(p)
	}
	if from == to && (!p.lines || e.text == "") {
		e.caret = from
		return
	}
	m.keep(e.text[from:to], p.lines, c, false)
	e.change()
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

// indent is what > puts before a line: as much as a tab is shown as.
const indent = "    "

func (m *Modal) indents(p part, c command) {
	e := m.e
	from, to := e.whole(p)
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
	e.change()
	e.text = e.text[:from] + strings.Join(lines, "\n") + e.text[to:]
	e.caret = e.textStart(from)
}

// letters puts others in place of the letters.
func letters(of func(rune) rune) func(*Modal, part, command) {
	return func(m *Modal, p part, _ command) {
		e := m.e
		from, to := p.from, p.to
		if p.lines {
			from, to = e.whole(p)
		}
		e.change()
		e.text = e.text[:from] + strings.Map(of, e.text[from:to]) + e.text[to:]
		e.caret = p.at
		for e.caret > from && e.before(e.after(e.caret)) != e.caret { // a letter may have got another size
			e.caret--
		}
	}
}

func otherCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// keep puts a text into a register. The newest one is what Ctrl+Y inserts as well.
func (m *Modal) keep(text string, lines bool, c command, copied bool) {
	k := &m.e.kills
	if c.register == "_" {
		return
	}
	if k.named == nil {
		k.named = map[string]register{}
	}
	if lines {
		text += "\n"
	}
	r := register{text, lines}
	name := strings.ToLower(c.register)
	if name != c.register {
		old := k.named[name]
		if r.lines && !old.lines && old.text != "" {
			old.text += "\n"
		}
		if r = (register{old.text + r.text, old.lines || r.lines}); old.lines && !lines {
			r.text += "\n"
		}
	}
	switch {
	case name != "" && name != `"`:
		k.named[name] = r
	case copied:
		k.named["0"] = r
	}
	k.named[`"`] = r
	k.add(r.text, false, false)
}

// kept is what a register holds: without a name, what was erased or copied last,
// by whatever key.
func (m *Modal) kept(name string) (register, bool) {
	k := &m.e.kills
	if name = strings.ToLower(name); name != "" && name != `"` {
		r, ok := k.named[name]
		return r, ok && name != "_"
	}
	if len(k.texts) == 0 {
		return register{}, false
	}
	text := k.texts[len(k.texts)-1]
	if r := k.named[`"`]; r.text == text {
		return r, true
	}
	return register{text: text}, true
}

// puts inserts a register: lines above or below this one, other text before or
// after the caret.
func (m *Modal) puts(c command) bool {
	e := m.e
	r, ok := m.kept(c.register)
	if !ok || r.text == "" {
		return false
	}
	behind := c.name == "p"
	text := strings.Repeat(r.text, min(c.times(), max(1, maxGrown/len(r.text))))
	e.change()
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
