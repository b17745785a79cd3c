package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Git is a git command line taken apart.
type Git struct {
	Global  []shellsyntax.Word // options before the subcommand
	Sub     string             // "" where it cannot be known
	Args    []shellsyntax.Word // after the subcommand
	Dirs    []shellsyntax.Word // of -C
	Foreign bool               // -c, --git-dir, --exec-path and their like
}

// ParseGit takes git's arguments apart.
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

// git: the subcommands that only read, without the options that run programs
// of the repository's choice.
func git(args []shellsyntax.Word) Effect {
	g := ParseGit(args)
	if g.Foreign {
		return other("git with options that change its configuration or repository")
	}
	if g.Sub == "" {
		if len(g.Global) > 0 && g.Global[0].Text == "--version" {
			return Effect{Kind: Reads}
		}
		return other("git without a subcommand that is known")
	}
	sp := spec{bad: "--ext-diff --textconv --filters --output -O --open-files-in-pager --exec --upload-pack --paginate"}
	ok := false
	switch g.Sub {
	case "status", "diff", "show", "log", "rev-parse", "rev-list", "ls-files", "ls-tree", "blame", "annotate", "describe", "shortlog", "grep", "name-rev", "merge-base",
		"diff-tree", "diff-index", "diff-files", "for-each-ref", "show-ref", "count-objects", "check-ignore", "check-attr", "whatchanged", "cherry", "range-diff", "version", "cat-file", "show-branch", "var":
		ok = true
	case "branch":
		ok = true
		sp.bad += " -d -D -m -M -c -C -f -u -t --delete --move --copy --force --set-upstream-to --unset-upstream --edit-description --track --create-reflog"
		ok = branchLists(g.Args)
	case "tag":
		ok = len(g.Args) == 0 || isOneOf(g.Args[0], "-l", "--list", "-n", "--contains", "--points-at", "--merged") && !hasOption(g.Args, "-d", "-a", "-s", "-f", "-m", "-F", "-u")
	case "stash":
		ok = len(g.Args) > 0 && isOneOf(g.Args[0], "list", "show")
	case "remote":
		ok = len(g.Args) == 0 || len(g.Args) == 1 && isOneOf(g.Args[0], "-v", "--verbose") || isOneOf(g.Args[0], "get-url")
	case "worktree":
		ok = len(g.Args) > 0 && isOneOf(g.Args[0], "list")
	case "reflog":
		ok = len(g.Args) == 0 || isOneOf(g.Args[0], "show", "exists") || g.Args[0].Known && strings.HasPrefix(g.Args[0].Text, "-")
	case "config":
		ok = !ConfigWrites(g.Args)
	}
	if !ok {
		return other("git " + g.Sub + " is not known to only read")
	}
	e := sp.effect("git "+g.Sub, g.Args)
	e.Reads = append(e.Reads, g.Dirs...)
	if g.Sub == "grep" && e.Kind == Reads && !hasOption(g.Args, "-e", "-f") {
		e.Reads = dropPattern(e.Reads, g.Args)
	}
	return e
}

// dropPattern takes the first operand of git grep, its pattern, off.
func dropPattern(reads, args []shellsyntax.Word) []shellsyntax.Word {
	for _, a := range args {
		if a.Known && strings.HasPrefix(a.Text, "-") {
			continue
		}
		for i, r := range reads {
			if r == a {
				return append(append([]shellsyntax.Word{}, reads[:i]...), reads[i+1:]...)
			}
		}
		break
	}
	return reads
}

func branchLists(args []shellsyntax.Word) bool {
	list := len(args) == 0
	for i, a := range args {
		if !a.Known {
			return false
		}
		name, _, _ := strings.Cut(a.Text, "=")
		switch name {
		case "-a", "-r", "-l", "--list", "-v", "-vv", "--all", "--remotes", "--verbose", "--show-current", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at":
			list = true
		case "--sort", "--format", "--color", "--no-color", "--column", "--no-column", "-i", "--ignore-case":
		default:
			if strings.HasPrefix(name, "-") || !list {
				return i > 0 && strings.HasPrefix(args[i-1].Text, "--sort") && list
			}
		}
	}
	return list
}

func isOneOf(w shellsyntax.Word, names ...string) bool {
	for _, n := range names {
		if w.Known && w.Text == n {
			return true
		}
	}
	return false
}

// hasOption says whether args hold one of the options, alone, with a value
// attached, or as a letter of a cluster.
func hasOption(args []shellsyntax.Word, names ...string) bool {
	for _, a := range args {
		for _, n := range names {
			if a.Text == n || strings.HasPrefix(a.Text, n+"=") || len(n) == 2 && len(a.Text) > 2 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text[1:], n[1:]) {
				return true
			}
		}
	}
	return false
}

// ConfigWrites says whether the arguments of "git config" change anything, or
// may.
func ConfigWrites(args []shellsyntax.Word) bool {
	operands, reads := 0, false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known {
			return true
		}
		name, _, has := strings.Cut(a.Text, "=")
		switch name {
		case "--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color", "--get-colorbool":
			reads = true
		case "--local", "--global", "--system", "--worktree", "-z", "--null", "--name-only", "--show-origin", "--show-scope", "--includes", "--no-includes", "--bool", "--int", "--path", "--all":
		case "--type", "--default", "-t":
			if !has {
				i++
			}
		case "get", "list":
			if operands == 0 && !reads {
				reads = true
				continue
			}
			operands++
		default:
			if strings.HasPrefix(name, "-") {
				return true
			}
			operands++
		}
	}
	// "git config user.name" reads; with a value behind it, it writes.
	return !reads && operands != 1
}
