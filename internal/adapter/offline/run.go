package offline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plural"
)

// planRun runs a command and explains its outcome.
func planRun(h *hands, in intent) {
	command := in.command
	if command == "" {
		c, err := detectTests(h, in.build)
		if err != nil {
			h.Stop(err)
			return
		}
		if c == "" {
			h.Decline("I found nothing here that I know how to run: no go.mod, Cargo.toml, package.json, pyproject.toml or Makefile. Say which command, as in: run `make check`.")
			return
		}
		command = c
	}
	h.Say("I run `" + command + "`.")
	out, exit, err := h.Run(command)
	if err != nil {
		h.Stop(err)
		return
	}
	h.Say(explain(command, out, exit))
}

// explain returns a command's outcome in plain words.
func explain(command, out string, exit int) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	if exit == 127 && strings.Contains(out, "not found") {
		say("The command could not be found (exit code 127): %s", lastLine(out))
		return b.String()
	}
	switch r := repair.ReadTests(out); {
	case r.Tests && exit == 0:
		say("`%s` passed: %s, exit code 0.", command, plural.Of(len(r.Passed), "package"))
	case r.Tests:
		say("`%s` failed with exit code %d.", command, exit)
		for _, p := range r.Unbuilt {
			say("\n%s does not compile.", p)
		}
		if errs := repair.ReadBuild(out, false); len(r.Unbuilt) > 0 {
			for _, e := range errs[:min(len(errs), 3)] {
				say("\n  %s: %s", e.Where(), e.Msg)
			}
		}
		for i, f := range r.Failures {
			if i == 8 {
				say("\nand %d more.", len(r.Failures)-i)
				break
			}
			say("\n%s", words(f))
		}
		if len(r.Passed) > 0 {
			say("\n%s passed.", upper(plural.Of(len(r.Passed), "package")))
		}
	case exit == 0:
		say("`%s` succeeded, exit code 0.", command)
		if strings.TrimSpace(out) == "" {
			say(" It printed nothing.")
		} else {
			say(" It printed:\n%s", tail(out, 12))
		}
	case exit == 124:
		say("`%s` did not end in time and was stopped.", command)
	default:
		say("`%s` failed with exit code %d.", command, exit)
		errs := repair.ReadBuild(out, false)
		l := strings.TrimSpace(errorLine().FindString(out))
		switch {
		case len(errs) > 0:
			say(" The first error: %s: %s", errs[0].Where(), errs[0].Msg)
			if len(errs) > 1 {
				say(" (and %d more)", len(errs)-1)
			}
		case l != "":
			say(" The first error line: %s", l)
		case strings.TrimSpace(out) != "":
			say(" The end of its output:\n%s", tail(out, 6))
		}
	}
	return b.String()
}

func words(f repair.Failure) string {
	s := cmp.Or(f.Name, "A test") + " in " + f.Pkg
	switch {
	case f.Panicked:
		return s + " panicked: " + f.Said
	case f.Said != "":
		return s + " failed at " + f.Where + ": " + f.Said
	}
	return s + " failed."
}

func verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

func upper(s string) string { return strings.ToUpper(s[:min(len(s), 1)]) + s[min(len(s), 1):] }

// tail returns the last n lines, indented, without blank lines at the end.
func tail(out string, n int) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	cut := ""
	if len(lines) > n {
		cut = fmt.Sprintf("  (%d lines before)\n", len(lines)-n)
		lines = lines[len(lines)-n:]
	}
	return cut + "  " + strings.Join(lines, "\n  ")
}

// errorLine matches the first line that mentions an error.
var errorLine = lazyregexp.New(`(?im)^.*(?:error|fatal|panic|not found|no such file|assert).*$`)
