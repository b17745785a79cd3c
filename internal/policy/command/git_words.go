package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// This file contains the functions that git's row of the table names, except its
// effect.

// gitEveryday reports whether a git command adds to a repository and loses nothing.
func gitEveryday(args []shellsyntax.Word) bool {
	g := ParseGit(args)
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
		// It switches to another branch, which git refuses if a change would be lost.
		return len(g.Args) == 2 && g.Args[0].Text == "-b" || len(g.Args) == 1 && (g.Args[0].Text == "-" || branchName(g.Args[0].Text))
	case "restore":
		return len(g.Args) > 1 && g.Args[0].Text == "--staged" && !slices.ContainsFunc(g.Args[1:], func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") })
	case "reset": // changes only the index
		return len(g.Args) > 0 && g.Args[0].Text == "HEAD" && !slices.ContainsFunc(g.Args, func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") && w.Text != "--" })
	case "mv":
		return len(g.Args) > 1 && !slices.ContainsFunc(g.Args, func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") })
	case "branch":
		return len(g.Args) == 1 && !strings.HasPrefix(g.Args[0].Text, "-")
	}
	return false
}

// branchName reports whether a word can only be a branch, by its form; another word may
// be a folder, whose changes "git checkout" would discard.
func branchName(s string) bool {
	switch s {
	case "main", "master", "develop", "dev", "trunk", "staging", "release":
		return true
	}
	return false
}

// gitLoses reports whether it is a push that may lose what others pushed.
func gitLoses(args []shellsyntax.Word) bool {
	g := ParseGit(args)
	return g.Sub == "push" && ForcePush(g.Args)
}

// ForcePush reports whether the arguments of git push may lose what others pushed.
func ForcePush(args []shellsyntax.Word) bool {
	return slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		t := w.Text
		return !w.Known || strings.HasPrefix(t, "--force") || t == "--mirror" || t == "--delete" || t == "--prune" || strings.HasPrefix(t, "+") || strings.HasPrefix(t, ":") ||
			len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t, "fd")
	})
}

func gitExecutes(c shellsyntax.Command) (out []string) {
	g := ParseGit(c.Words[1:])
	switch g.Sub {
	case "":
		out = append(out, "\x00")
	case "push":
		for _, a := range g.Args {
			if ForcePush(g.Args) && ForcePush([]shellsyntax.Word{a}) {
				out = append(out, a.Text)
			}
		}
	case "bisect", "submodule", "filter-branch", "difftool", "mergetool", "config":
		out = append(out, g.Sub)
		for _, a := range g.Args {
			if a.Text == "run" || a.Text == "foreach" {
				out = append(out, a.Text)
			}
		}
	}
	return out
}

// gitChecksOut returns the git subcommand that writes files of another commit, which
// may include links; "" for none.
func gitChecksOut(c shellsyntax.Command) string {
	if Effects(c).Kind == Reads {
		return ""
	}
	g := ParseGit(c.Words[1:])
	switch g.Sub {
	case "checkout", "switch":
		if len(g.Args) == 2 && g.Args[0].Known && (g.Args[0].Text == "-b" || g.Args[0].Text == "-c") {
			return "" // a new branch at the same commit
		}
	case "stash":
		if len(g.Args) == 0 || g.Args[0].Text == "push" || g.Args[0].Text == "save" {
			return "" // it restores what was committed
		}
	case "", "pull", "merge", "rebase", "cherry-pick", "revert", "reset", "restore", "apply", "am", "clone", "worktree", "submodule", "read-tree", "checkout-index", "bisect":
	default:
		return ""
	}
	return strings.TrimSpace("git " + g.Sub)
}

// gitMoves returns the operands of git mv.
func gitMoves(c shellsyntax.Command) (args []shellsyntax.Word, ok bool) {
	g := ParseGit(c.Words[1:])
	return g.Args, g.Sub == "mv" && Effects(c).Kind != Reads
}

// gitSpellings implements Spellings for git: its aliases, and its own programs.
func gitSpellings(base string, args []shellsyntax.Word) (words [][]shellsyntax.Word, texts []string) {
	known := func(s string) shellsyntax.Word { return shellsyntax.Word{Text: s, Known: true} }
	if sub, ok := strings.CutPrefix(base, "git-"); ok {
		base, args = "git", append([]shellsyntax.Word{known(sub)}, args...)
		words = append(words, append([]shellsyntax.Word{known("git")}, args...))
	}
	if base == "git" {
		g := ParseGit(args)
		if g.Sub == "" || g.Foreign { // after -c and the like
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
	return words, texts
}

// GitFolders returns the folders of the repositories that a line's git commands use; ok
// is false if one cannot be known.
func GitFolders(cmds []shellsyntax.Command) (dirs []string, ok bool) {
	seen := map[string]bool{}
	for _, c := range cmds {
		if name, _ := c.Program(); name != "git" {
			continue
		}
		in := shellsyntax.Word{Text: ".", Known: true}
		if g := ParseGit(c.Words[1:]); len(g.Dirs) == 1 {
			in = g.Dirs[0]
		} else if len(g.Dirs) > 1 {
			return nil, false
		}
		paths, known := c.Paths(in)
		if !known || !in.Known {
			return nil, false
		}
		for _, p := range paths {
			if !seen[p] {
				seen[p] = true
				dirs = append(dirs, p)
			}
		}
	}
	return dirs, true
}
