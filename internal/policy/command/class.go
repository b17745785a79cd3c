package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Class is what a simple command is where no rule speaks of it.
type Class int

// The classes of commands that do more than read.
const (
	Unsafe   Class = iota // asks
	Editing               // only changes files that it names, as an edit would
	Checking              // one of the project's checks
	Safe                  // what auto mode allows
)

// Classify returns the class of a command with that effect. Check reports
// whether it is one of the project's checks.
func Classify(c shellsyntax.Command, eff Effect, check func(shellsyntax.Command) bool) Class {
	switch eff.Kind {
	case Reads:
		return Safe
	case Writes:
		return classOf(c, eff)
	}
	return byProject(c, check)
}

// classOf returns the class of a command that only changes what it names.
func classOf(c shellsyntax.Command, eff Effect) Class {
	name, _ := c.Program()
	row := known(name)
	switch {
	case row == nil, row.has(wholeFolders) && eff.Recursive:
		return Unsafe
	case name == "chmod" && len(c.Words) > 1 && plainMode(c.Words[1]):
		return Editing
	}
	return row.changes
}

// plainMode: to let a file be run or read is what an edit needs.
func plainMode(w shellsyntax.Word) bool {
	return isOneOf(w, "+x", "a+x", "u+x", "ug+x", "755", "0755", "644", "0644", "+r", "u+rw")
}

// byProject returns the class of a command that syntax alone does not show to be
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
	if name == "git" && everydayGit(ParseGit(c.Words[1:])) {
		return Safe
	}
	return Unsafe
}

// everydayGit: what adds to a repository and loses nothing.
func everydayGit(g Git) bool {
	if g.Foreign || len(g.Dirs) > 0 {
		return false
	}
	has := func(bad ...string) bool {
		for _, a := range g.Args {
			for _, b := range bad {
				if a.Text == b || strings.HasPrefix(a.Text, b+"=") || strings.HasPrefix(b, "--") && len(a.Text) > 3 && strings.HasPrefix(b, a.Text) ||
					len(b) == 2 && len(a.Text) > 2 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text[1:], b[1:]) {
					return true
				}
			}
		}
		return false
	}
	switch g.Sub {
	case "add":
		return !has("-e", "--edit", "-p", "--patch", "-i", "--interactive")
	case "commit":
		return !has("--amend", "-n", "--no-verify", "-p", "--patch", "-F", "--file", "-t", "--template", "-c", "-C", "--fixup", "--squash", "--allow-empty-message")
	case "stash":
		return len(g.Args) == 0 || slices.Contains([]string{"push", "save", "apply", "pop"}, g.Args[0].Text)
	case "switch":
		return !has("-f", "--force", "--discard-changes", "-C", "--force-create", "--orphan")
	case "checkout":
		// To another branch, which git refuses where it would lose a change.
		return len(g.Args) == 2 && g.Args[0].Text == "-b" || len(g.Args) == 1 && (g.Args[0].Text == "-" || branchName(g.Args[0].Text))
	case "restore":
		return len(g.Args) > 1 && g.Args[0].Text == "--staged" && !slices.ContainsFunc(g.Args[1:], func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") })
	case "reset": // the index only
		return len(g.Args) > 0 && g.Args[0].Text == "HEAD" && !slices.ContainsFunc(g.Args, func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") && w.Text != "--" })
	case "mv":
		return len(g.Args) > 1 && !slices.ContainsFunc(g.Args, func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") })
	case "branch":
		return len(g.Args) == 1 && !strings.HasPrefix(g.Args[0].Text, "-")
	}
	return false
}

// branchName: a word that is a branch by its look; another may be a folder,
// whose changes "git checkout" would throw away.
func branchName(s string) bool {
	switch s {
	case "main", "master", "develop", "dev", "trunk", "staging", "release":
		return true
	}
	return false
}

// Sensitive reports whether a command can never be granted always (SPEC 4.15).
func Sensitive(c shellsyntax.Command) bool {
	name, _ := c.Program()
	if c.Code || len(c.Words) > 0 && !c.Words[0].Known {
		return true
	}
	for _, w := range c.Wrappers {
		if w == "sudo" || w == "doas" {
			return true
		}
	}
	switch row := known(name); {
	case row.has(sensitive):
		return true
	case row.has(takesAway):
		return slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool { return !w.Known && !w.Glob })
	case name == "git":
		g := ParseGit(c.Words[1:])
		return g.Sub == "push" && ForcePush(g.Args)
	}
	return false
}

// ForcePush reports whether arguments of git push may lose what others pushed.
func ForcePush(args []shellsyntax.Word) bool {
	return slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		t := w.Text
		return !w.Known || strings.HasPrefix(t, "--force") || t == "--mirror" || t == "--delete" || t == "--prune" || strings.HasPrefix(t, "+") || strings.HasPrefix(t, ":") ||
			len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t, "fd")
	})
}
