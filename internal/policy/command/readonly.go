package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// ReadOnly reports whether all commands of a line are of a closed list of reading
// programs, in forms whose every word is known. It promises that nothing is changed and
// that no other program of the folder is run, provided that git runs under
// gitconfig.Env and gitconfig.Settings. It does not say which files are read, nor that reading ends.
//
// It must be asked about all commands of a line at once: a function or an alias of the
// line gives a name another meaning.
func ReadOnly(cmds ...shellsyntax.Command) bool {
	return len(cmds) > 0 && !slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool { return !reads(c) })
}

func reads(c shellsyntax.Command) bool {
	if c.Code || c.Evaluates || c.Func || slices.ContainsFunc(c.Assigns, func(a string) bool { return !setsLooks(a) }) ||
		slices.ContainsFunc(c.Redirects, func(r shellsyntax.Redirect) bool { return !harmlessFile(r) }) ||
		slices.ContainsFunc(c.Via, func(w shellsyntax.Word) bool { return !plainWrapper(w) }) {
		return false
	}
	if len(c.Words) == 0 {
		return true // variables or redirections alone
	}
	name, plain := c.Program() // "" if it is not known
	var args []string
	for _, w := range c.Words[1:] {
		// A match of a pattern may begin with a dash, unless the pattern does not allow it.
		if !w.Known && !(w.Glob && (Listed(anyWords, name) || Listed(anyFiles, name) && w.Prefix != "" && w.Prefix[0] != '-')) {
			return false
		}
		if strings.HasPrefix(w.Text, "--files0") {
			return false // it reads files that its words do not name
		}
		args = append(args, w.Text)
	}
	form := readers[name]
	return plain && (Listed(anyWords, name) || form != nil && form(args))
}

// Listed reports whether a word is in a list: " cat head tail ".
func Listed(list, word string) bool {
	return word != "" && !strings.Contains(word, " ") && strings.Contains(list, " "+word+" ")
}

// anyWords are the programs that change and run nothing whatever their words are;
// anyFiles are those of readers for which that holds of words that are no option.
const (
	anyWords = " ls cat head tail wc grep egrep fgrep stat du df pwd echo : true false which cmp uname basename dirname realpath readlink nl cut tr sleep "
	anyFiles = " rg file diff sort find git "
)

// readers are the other programs, each with the forms in which it only reads. Options
// that are not listed are refused, also abbreviated ones.
var readers = map[string]func(args []string) bool{
	"rg": func(args []string) bool { // --pre and --hostname-bin run programs, -z unpacks by programs, -L follows links
		return !slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "--pre") || strings.HasPrefix(a, "--host") || strings.HasPrefix(a, "--search-z") || strings.HasPrefix(a, "--fol") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "zL")
		})
	},
	"file": options("bhikLN", "", " --brief --mime --mime-type --mime-encoding "),
	"diff": options("abBdeiNnpqrstuwy", "CU", " --brief --recursive --unified --new-file --text --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --side-by-side --color "),
	"sort": options("bcCdfghMmnRrsuVz", "kt", " --reverse --numeric-sort --unique --key --field-separator --human-numeric-sort --version-sort --ignore-case --stable --check "),
	"uniq": func(args []string) bool { // a second file would be written
		files := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") && a != "-" })
		return len(files) <= 1 && !slices.Contains(args, "--") && options("cdDuiz", "", " --count --repeated --unique --ignore-case ")(args)
	},
	"date": func(args []string) bool { // a time would set the clock
		return !slices.ContainsFunc(args, func(a string) bool {
			return !strings.HasPrefix(a, "+") && !Listed(" -u -R -I -Iseconds --utc --iso-8601 ", a) && !strings.HasPrefix(a, "--date=")
		})
	},
	"test": tests,
	"[":    tests,
	"printf": func(args []string) bool {
		return len(args) > 0 && !strings.HasPrefix(args[0], "-") && !setsVariable().MatchString(args[0])
	},
	"set": func(args []string) bool {
		return len(args) > 0 && !slices.ContainsFunc(args, func(a string) bool { return a != "pipefail" && !Listed(" -e -u -eu -o -x -euo -euxo -ex ", a) })
	},
	"cd":      func(args []string) bool { return len(args) <= 1 },
	"command": func(args []string) bool { return len(args) > 1 && args[0] == "-v" },
	"sed": func(args []string) bool { // only the printing of lines by their numbers
		return len(args) > 1 && args[0] == "-n" && strings.HasSuffix(args[1], "p") && strings.Trim(args[1], "0123456789,$p") == "" && options("", "", "")(args[2:])
	},
	"find": func(args []string) bool {
		return !slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-") && !Listed(" -name -iname -path -ipath -regex -iregex -type -maxdepth -mindepth -size -mtime -mmin -newer -empty -executable -not -a -and -o -or -prune -print -print0 ", a)
		})
	},
	"git": gitOnlyReads,
}

func tests(args []string) bool { // these evaluate a subscript
	return !slices.Contains(args, "-v") && !slices.Contains(args, "-R")
}

// setsVariable matches a format of printf that, as its -v does, sets a variable.
var setsVariable = lazyregexp.New(`%[-+ #0-9.*'hlLjzt]*n`)

