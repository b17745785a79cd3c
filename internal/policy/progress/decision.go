package progress

import (
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// Decision is the action that is due after a step.
type Decision struct {
	Action  Action
	Finding Finding
	// Text is for the model at Recover and Block, for the person at Stop.
	Text string
	// Evidence has a line for each call that shows the loop.
	Evidence []string
	// Call is the blocked call as Blocked identifies it, "" if none is blocked.
	Call string
}

// Next returns the action that is due now. After its Event was applied, none is.
func (f *Fold) Next() Decision {
	d := Decision{Action: f.escalation.Next(f.now), Finding: f.now}
	if d.Action == Nothing {
		return d
	}
	d.Evidence = f.evidence(f.now)
	last := f.about(f.now)
	if d.Action == Block && last != nil && blockable(f.now.Rule, last) && f.recurs(last) {
		d.Call = blockKey(last.tool, last.c.args)
	}
	switch {
	case d.Action == Stop:
		d.Text = toPerson + f.now.Text + ". A recovery was tried and the calls were blocked, without effect."
	case d.Action == Block && d.Call == "":
		d.Text = f.recovery(f.now, Recover)
	default:
		d.Text = f.recovery(f.now, d.Action)
	}
	return d
}

// The beginnings of a decision's text, for the model and for a person.
const (
	toModel  = "You are going in circles: "
	toPerson = "Stopped: "
)

// Loop describes the loop in a few words: the text of a decision without the
// advice to the model. A person is shown this text; the evidence is shown
// elsewhere (SPEC 18.2).
func Loop(b event.Stuck) string {
	first, _, _ := strings.Cut(strings.TrimSpace(b.Text), "\n")
	if what, ok := strings.CutPrefix(first, toModel); ok {
		return strings.TrimSuffix(what, ".")
	}
	first, _, _ = strings.Cut(strings.TrimPrefix(first, toPerson), ". A recovery was tried")
	return first
}

func (d Decision) Event() event.Stuck {
	return event.Stuck{
		Level: d.Action.String(), Rule: d.Finding.Rule, Text: d.Text, Evidence: d.Evidence,
		Fingerprint: d.Finding.Fingerprint, Steps: d.Finding.Steps, Call: d.Call,
	}
}

// Blocked reports whether a call must not run, and the reason for the model.
func (f *Fold) Blocked(tool string, args json.RawMessage) (bool, string) {
	if len(f.escalation.blocked) == 0 {
		return false, ""
	}
	same, _ := sameArgs(args)
	if !f.escalation.Blocked(blockKey(tool, same)) {
		return false, ""
	}
	return true, "This call did not run: it was made several times and came to the same each time, which its results above show. " +
		"It can run again once a file has new content. Take another way, or say what keeps you from going on."
}

// recurs reports whether a call was made before with the same arguments: to block
// one that will not be made again says nothing to the model.
func (f *Fold) recurs(last *record) bool {
	for i := max(0, f.calls-recordLimit); i < f.calls; i++ {
		if r := &f.records[i%recordLimit]; r.step != last.step && r.tool == last.tool && r.c.args == last.c.args {
			return true
		}
	}
	return false
}

func blockKey(tool, args string) string { return tool + ":" + normalize.Digest(args) }

// blockable reports whether a rule may block a call. Waiting, planning and
// asking are never the loop itself, and texts are not calls.
func blockable(rule string, r *record) bool {
	switch rule {
	case "message", streamRule, compactRule:
		return false
	}
	switch r.c.kind {
	case Wait, Think, None, Submit:
		return false
	}
	return true
}
