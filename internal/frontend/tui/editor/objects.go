package editor

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file has vi's text objects: what i and a select around the caret.

// object returns the selection of a text object. from and to are the selection so far, equal
// if that is one character; around: for a, not i.
type object func(e *Editor, from, to, times int, around bool) (of selection, ok bool)

// selection is a part of a text.
type selection struct {
	from, to int
	reach    reach
}

var objects map[string]object

func init() {
	objects = map[string]object{
		"w": wordObject(false), "W": wordObject(true), "p": paragraphObject, "t": tagObject,
		`"`: quoteObject('"'), "'": quoteObject('\''), "`": quoteObject('`'),
	}
	for i, names := range []string{"(b", "[", "{B", "<"} {
		o := bracketObject(openers[i], closers[i])
		for _, name := range names + closers[i:i+1] {
			objects[string(name)] = o
		}
	}
}

func wordObject(big bool) object {
	return func(e *Editor, from, to, times int, around bool) (selection, bool) {
		of := selection{from, to, inclusive}
		include := false // blanks before it, if none follow it
		for n := range times {
			at := of.to
			switch {
			case n > 0 || from != to: // more of it
				if of.to >= e.last() {
					return of, false
				}
				at = e.forth(of.to)
			default:
				at = e.runStart(at, big)
				of.from = at
				include = around && e.kind(at, big) > 0
			}
			of.reach = inclusive
			if (e.kind(at, big) == 0) == around {
				var ok bool
				if of.to, ok = e.wordEnd(at, big, true, true); !ok {
					return of, false
				}
				continue
			}
			of.to = e.nextWord(at, big, true)
			switch {
			case of.to > e.startOf(of.to):
				of.to = e.before(of.to)
			case n == 0 && from == to:
				of.to = e.back(of.to)
			default:
				of.reach = exclusive
			}
		}
		if include && of.to < len(e.text) && (e.kind(of.to, big) != 0 || of.reach == exclusive) && of.from > e.startOf(of.from) {
			if blank := e.runStart(e.before(of.from), big); e.kind(blank, big) == 0 && blank > e.startOf(blank) {
				of.from = blank
			}
		}
		return of, true
	}
}

func paragraphObject(e *Editor, from, to, times int, around bool) (selection, bool) {
	rows, _ := e.lines()
	blank := func(i int) bool { return strings.Trim(e.text[rows[i].from:rows[i].to], " \t") == "" }
	first := 0
	for first+1 < len(rows) && rows[first+1].from <= from {
		first++
	}
	last := first
	for last+1 < len(rows) && rows[last+1].from <= to {
		last++
	}
	front := false
	if first < last { // more of what is selected
		front = !around || blank(last)
	} else {
		front = blank(first)
		for first > 0 && blank(first-1) == front {
			first--
		}
		for last = first; last < len(rows) && blank(last); last++ {
		}
		last--
	}
	if n := times; !around && front && from == to {
		times = n - 1
	}
	for ; times > 0; times-- {
		if last+1 >= len(rows) {
			return selection{}, false
		}
		space := blank(last + 1)
		if around || !space {
			for last++; last+1 < len(rows) && !blank(last+1); last++ {
			}
		}
		if times == 1 && front && around {
			break
		}
		if around || space {
			for last+1 < len(rows) && blank(last+1) {
				last++
			}
		}
	}
	if around && !front && !blank(last) {
		for first > 0 && blank(first-1) {
			first--
		}
	}
	return selection{rows[first].from, rows[last].from, linewise}, true
}

