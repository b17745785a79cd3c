package offline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/plural"
)

// planRun runs a command and explains its outcome.
func planRun(h *actions, in intent) {
	command := in.command
	if command == "" {
		dirs, err := modules(h)
		switch {
		case err != nil:
			h.Stop(err)
			return
		case len(dirs) == 0:
			h.Decline("I found no go.mod here, so I do not know what to run. Say which command, as in: run `make check`.")
			return
		}
		command = repair.In(dirs[0], "go test ./...")
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
	r := repair.ReadTests(out)
	switch {
	case exit == 127 && strings.Contains(out, "not found"):
		return "The command could not be found (exit code 127): " + lastLine(out)
	case exit == 124:
		return "`" + command + "` did not end in time and was stopped."
	case exit == 0 && len(r.Passed) > 0:
		return "`" + command + "` passed: " + plural.Of(len(r.Passed), "package") + ", exit code 0."
	case exit == 0 && strings.TrimSpace(out) == "":
		return "`" + command + "` succeeded, exit code 0. It printed nothing."
	case exit == 0:
		return "`" + command + "` succeeded, exit code 0. It printed:\n" + tail(out, 12)
	}
	said := []string{fmt.Sprintf("`%s` failed with exit code %d.", command, exit)}
	for _, f := range r.Failures[:min(len(r.Failures), 8)] {
		said = append(said, words(f))
	}
	if errs := repair.ReadBuild(out, false); len(r.Failures) == 0 || len(r.Unbuilt) > 0 {
		for _, e := range errs[:min(len(errs), 3)] {
			said = append(said, e.Where()+": "+e.Msg)
		}
	}
	if len(said) == 1 && strings.TrimSpace(out) != "" {
		said = append(said, "The end of its output:\n"+tail(out, 6))
	}
	return strings.Join(said, "\n")
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

// tail returns the last n lines, indented, without blank lines at the end.
func tail(out string, n int) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}
