package event

import "github.com/pawl-agent/pawl/internal/core/tool"

// Line is a command line, or a beginning of one, and the exit code of its last command.
type Line struct {
	Command string
	Exit    *int
	Own     bool // not that of an earlier command, for which the last one did not run
}

// Lines returns the lines whose exit codes are known: up to each check, or the whole where
// nothing was told of its parts.
func (b CallDone) Lines() []Line { return lines(b.Command, b.Exit, b.Checks) }

func (b PersonRan) Lines() []Line { return lines(b.Command, b.Exit, b.Checks) }

func lines(whole string, exit *int, checks []tool.Ended) (out []Line) {
	if checks == nil {
		return []Line{{whole, exit, exit != nil && *exit == 0}}
	}
	for _, c := range checks {
		out = append(out, Line{c.Command, &c.Exit, true})
	}
	return out
}