// options returns the form of a program that has these options: letters without a value,
// letters with one, and long ones. A value in the word after a long one is judged as if
// it were an option or a file.
func options(letters, valued, long string) func(args []string) bool {
	u := usage{letters, valued, long}
	return func(args []string) bool {
		for i := 0; i < len(args); i++ {
			if args[i] == "--" {
				return true
			}
			if len(args[i]) < 2 || args[i][0] != '-' {
				continue
			}
			next, ok := u.listed(args[i])
			if !ok {
				return false
			}
			if next {
				i++
			}
		}
		return true
	}
}

// Subcommands of git that only read, and the options that the others of them have.
const (
	gitSubs    = " status log whatchanged diff diff-tree diff-index diff-files show rev-parse rev-list ls-files ls-tree cat-file blame annotate shortlog merge-base describe name-rev cherry grep for-each-ref show-ref check-ignore check-attr "
	gitOptions = " --oneline --stat --shortstat --numstat --name-only --name-status --summary --cached --staged --graph --all --decorate --no-decorate --format --pretty --since --until --after --before" +
		" --author --grep --max-count --follow --reverse --merges --no-merges --first-parent --no-color --color --abbrev-commit --date --porcelain --short --branch --untracked-files --ignored" +
		" --show-toplevel --abbrev-ref --verify --git-dir --is-inside-work-tree --others --exclude-standard --modified --deleted --stage --contains --merged --no-merged --word-diff --ignore-all-space" +
		" --unified --diff-filter --find-renames --no-renames --quiet --exit-code --patch --no-patch --tags --always --dirty --count --no-ext-diff --no-textconv --ignore-case --line-number --files-with-matches --no-index "
	gitListing = " -a -r -v -vv --all --remotes --list --show-current --contains --merged --no-merged --sort --format "
)

// gitOnlyReads judges git. Without the options before the subcommand no setting is given, so
// that pagers, filters and differences shown by programs are those of gitconfig.Settings.
func gitOnlyReads(args []string) bool {
	if len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) > 1 && args[0] == "-C" && args[1] != "" && args[1][0] != '/' && !strings.Contains(args[1], "..") {
		args = args[2:]
	}
	if len(args) == 0 {
		return false
	}
	sub, args := args[0], args[1:]
	if sub == "stash" && len(args) > 0 && Listed(" list show ", args[0]) {
		sub, args = "log", args[1:]
	}
	names := 0
	for i, a := range args {
		name, _, _ := strings.Cut(a, "=")
		switch {
		case strings.Contains(a, "%G"):
			return false // it runs the program that checks signatures
		case a == "--" && Listed(gitSubs, sub):
			return true
		case !strings.HasPrefix(a, "-"):
			names++
		case Listed(gitSubs, sub) && !strings.HasPrefix(a, "--"):
			if strings.Contains(a, "O") {
				return false // of grep it opens a pager
			}
		case Listed(gitSubs, sub) && Listed(gitOptions, name):
		case (sub == "branch" || sub == "tag") && Listed(gitListing, name), sub == "remote" && i == 0 && a == "-v":
		default:
			return false
		}
	}
	switch sub {
	case "branch", "tag", "remote":
		return names == 0 || sub != "remote" && slices.Contains(args, "--list")
	}
	return Listed(gitSubs, sub)
}

// plainWrapper reports whether a word is a wrapper that runs its command unchanged, or
// its number.
func plainWrapper(w shellsyntax.Word) bool {
	return w.Known && (Listed(" timeout nice command ", w.Text) || w.Text != "" && w.Text[0] <= '9' && strings.Trim(w.Text, "0123456789.smh") == "")
}

// setsLooks reports whether an assignment changes only how output looks.
func setsLooks(assign string) bool {
	name, _, _ := strings.Cut(assign, "=")
	return Listed(" LANG LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME TZ NO_COLOR COLUMNS LINES ", name)
}

// harmlessFile reports whether a redirection reads a file, or throws output away. Bash
// connects to what is under /dev/tcp and /dev/udp.
func harmlessFile(r shellsyntax.Redirect) bool {
	t := r.Target.Text
	if !r.Target.Known {
		return false
	}
	return r.Op == "<" && !strings.HasPrefix(t, "/dev/tcp/") && !strings.HasPrefix(t, "/dev/udp/") || r.Writes() && SafeDevice(t)
}

// SafeDevice reports whether a path is a device that anyone may read and to which a write
// destroys nothing.
func SafeDevice(p string) bool {
	if Listed(" /dev/null /dev/stdin /dev/stdout /dev/stderr /dev/zero /dev/random /dev/urandom ", p) {
		return true
	}
	n, ok := strings.CutPrefix(p, "/dev/fd/")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// Closed reports whether a line of commands runs under the environment of package gitconfig: it has a
// git that only reads, and none that changes the repository, which runs the project's own
// programs by design.
func Closed(cmds []shellsyntax.Command) bool {
	closed := false
	for _, c := range cmds {
		if name, _ := c.Program(); name == "git" {
			if c.Redirects = nil; !ReadOnly(c) {
				return false
			}
			closed = true
		}
	}
	return closed
}
