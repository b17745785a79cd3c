package turn

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Title is one line for a person on what a call is about.
func (p *Pending) Title() string {
	if p.Tool.Facts.Kind == tool.Search { // its footprint is where, not what
		return tool.AboutCall(p.Tool.Spec.Name, p.Call.Args).Title
	}
	var what []string
	if p.Footprint.Shell != "" {
		first, _, more := strings.Cut(p.Footprint.Shell, "\n")
		if more {
			first += " …"
		}
		what = append(what, first)
	}
	words := strings.FieldsFunc(p.Footprint.Shell, func(r rune) bool { return strings.ContainsRune(" \t\n\"'<>|&;()=", r) })
	for _, w := range p.Footprint.Writes {
		if !slices.Contains(words, w.Path) { // else the command names it
			what = append(what, w.Path)
		}
	}
	if len(what) == 0 {
		for _, r := range p.Footprint.Reads {
			what = append(what, r.Path)
		}
	}
	what = append(what, p.Footprint.Hosts...)
	return p.Tool.Spec.Name + " " + strings.Join(what, ", ")
}

// Deny returns the refusal of a call that is not allowed; the run's result
// lists it. by is the rule, the mode or the person that denied it.
func (p *Pending) Deny(reason string, by event.BlockedBy) *Refusal {
	return &Refusal{
		Outcome: event.Denied, Text: "Not allowed, it did not run: " + reason,
		Blocked: &event.Blocked{Call: p.Call.ID, Tool: p.Tool.Spec.Name, What: p.Title(), Reason: reason, By: by},
	}
}
