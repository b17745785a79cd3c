package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Class is the class of a simple command to which no rule applies.
type Class int

// The classes of commands. A command that only reads is Safe.
const (
	Unsafe   Class = iota // a person is asked
	Editing               // only changes files that it names, as an edit would
	Checking              // one of the project's checks
	Safe                  // allowed in the mode auto
)

// Classify returns the class of a command with this effect. check reports whether a
// command is one of the project's checks.
func Classify(c shellsyntax.Command, eff Effect, check func(shellsyntax.Command) bool) Class {
	switch eff.Kind {
	case Reads:
		return Safe
	case Writes:
		return classOf(c, eff)
	}
	return byProject(c, check)
}

// classOf returns the class of a command that only changes files that it names.
func classOf(c shellsyntax.Command, eff Effect) Class {
	name, _ := c.Program()
	row := known(name)
	switch {
	case row == nil, row.has(wholeFolders) && eff.Recursive:
		return Unsafe
	case row.edits != nil && row.edits(c.Words[1:]):
		return Editing
	}
	return row.changes
}

// byProject returns the class of a command whose syntax alone does not prove it
// harmless: a check of the project, or everyday git.
func byProject(c shellsyntax.Command, check func(shellsyntax.Command) bool) Class {
	if len(c.Words) == 0 || c.Code || !Transparent(c) {
		return Unsafe
	}
	for _, a := range c.Assigns {
		if name, _, _ := strings.Cut(a, "="); LoadedVariable(name) && !SafeVariable(name) {
			return Unsafe
		}
	}
	name, plain := c.Program()
	if !plain || slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool {
		return !w.Known && (!w.Glob || w.Prefix == "")
	}) {
		return Unsafe
	}
	if check(c) {
		return Checking
	}
	if p := known(name); p != nil && p.everyday != nil && p.everyday(c.Words[1:]) {
		return Safe
	}
	return Unsafe
}

// Sensitive reports whether a command can never be allowed permanently (SPEC 4.15).
func Sensitive(c shellsyntax.Command) bool {
	name, _ := c.Program()
	if c.Code || len(c.Words) > 0 && !c.Words[0].Known {
		return true
	}
	for _, w := range c.Wrappers {
		if known(w).has(sensitive) {
			return true
		}
	}
	row := known(name)
	switch {
	case row.has(sensitive):
		return true
	case row.has(takesAway):
		return slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool { return !w.Known && !w.Glob })
	}
	return row != nil && row.loses != nil && row.loses(c.Words[1:])
}
