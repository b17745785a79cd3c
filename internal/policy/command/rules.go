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

// Transparent reports whether a command's wrappers change neither what runs nor its
// rights.
func Transparent(c shellsyntax.Command) bool {
	return !slices.ContainsFunc(c.Wrappers, func(n string) bool { return !known(n).has(transparent) })
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

// Edits reports whether a command is of a program that only changes the files that it names.
// Where pawl's tools edit without a question, the sandbox lets it do so too.
func Edits(c shellsyntax.Command) bool {
	name, plain := c.Program()
	return plain && !c.Code && Transparent(c) && slices.Contains([]string{"mkdir", "touch", "tee", "cp", "mv", "ln", "rm", "rmdir", "sed", "chmod", "gofmt"}, name)
}

// Changes returns the words of a command that name what it changes, with all that is in a
// folder; nil for a program of which that is not certain.
func Changes(c shellsyntax.Command) []shellsyntax.Word {
	name, plain := c.Program()
	if !plain || c.Code || !Transparent(c) || !slices.Contains([]string{"rm", "rmdir", "chmod", "chown", "chgrp"}, name) {
		return nil
	}
	return c.Words[1:]
}

// InstallFiles are the files of a project that an install of packages reads and changes.
var InstallFiles = []string{"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "node_modules"}

// Installs returns the host from which a command installs packages, "" for a command that does
// not, or of which that is not certain.
func Installs(c shellsyntax.Command) string {
	name, plain := c.Program()
	verbs := []string{"install", "i", "add", "ci", "update", "uninstall", "remove"}
	switch {
	case !plain || c.Code || len(c.Words) < 2 || !slices.Contains(verbs, c.Words[1].Text):
		return ""
	case name == "yarn":
		return "registry.yarnpkg.com"
	case name == "npm", name == "pnpm", name == "bun":
		return "registry.npmjs.org"
	}
	return ""
}

// SafeVariable reports whether no program obeys a variable, since its name is one
// letter or in small letters, or whether it only changes how output looks or how a
// build is made, but never what runs.
func SafeVariable(name string) bool {
	switch name {
	case "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", "GO111MODULE",
		"CI", "TZ", "LANG", "LANGUAGE", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLORTERM",
		"NODE_ENV", "RUST_BACKTRACE", "RUST_LOG", "CARGO_TERM_COLOR", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
		"DEBIAN_FRONTEND", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "DEBUG", "VERBOSE", "HUSKY":
		return true
	}
	return strings.HasPrefix(name, "LC_") || len(name) == 1 && name != "_" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" && name != "histchars"
}
