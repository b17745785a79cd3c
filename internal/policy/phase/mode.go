package phase

import "github.com/pawl-agent/pawl/internal/core/event"

const (
	modeBegins = "[Plan mode: you can read and explore, and nothing can be changed. Where a change is wanted, explore until you know what it takes, ask what only the person can decide, and end with the plan: the heading \"# Plan: TITLE\", a few sentences on what and why, and a heading \"## Phase N: TITLE\" for each phase in order, with the files that it touches, what is done there, and how it is verified. The person approves, edits or rejects it; do not ask for that yourself. A mere question is answered without a plan.]"
	modeEnds   = "[Plan mode is over: changes are possible again.]"
)

// Planning is what plan mode has come to: the plan, and what the model was told. The
// zero value is ready.
type Planning struct {
	Proposal Proposal
	told     bool // the model was told of plan mode, and not of its end
}

func (p *Planning) Apply(e event.Event) {
	p.Proposal.Apply(e)
	switch b := e.Body.(type) {
	case event.Noted:
		if b.Why == event.NotedPlan {
			p.told = b.Text == modeBegins
		}
	case event.Compacted:
		p.told = false
	}
}

// Note returns what the model must be told of plan mode with a person's prompt, ""
// where it knows. in: the session is in plan mode.
func (p *Planning) Note(in bool) string {
	switch {
	case in && !p.told:
		return modeBegins
	case !in && p.told:
		return modeEnds
	}
	return ""
}
