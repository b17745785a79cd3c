package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// How many parts, and how many lines of each, a person is shown at most.
const (
	shownParts = 20
	shownLines = 8
)

// showTrust shows what a folder runs, with the relevant lines, and what changed.
func showTrust(out io.Writer, t *setup.Trust, whole bool) {
	say := func(format string, args ...any) { fmt.Fprintln(out, plain.Line(fmt.Sprintf(format, args...))) }
	v := t.Assessment
	say("%s: %s", t.Dir, trustState(v))
	runs := showRunning(say, v)
	if !whole {
		say("  there are more projects than pawl examined; pawl asks about their checks before it runs them")
	}
	if runs > 0 {
		say("they run the project's code; pawl asks again if this list changes")
	}
	showIdle(say, v, runs)
}

// trustState describes in words whether a folder is trusted.
func trustState(v trust.Assessment) string {
	switch {
	case v.Replaced:
		return "not trusted: this is not the folder that you trusted at this path"
	case v.Declined:
		return "not trusted: you said no"
	}
	return map[trust.State]string{
		trust.Nothing: "it configures nothing that pawl runs automatically", trust.Trusted: "trusted", trust.Untrusted: "not trusted", trust.Changed: "changed since you trusted it",
	}[v.State]
}

// showRunning shows the parts that pawl runs automatically, and returns how many there
// are.
func showRunning(say func(string, ...any), v trust.Assessment) (runs int) {
	for _, p := range v.Parts {
		if !p.Kind.Runs() {
			continue
		}
		if runs == 0 {
			say("if you trust this folder, pawl runs these as you, without asking:")
		}
		if runs++; runs <= shownParts {
			showPart(say, p, v.State == trust.Changed, shownLines)
		}
	}
	if runs > shownParts {
		say("  … and %d more; pawl trust status --json lists all", runs-shownParts)
	}
	return runs
}

// showPart shows one part with its lines, at most that many; with why, also why it is not
// trusted.
func showPart(say func(string, ...any), p trust.AssessedPart, why bool, most int) {
	mark := ""
	if !p.Trusted && why {
		mark = " (" + p.Why + ")"
	}
	name := map[trust.Kind]string{trust.LSP: "language server ", trust.MCP: "MCP server ", trust.Hook: "hook "}[p.Kind] + p.Name
	say("  %s: %s%s", name, strings.Join(p.Runs, ", "), mark)
	lines := p.Lines
	if p.Was != nil && !p.Trusted {
		lines = p.Difference()
	}
	for i, l := range lines {
		if i == most {
			say("      … and %s more", plural.Of(len(lines)-i, "line"))
			break
		}
		say("      %s", l)
	}
}

// showIdle shows the parts that pawl never runs. runs is the number of the other parts.
func showIdle(say func(string, ...any), v trust.Assessment, runs int) {
	head := true
	for i, p := range v.Parts {
		if p.Kind.Runs() {
			continue
		}
		if head {
			say("this pawl does not run these, trusted or not:")
			head = false
		}
		if i-runs >= shownParts {
			say("  … and more; pawl trust status --json lists all")
			return
		}
		line := "  " + string(p.Kind) + ": " + p.Name
		if len(p.Runs) > 0 {
			line += ": " + strings.Join(p.Runs, ", ")
		}
		say("%s", line)
	}
}
