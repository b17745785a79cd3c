package chat

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Excerpt is the beginning and the end of what something printed.
type Excerpt struct {
	Head, Tail []string
	Between    int64 // lines that are left out between them
	Spilled    bool  // the recorded result does not have all of them
}

const (
	excerptHead = 4
	excerptTail = 8
	// firstLines is how much of the output of a call that succeeded is shown. One line
	// more is shown whole: its fold would take as much.
	firstLines = 3
)

// Failed reports whether a call ran and failed, as a command or another program:
// then a person wants to see what it printed.
func (c Call) Failed() bool {
	broke := c.Outcome != event.OK || c.Exit != nil && *c.Exit != 0
	return broke && !c.Refused() && (c.Command != "" || c.Kind == tool.Exec)
}

// Refused reports whether a call did not run.
func (c Call) Refused() bool {
	return c.Outcome == event.Denied || c.Outcome == event.Invalid || c.Outcome == event.Cancelled
}

// Background reports whether a call started a command that runs on.
func (c Call) Background() bool {
	return c.Outcome == event.OK && c.Exit == nil && c.Command != "" && strings.HasPrefix(c.Summary, "started ")
}

// Shown returns the part of a finished call's output that a person sees without asking
// for more: of one that failed the beginning and the end, of one that ran or searched
// something the first lines. What a person reads by name, and a diff, are shown by its title.
func (c Call) Shown() (x Excerpt) {
	switch {
	case c.Outcome == event.Cancelled && c.Command != "": // it ran until then
		return Printed(c.Output, false)
	case c.Refused() || c.Outcome == event.UnknownDone:
	case c.Failed():
		return Printed(c.Output, false)
	case c.Background(): // the text is for the model
		x.Head = []string{"/bashes shows or ends it"}
	case c.Outcome == event.OK && c.Diff == "" && (c.Command != "" || c.Kind == tool.Exec || c.Kind == tool.Search || c.Kind == tool.Wait || c.Arguments != ""):
		all := Printed(c.Output, true).Head
		if len(all) > firstLines+1 {
			x.Between = int64(len(all) - firstLines)
			for _, l := range all[firstLines:] {
				if n, ok := tool.Missing(l); ok {
					x.Between, x.Spilled = x.Between+n-1, true
				}
			}
			all = all[:firstLines]
		}
		x.Head = all
	}
	return x
}

// Printed returns a command's output without the line of the exit code, which its title
// has. all: head and tail are the whole output.
func Printed(output string, all bool) (x Excerpt) {
	lines := strings.Split(strings.Trim(output, "\n"), "\n")
	if n := len(lines) - 1; strings.HasPrefix(lines[n], "exit code ") {
		lines = lines[:n]
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { // for the model; the person has answered, and the title names it
		return strings.HasSuffix(l, "]") && (strings.HasPrefix(l, "[the user ") || strings.HasPrefix(l, "[the sandbox refused"))
	})
	if len(lines) == 0 || len(lines) == 1 && lines[0] == "" {
		return x
	}
	if len(lines) <= excerptHead+excerptTail+2 || all {
		x.Head = lines
		return x
	}
	x.Head, x.Tail = lines[:excerptHead], lines[len(lines)-excerptTail:]
	for _, l := range lines[excerptHead : len(lines)-excerptTail] {
		x.Between++
		if n, ok := tool.Missing(l); ok {
			x.Between, x.Spilled = x.Between+n-1, true
		}
	}
	return x
}
