package offline

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
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
		say("`%s` passed: %s, exit code 0.", command, count(len(r.Passed), "package"))
	case r.Tests:
		say("`%s` failed with exit code %d.", command, exit)
		for _, p := range r.Unbuilt {
			say("\n%s does not compile.", p)
		}
		for i, e := range repair.ReadBuild(out, false) {
			if len(r.Unbuilt) == 0 || i == 3 {
				break
			}
			say("\n  %s: %s", e.Where(), e.Msg)
		}
		for i, f := range r.Failures {
			if i == 8 {
				say("\nand %d more.", len(r.Failures)-i)
				break
			}
			say("\n%s", words(f))
		}
		if len(r.Passed) > 0 {
			say("\n%s passed.", upper(count(len(r.Passed), "package")))
		}
	case exit == 0:
		say("`%s` succeeded, exit code 0.", command)
		if t := tail(out, 12); t != "" {
			say(" It printed:\n%s", t)
		} else {
			say(" It printed nothing.")
		}
	case exit == 124:
		say("`%s` did not end in time and was stopped.", command)
	default:
		say("`%s` failed with exit code %d.", command, exit)
		if errs := repair.ReadBuild(out, false); len(errs) > 0 {
			say(" The first error: %s: %s", errs[0].Where(), errs[0].Msg)
			if len(errs) > 1 {
				say(" (and %d more)", len(errs)-1)
			}
		} else if l := errorLine(out); l != "" {
			say(" The first error line: %s", l)
		} else if t := tail(out, 6); t != "" {
			say(" The end of its output:\n%s", t)
		}
	}
	return b.String()
}

func words(f repair.Failure) string {
	name := f.Name
	if name == "" {
		name = "A test"
	}
	s := name + " in " + f.Pkg
	switch {
	case f.Panicked:
		s += " panicked: " + f.Said
	case f.Said != "":
		s += " failed at " + f.Where + ": " + f.Said
	default:
		s += " failed."
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return itoa(n) + " " + what + "s"
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// tail returns the last n lines, indented, without blank lines at the end.
func tail(out string, n int) string {
	lines := strings.Split(strings.TrimRight(out, "\n \t"), "\n")
	if len(lines) == 1 && strings.TrimSpace(lines[0]) == "" {
		return ""
	}
	cut := ""
	if len(lines) > n {
		cut = fmt.Sprintf("  (%d lines before)\n", len(lines)-n)
		lines = lines[len(lines)-n:]
	}
	return cut + "  " + strings.Join(lines, "\n  ")
}

// errorLine returns the first line that mentions an error.
func errorLine(out string) string {
	for l := range strings.SplitSeq(out, "\n") {
		low := strings.ToLower(l)
		if strings.Contains(low, "error") || strings.Contains(low, "fatal") || strings.Contains(low, "panic") || strings.Contains(low, "not found") || strings.Contains(low, "no such file") || strings.Contains(low, "assert") {
			return strings.TrimSpace(l)
		}
	}
	return ""
}
