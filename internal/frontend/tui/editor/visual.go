package editor

import "strings"

// This file is vi's visual mode.

// hasSelection reports whether something is selected. A change by another part ends visual
// mode.
func (m *Modal) hasSelection() bool {
	if m.visual != "" && (m.visualText != m.e.text || !m.normal) {
		m.visual = ""
	}
	return m.visual != ""
}

// toggleVisual starts or ends the visual mode of a key (v or V), or switches to it.
func (m *Modal) toggleVisual(c command) bool {
	switch {
	case m.visual == c.name:
		m.visual = ""
	case m.visual == "":
		m.anchor, m.visualText = m.e.caret, m.e.text
		fallthrough
	default:
		m.visual = c.name
	}
	return true
}

// selection returns the selected range, with the character under the caret.
func (m *Modal) selection() (from, to int) {
	e := m.e
	from, to = min(m.anchor, e.caret), max(m.anchor, e.caret)
	if m.visual == "V" {
		return e.startOf(from), min(e.endOf(to)+1, len(e.text))
	}
	return from, e.after(to)
}

// runVisual runs a command of visual mode.
func (m *Modal) runVisual(c command, columns int) {
	switch a := selectedActions[c.name]; {
	case c.op != "":
		m.operate(c.op, c, false)
	case len(c.name) > 1 && (c.name[0] == 'i' || c.name[0] == 'a'):
		m.selectObject(c)
	case a.do != nil:
		a.do(m, c)
	default:
		m.moveCaret(c, columns)
	}
}

func (m *Modal) selectObject(c command) {
	e := m.e
	of, ok := objects[c.name[1:]](e, min(m.anchor, e.caret), max(m.anchor, e.caret), c.times(), c.name[0] == 'a')
	if !ok || of.reach == exclusive && of.from >= of.to {
		return
	}
	e.moved()
	m.anchor, e.caret, m.visual = of.from, of.to, "v"
	switch of.reach {
	case linewise:
		m.visual = "V"
	case exclusive:
		e.caret = e.before(of.to)
	}
}

// operate applies an operator to the selection, or lines: to its lines. Then . applies it
// to as much text from the caret on.
func (m *Modal) operate(op string, c command, lines bool) {
	e := m.e
	from, to := m.selection()
	text := e.text[from:to]
	over := region{lines: 1 + strings.Count(text, "\n"), whole: lines || m.visual == "V"}
	if over.whole {
		over.lines = 1 + strings.Count(e.text[min(m.anchor, e.caret):max(m.anchor, e.caret)], "\n")
	}
	for rest := text[strings.LastIndexByte(text, '\n')+1:]; rest != ""; over.chars++ {
		rest = rest[clusterLen(rest):]
	}
	m.visual, e.caret = "", from
	c.op, c.name, c.over = op, "", over
	if op == "y" {
		m.execute(c)
		return
	}
	m.runChange(c)
}

// samePart returns the part of a region's size that begins at the caret.
func (m *Modal) samePart(over region) part {
	e := m.e
	p := part{from: e.caret, to: e.caret, caret: e.caret, lines: over.whole}
	for n := over.lines; n > 1 && e.endOf(p.to) < len(e.text); n-- {
		p.to = e.endOf(p.to) + 1
	}
	if !over.whole {
		for n := over.chars; n > 0 && !e.ends(p.to); n-- {
			p.to = e.after(p.to)
		}
	}
	return p
}

// selectedOperators are those operators of visual mode whose keys are actions in normal
// mode.
var selectedOperators = map[string]func(*Modal, part, command){
	"J": func(m *Modal, p part, _ command) {
		m.join(max(2, 1+strings.Count(m.e.text[p.from:p.to], "\n")))
	},
	"r": func(m *Modal, p part, c command) {
		e := m.e
		from, to := p.from, p.to
		if p.lines {
			from, to = e.wholeLines(p)
		}
		var b strings.Builder
		for at := from; at < to; at = e.after(at) {
			if e.text[at] == '\n' {
				b.WriteByte('\n')
			} else {
				b.WriteString(sanitize(c.arg))
			}
		}
		e.beforeChange()
		e.text = e.text[:from] + b.String() + e.text[to:]
		e.caret = from
	},
	"p": (*Modal).putOver, "P": (*Modal).putOver,
}

// putOver replaces a part by a register. p, and not P, then keeps the part in the register.
func (m *Modal) putOver(p part, c command) {
	e := m.e
	r, ok := m.getRegister(c.register)
	if !ok {
		return
	}
	from, to := p.from, p.to
	if p.lines {
		from, to = e.wholeLines(p)
	}
	gone, text := e.text[from:to], strings.Repeat(r.text, min(c.times(), max(1, maxReplay/max(1, len(r.text)))))
	switch {
	case p.lines:
		text = strings.TrimSuffix(text, "\n")
	case r.lines:
		text = "\n" + text
	}
	e.beforeChange()
	if e.text = e.text[:from] + text + e.text[to:]; c.op == "p" {
		m.setRegister(gone, p.lines, command{}, false)
	}
	switch {
	case r.lines && !p.lines:
		e.caret = e.textStart(from + 1)
	case p.lines || strings.Contains(text, "\n"):
		e.caret = e.textStart(from)
	default:
		e.caret = max(from, e.before(from+len(text)))
	}
}
