package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Assignment reports whether a word is NAME=value.
func Assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Transparent reports whether a command's wrappers change neither what runs nor
// with which rights.
func Transparent(c shellsyntax.Command) bool {
	for _, n := range c.Wrappers {
		if !known(n).has(transparent) {
			return false
		}
	}
	return !slices.ContainsFunc(c.Via, func(w shellsyntax.Word) bool {
		return w.Text == "-o" || strings.HasPrefix(w.Text, "--output")
	}) || !slices.ContainsFunc(c.Wrappers, func(n string) bool { return known(n).wraps.writes != "" })
}

// Spellings returns other ways to read the words of a command, for those who
// must see a program wherever it stands: git's aliases and own programs, and in
// a command of unknown effect each word as a program, and each text as a line.
func Spellings(c shellsyntax.Command) (words [][]shellsyntax.Word, texts []string) {
	if len(c.Words) == 0 {
		return nil, nil
	}
	known := func(s string) shellsyntax.Word { return shellsyntax.Word{Text: s, Known: true} }
	base := c.Words[0].Text[strings.LastIndexByte(c.Words[0].Text, '/')+1:]
	args := c.Words[1:]
	if sub, ok := strings.CutPrefix(base, "git-"); ok {
		base, args = "git", append([]shellsyntax.Word{known(sub)}, args...)
		words = append(words, append([]shellsyntax.Word{known("git")}, args...))
	}
	if base == "git" {
		g := ParseGit(args)
		if g.Sub == "" || g.Foreign { // behind -c and its like
			for i := 0; i < len(args); i++ {
				t := args[i].Text
				if t == "-c" || t == "-C" || t == "--git-dir" || t == "--work-tree" || t == "--exec-path" || t == "--config-env" || t == "--namespace" {
					if i++; i < len(args) {
						t = "-c" + args[i].Text
					}
				}
				if name, v, ok := strings.Cut(t, "="); ok && strings.HasPrefix(name, "-calias.") {
					texts = append(texts, "git "+v, strings.TrimPrefix(v, "!"))
				}
				if args[i].Known && !strings.HasPrefix(t, "-") {
					g.Sub, g.Args = t, args[i+1:]
					words = append(words, append([]shellsyntax.Word{known("git"), args[i]}, g.Args...))
					break
				}
			}
		}
		switch g.Sub {
		case "send-pack", "http-push":
			words = append(words, append([]shellsyntax.Word{known("git"), known("push")}, g.Args...))
		case "subtree", "lfs", "annex", "flow", "submodule", "notes":
			words = append(words, append([]shellsyntax.Word{known("git")}, g.Args...))
		}
	}
	if Effects(c).Kind != Other {
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