// quoteObject selects a quoted text within a line. A quote after a backslash is text.
func quoteObject(quote byte) object {
	return func(e *Editor, from, to, times int, around bool) (selection, bool) {
		start := e.startOf(to)
		line := e.text[start:e.endOf(to)]
		find := func(at int, escapes bool) int {
			for ; at < len(line); at++ {
				switch {
				case line[at] == quote:
					return at
				case escapes && line[at] == '\\':
					at++
				}
			}
			return -1
		}
		at := to - start
		first, last := -1, -1
		if at < len(line) && line[at] == quote {
			for first = find(0, false); ; first = find(last+1, false) {
				if first < 0 || first > at {
					return selection{}, false
				}
				if last = find(first+1, true); last < 0 {
					return selection{}, false
				}
				if at <= last {
					break
				}
			}
		} else {
			for first = min(at, len(line)) - 1; first >= 0; first-- {
				n := first
				for n > 0 && line[n-1] == '\\' {
					n--
				}
				if (first-n)%2 == 1 {
					first = n
				} else if line[first] == quote {
					break
				}
			}
			if first < 0 {
				if first = find(0, false); first < 0 {
					return selection{}, false
				}
			}
			if last = find(first+1, true); last < 0 {
				return selection{}, false
			}
		}
		whole := from != to && from == start+first+1 && to == start+last-1 // what is within is selected
		switch {
		case around:
			if trimmed := strings.TrimLeft(line[last+1:], " \t"); len(trimmed) < len(line)-last-1 {
				last = len(line) - len(trimmed) - 1
			} else {
				first = len(strings.TrimRight(line[:first], " \t"))
			}
			last++
		case times > 1 || whole:
			last++
		default:
			first++
		}
		return selection{start + first, start + last, exclusive}, true
	}
}

func bracketObject(opener, closer byte) object {
	return func(e *Editor, from, to, times int, around bool) (selection, bool) {
		for {
			at := from
			if from == to && at < len(e.text) && e.text[at] == closer {
				at--
			} else if from != to {
				at--
			}
			first, ok := e.openingBracket(at, opener, closer, times)
			if !ok {
				first, ok = e.ahead(from, opener, closer, times)
			}
			if !ok {
				return selection{}, false
			}
			last, ok := e.closingBracket(first+1, opener, closer)
			if !ok {
				return selection{}, false
			}
			of := selection{first, last, inclusive}
			if !around {
				of = e.within(first, last)
			}
			if from != to && (of.from > from || of.to <= to && of.from >= from) { // no more than was selected
				from, to = first, last
				if !around {
					continue
				}
			}
			return of, true
		}
	}
}

// ahead returns the times-th opening bracket after a position, if no closing one comes
// before it.
func (e *Editor) ahead(at int, opener, closer byte, times int) (int, bool) {
	for ; at < len(e.text); at++ {
		switch e.text[at] {
		case closer:
			return 0, false
		case opener:
			if times--; times == 0 {
				return at, true
			}
		}
	}
	return 0, false
}

// within selects the text between two brackets. If they are on lines of their own, it
// selects the lines between them.
func (e *Editor) within(first, last int) selection {
	from := first + 1
	if e.ends(from) {
		from++
	}
	start := e.startOf(last)
	if strings.Trim(e.text[start:last], " \t") == "" {
		if start > from {
			return selection{from, start, exclusive}
		}
		return selection{min(from, last), min(from, last), exclusive}
	}
	return selection{from, last, exclusive}
}

var tag = lazyregexp.New(`<(/?)([^\s>/]+)(?:[^>]*[^>/])?>`)

// tagObject selects the text between two tags of HTML or XML.
func tagObject(e *Editor, from, to, times int, around bool) (selection, bool) {
	type open struct {
		name     string
		from, to int
	}
	var stack []open
	for _, m := range tag().FindAllStringSubmatchIndex(e.text, -1) {
		name := e.text[m[4]:m[5]]
		if m[2] == m[3] {
			stack = append(stack, open{name, m[0], m[1]})
			continue
		}
		i := len(stack) - 1
		for i >= 0 && stack[i].name != name {
			i--
		}
		if i < 0 {
			continue
		}
		o := stack[i]
		stack = stack[:i]
		if o.from > from || m[1] <= to || from != to && (around && o.from == from && m[1]-1 == to || !around && o.to == from && m[0]-1 == to) {
			continue
		}
		if times--; times > 0 {
			continue
		}
		if around {
			return selection{o.from, m[1], exclusive}, true
		}
		return selection{o.to, m[0], exclusive}, true
	}
	return selection{}, false
}
