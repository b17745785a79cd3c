package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Git is a parsed git command line.
type Git struct {
	Global  []shellsyntax.Word // options before the subcommand
	Sub     string             // "" if it cannot be known
	Args    []shellsyntax.Word // after the subcommand
	Dirs    []shellsyntax.Word // the values of -C
	Foreign bool               // it has -c, --git-dir, --exec-path or the like
}

// ParseGit parses git's arguments.
func ParseGit(args []shellsyntax.Word) Git {
	var g Git
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known {
			g.Foreign = true
			return g
		}
		if !strings.HasPrefix(a.Text, "-") {
			g.Sub, g.Args = a.Text, args[i+1:]
			return g
		}
		g.Global = append(g.Global, a)
		switch {
		case a.Text == "-C":
			if i++; i < len(args) {
				g.Dirs = append(g.Dirs, args[i])
			}
		case a.Text == "-c" || a.Text == "--git-dir" || a.Text == "--work-tree" || a.Text == "--namespace" || a.Text == "--exec-path" || a.Text == "--config-env" || a.Text == "--super-prefix":
			g.Foreign = true
			i++
		case a.Text == "--no-pager" || a.Text == "-P" || a.Text == "--no-optional-locks" || a.Text == "--literal-pathspecs" || a.Text == "--version" || a.Text == "--no-replace-objects":
		default:
			g.Foreign = true
		}
	}
	return g
}

// ConfigWrites reports whether the arguments of "git config" change, or may change,
// anything.
func ConfigWrites(args []shellsyntax.Word) bool {
	for i, a := range args {
		name, _, _ := strings.Cut(a.Text, "=")
		switch {
		case !a.Known:
			return true
		case Listed(" --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list get list ", name):
			return false
		case Listed(" --local --global --system --worktree -z --null --name-only --show-origin --show-scope --includes --no-includes --bool --int --path --all --type --default ", name):
		default: // a name alone is read
			return strings.HasPrefix(name, "-") || i != len(args)-1
		}
	}
	return false
}

// gitLoses reports whether it is a push that may lose what others pushed.
func gitLoses(args []shellsyntax.Word) bool {
	g := ParseGit(args)
	return g.Sub == "push" && forcePush(g.Args)
}

// forcePush reports whether the arguments of git push may lose what others pushed.
func forcePush(args []shellsyntax.Word) bool {
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
			if forcePush(g.Args) && forcePush([]shellsyntax.Word{a}) {
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
