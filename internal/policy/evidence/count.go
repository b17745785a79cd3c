package evidence

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// Tests is the number of tests that a check that passed is known to have run.
type Tests struct {
	Ran  int    // at least this many, without skipped ones
	None string // why none is known to have run; "" if Ran is more than 0
	// Passed is how many passed, whatever the exit code is.
	Passed int
	// Wrapped: files of the project define what it ran, and the output does not
	// show it. Whoever changes those files can make it print anything.
	Wrapped bool
}

// RunsNone is the Tests.None of a check whose purpose is not to run tests.
const RunsNone = "it runs no tests"

// The texts for checks that may have run a test or not.
const (
	notShown    = "its output does not show that a test ran"
	othersPrint = "other commands of the line also print, so its output proves no test"
	notClear    = "without -v it does not show whether a test ran or all were skipped"
)

// silent reports whether a command prints nothing, or no more than names of files.
func silent(c shellsyntax.Command) bool {
	if len(c.Redirects) > 0 {
		return false
	}
	switch c.Name() {
	case "", "cd", "set", "export", "true", "sleep", "mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "pwd", "which", "ls", "wc", "date":
		return true
	case "git":
		return slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool {
			return w.Known && slices.Contains([]string{"status", "--stat", "--shortstat", "--numstat", "--name-only", "--name-status"}, w.Text)
		}) && !slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool {
			return !w.Known || slices.Contains([]string{"-p", "-u", "--patch", "-v", "-vv", "log", "show"}, w.Text)
		})
	case "echo":
		var words []string
		for _, w := range c.Words[1:] {
			if strings.HasPrefix(w.Text, "-") {
				return false
			}
			if w.Known { // else it has the value of a variable, or of a command that is judged itself
				words = append(words, w.Text)
			}
		}
		return tally(Lines(strings.Join(words, " ")), everyForm).None == notShown
	case "gofmt":
		return !slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool { return !w.Known && !w.Glob || w.Text == "-d" }) &&
			slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool { return w.Text == "-l" || w.Text == "-w" })
	}
	return false
}

// Count returns how many tests ran, from the output of a check that ended with exit
// code 0. env are variables (NAME=value) that it got besides the line.
//
// It counts only what a program is known to print at its end, and nothing if another
// command of the line could have printed the same.
func Count(line, output string, env ...string) Tests {
	return count(line, nil, output, env)
}

// CountIn is Count for a check that the whole line goes on behind.
func CountIn(whole, line, output string) Tests {
	_, _, behind, ok := around(whole, line, 0)
	if !ok {
		return Tests{None: othersPrint}
	}
	return count(line, behind, output, nil)
}

func count(line string, behind []shellsyntax.Command, output string, env []string) Tests {
	before, last, ok := command.LastCheck(line, "/")
	if !ok {
		if strings.TrimSpace(line) != "" && command.OnlyAnd(strings.TrimSpace(line)) { // a person's own check
			return wrapped(Lines(output))
		}
		return Tests{None: "its exit code is not a check's"}
	}
	known, compiled := formsOf(last, env), last.Proof
	for _, c := range slices.Concat(before, behind) {
		if silent(c) || c.Piped && command.ReadOnly(c) { // the second shows what it gets
			continue
		}
		k, ok := command.CheckOf(c)
		if !ok || k.Proof == command.Wraps || k.Output == command.ScriptsOutput {
			return Tests{None: othersPrint}
		}
		known = slices.Concat(known, formsOf(k, env))
		compiled = max(compiled, k.Proof)
	}
	lines := Lines(output)
	switch {
	case compiled < command.Tests:
		return Tests{None: RunsNone}
	case last.Proof != command.Wraps:
		return tally(lines, known)
	case last.Output == command.ScriptsOutput:
		if scripts := shownScripts(lines); len(scripts) > 0 {
			return ofScripts(lines, scripts)
		}
	}
	return wrapped(lines)
}

// wrapped counts what files of the project print, in whatever format.
func wrapped(lines []string) Tests {
	t := tally(lines, everyForm)
	t.Wrapped = true
	return t
}

// formsOf returns the output formats of a check.
func formsOf(c command.Check, env []string) []form {
	if c.Verbose(env) {
		return goVerbose
	}
	return forms[c.Output]
}

// shownScripts returns the scripts that a package manager prints before it runs them:
// the line after its heading.
func shownScripts(lines []string) []string {
	var out []string
	for i, l := range lines {
		if s, ok := strings.CutPrefix(l, "$ "); ok && (i == 0 || strings.HasPrefix(lines[0], "yarn run v")) && len(out) == 0 {
			return []string{s}
		}
		if s, ok := strings.CutPrefix(l, "> "); ok && i > 0 && strings.HasPrefix(lines[i-1], "> ") {
			out = append(out, s)
		}
	}
	return out
}

// ofScripts counts tests if the scripts are shown and each of them is a check, in that
// check's format.
func ofScripts(lines []string, scripts []string) Tests {
	var known []form
	for _, s := range scripts {
		before, last, ok := command.LastCheck(s, "/")
		switch {
		case !command.OnlyAnd(s):
			return Tests{None: "its script hides an exit code: " + s}
		case !ok || last.Proof == command.Wraps:
			return wrapped(lines)
		}
		known = slices.Concat(known, formsOf(last, nil))
		for _, c := range before {
			if k, ok := command.CheckOf(c); !ok && c.Name() != "cd" || ok && k.Proof == command.Wraps {
				return wrapped(lines)
			}
		}
	}
	return tally(lines, known)
}

// tally returns the sum of the counts of the formats.
func tally(lines []string, forms []form) Tests {
	var sum counts
	seen := map[string]bool{}
	for _, f := range forms {
		if !seen[f.name] {
			seen[f.name] = true
			sum.add(f.read(lines))
		}
	}
	switch {
	case sum.failed > 0:
		return Tests{None: "its output shows failures, whatever its exit code", Passed: sum.passed}
	case sum.passed > 0:
		return Tests{Ran: sum.passed, Passed: sum.passed}
	case sum.unclear:
		return Tests{None: notClear}
	case sum.skipped > 0:
		return Tests{None: "every test in it was skipped"}
	case sum.told:
		return Tests{None: "it ran no tests"}
	}
	return Tests{None: notShown}
}

// Builds reports whether exit code 0 of a check proves that the project compiles.
func Builds(line string) bool {
	before, last, ok := command.LastCheck(line, "/")
	return ok && (last.Compiled() || slices.ContainsFunc(before, func(c shellsyntax.Command) bool {
		k, ok := command.CheckOf(c)
		return ok && (k.Proof == command.Builds || k.Compiles)
	}))
}
