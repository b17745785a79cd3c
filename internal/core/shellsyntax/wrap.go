package shellsyntax

import (
	"path"
	"slices"
)

// Programs tells Parse about programs that are not part of the shell.
type Programs interface {
	// Wraps returns the index in a program's words at which the command begins that it runs
	// with those words and in the same folder, and the variables (NAME=value) that it sets
	// for it. It is 0 if there is none, or if one of the words before it is not understood.
	Wraps(words []Word) (at int, sets []string)
}

// unwrap moves one wrapper from the words to Via.
func (w *walker) unwrap(c *Command) bool {
	if base(c) == "" {
		return false
	}
	at, sets := w.programs.Wraps(c.Words)
	if at == 0 {
		return false
	}
	c.Assigns = append(c.Assigns, sets...)
	c.Via = append(c.Via, c.Words[:at]...)
	c.Wrappers = append(c.Wrappers, base(c))
	c.Words = slices.Clone(c.Words[at:])
	return true
}

// base returns the base name of a command's program, "" if it is unknown.
func base(c *Command) string {
	if n := c.Name(); n != "" {
		return path.Base(n)
	}
	return ""
}
