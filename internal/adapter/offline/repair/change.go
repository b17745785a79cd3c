package repair

import "strings"

// change is a candidate as it is made in the tree: old, which occurs once in
// before, becomes new.
type change struct {
	path     string
	before   string
	old, new string
	edit     Edit
}

// change writes a candidate as whole lines, formatted where the file is.
func (c *candidate) change() change {
	before := c.fn.file.text
	after := Formatted(before, c.patched())
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	ch := change{path: c.fn.file.path, before: before}
	ch.edit = Edit{
		Path: ch.path, Line: head + 1, Func: c.fn.name, Operator: c.op, Score: c.score,
		Old: strings.Join(a[head:len(a)-tail], ""), New: strings.Join(b[head:len(b)-tail], ""),
	}
	// What is replaced must be there once: take lines around until it is.
	for {
		ch.old = strings.Join(a[head:len(a)-tail], "")
		ch.new = strings.Join(b[head:len(b)-tail], "")
		if ch.old != "" && strings.Count(before, ch.old) == 1 || head == 0 && tail == 0 {
			return ch
		}
		head, tail = max(0, head-1), max(0, tail-1)
	}
}
