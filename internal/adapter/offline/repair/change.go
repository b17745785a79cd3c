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
	head, old, new := differing(before, after)
	ch := change{path: c.fn.file.path, before: before}
	ch.edit = Edit{Path: ch.path, Line: head + 1, Func: c.fn.name, Operator: c.op, Score: c.score, Old: old(0), New: new(0)}
	ch.old, ch.new = Narrow(before, after)
	return ch
}

// differing finds the smallest run of lines that differs between two texts: after head
// lines; old and new return it with some lines around.
func differing(from, to string) (head int, old, new func(around int) string) {
	a, b := strings.SplitAfter(from, "\n"), strings.SplitAfter(to, "\n")
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	cut := func(lines []string) func(int) string {
		return func(n int) string {
			return strings.Join(lines[max(0, head-n):min(len(lines), len(lines)-tail+n)], "")
		}
	}
	return head, cut(a), cut(b)
}

// Narrow returns the smallest run of lines that differs between two texts, widened
// until it is unique in the first.
func Narrow(from, to string) (old, new string) {
	_, a, b := differing(from, to)
	for n := 0; ; n++ {
		if old = a(n); old == from || old != "" && strings.Count(from, old) == 1 {
			return old, b(n)
		}
	}
}
