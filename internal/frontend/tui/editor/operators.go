package editor

import "strings"

// This file is what the commands of vi do to a text.

// replace puts a character in place of count others.
func (m *Modal) replace(key string) {
	count := max(1, m.count)
	m.drop()
	m.does(change{count: count, command: func(n int) {
		e := m.e
		to := e.caret
		for range n {
			if to >= e.lineEnd() {
				return // vi replaces all or none
			}
			to += next(e.text[to:])
		}
		e.change()
		from := e.caret
		e.text = e.text[:from] + strings.Repeat(own(key), n) + e.text[to:]
		e.caret = from + len(own(key))*(n-1)
	}})
	m.Rests()
}

// span does an operator over what a movement passes.
func (m *Modal) span(op, key string, count int) {
	e := m.e
	from, to := e.caret, 0
	switch {
	case key == "w" && op == "c" && class(e.text[from:]) > 0: // to the end of the word: the blank behind it stays
		to = e.wordEndFrom(from)
		for range count - 1 {
			to = e.wordEnd(to)
		}
		to += next(e.text[to:])
	case key == "e":
		to, _ = m.target(key, count)
		to += next(e.text[to:])
	default:
		to, _ = m.target(key, count)
		if key == "w" { // the last line's end stays
			if line := strings.LastIndexByte(e.text[from:to], '\n'); line > 0 && strings.Trim(e.text[from+line:to], " \t\n") == "" {
				to = from + line
			}
		}
	}
	if from > to {
		from, to = to, from
	}
	if from == to {
		return
	}
	if op == "y" {
		e.kills.add(e.text[from:to], false, false)
		e.moved()
		e.caret = from
		return
	}
	e.moved()
	e.cut(from, to, true)
}

// lines does an operator over whole lines.
func (m *Modal) lines(op, key string, count int) {
	e := m.e
	from, to := e.lineStart(), e.lineEnd()
	switch key {
	case "j":
		if strings.Count(e.text[to:], "\n") < count {
			return // there is no such line
		}
		count++
	case "k":
		if strings.Count(e.text[:from], "\n") < count {
			return
		}
		for range count {
			from = e.startOf(from - 1)
		}
		count = 1
	case op:
		if count > 1 && to == len(e.text) {
			return
		}
	}
	for range count - 1 {
		if to < len(e.text) {
			to = e.endOf(to + 1)
		}
	}
	text := e.text[from:to]
	e.moved()
	e.kills.add(text+"\n", false, false)
	if op == "y" {
		e.moved()
		if key == "k" {
			e.caret = from
		}
		return
	}
	defer e.moved()
	e.change()
	switch {
	case op == "c":
	case to < len(e.text):
		to++
	case from > 0:
		from--
	}
	e.text = e.text[:from] + e.text[to:]
	e.caret = min(from, len(e.text))
	if op == "d" {
		e.caret = e.textStart(e.lineStart())
	}
}

// puts inserts what was erased or copied last: lines above or below this one,
// other text before or behind the caret.
func (m *Modal) puts(count int, behind bool) {
	e := m.e
	n := len(e.kills.texts)
	if n == 0 {
		return
	}
	text := e.kills.texts[n-1]
	if len(text) > 0 && count > max(1, (1<<20)/len(text)) {
		count = max(1, (1<<20)/len(text))
	}
	e.change()
	if !strings.HasSuffix(text, "\n") {
		if behind && e.caret < e.lineEnd() {
			e.caret += next(e.text[e.caret:])
		}
		e.insert(strings.Repeat(text, count))
		e.caret = e.before(e.caret)
		return
	}
	text = strings.Repeat(text, count)
	at := e.lineStart()
	if behind {
		if at = e.lineEnd(); at < len(e.text) {
			at++
		} else {
			text = "\n" + strings.TrimSuffix(text, "\n")
		}
	}
	e.text = e.text[:at] + text + e.text[at:]
	e.caret = e.textStart(at + len(text) - len(strings.TrimPrefix(text, "\n")))
}
