package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Assignment reports whether a word is NAME=value.
func Assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Transparent reports whether a command's wrappers change neither what runs nor its
// rights.
func Transparent(c shellsyntax.Command) bool {
	for _, n := range c.Wrappers {
		if !known(n).has(transparent) {
			return false
		}
	}
	return true
}

// Behind returns the commands that a command may run by its own words, each read from another
// word on, where it is not known which: after xargs, find -exec, env -C.
func Behind(c shellsyntax.Command) []shellsyntax.Command {
	if len(Executing(c)) == 0 {
		return nil
	}
	var out []shellsyntax.Command
	for i := 1; i < len(c.Words); i++ {
		if inner := c; c.Words[i].Known {
			inner.Words = c.Words[i:]
			out = append(out, inner)
		}
	}
	return out
}

// Spellings returns other ways to read the words of a command, for callers that must
// find a program anywhere in it: git's aliases and own programs, and, in a command of
// unknown effect, each word as a program, and each text as a line.
func Spellings(c shellsyntax.Command) (words [][]shellsyntax.Word, texts []string) {
	if len(c.Words) == 0 {
		return nil, nil
	}
	base := c.Words[0].Text[strings.LastIndexByte(c.Words[0].Text, '/')+1:]
	words, texts = gitSpellings(base, c.Words[1:])
	if ReadOnly(c) {
		return words, texts
	}
	for i := 1; i < len(c.Words); i++ {
		if w := c.Words[i]; w.Known {
			words = append(words, c.Words[i:])
			if strings.ContainsAny(w.Text, " \t\n") {
				texts = append(texts, w.Text)
			}
		}
	}
	return words, texts
}
