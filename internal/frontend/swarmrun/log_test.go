package swarmrun

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// A swarm is over when it has ended and a verified result is in the person's files; before
// that it can go on, and others are told with which command. SPEC 14.2
func TestLogEnds(t *testing.T) {
	const again = "pawl swarm resume s"
	plan := event.SwarmPlanned{Goal: "g", Tasks: []event.Task{{ID: "a"}}}
	verified := event.SwarmEnded{Outcome: event.SwarmVerified}
	write := event.Prompted{Text: (&Log{}).landingText() + "g"}
	for name, c := range map[string]struct {
		log        []event.Body
		why, again string
	}{
		"planned":          {[]event.Body{plan}, "it does not run any more", again},
		"verified":         {[]event.Body{plan, verified}, "it is verified, and not written to the files", again},
		"writing":          {[]event.Body{plan, verified, write}, "it is verified, and not written to the files", again},
		"writing failed":   {[]event.Body{plan, verified, write, event.Ended{End: event.EndFailed}}, "it is verified, and not written to the files", again},
		"another turn":     {[]event.Body{plan, verified, event.Prompted{Text: "x"}, event.Ended{End: event.EndDone}}, "it is verified, and not written to the files", again},
		"before it ended":  {[]event.Body{plan, write, event.Ended{End: event.EndDone}, verified}, "it is verified, and not written to the files", again},
		"written":          {[]event.Body{plan, verified, write, event.Ended{End: event.EndDone}}, "it is verified and written to the files", ""},
		"written and more": {[]event.Body{plan, verified, write, event.Ended{End: event.EndDone}, write, event.Ended{End: event.EndFailed}}, "it is verified and written to the files", ""},
		"cancelled":        {[]event.Body{plan, event.SwarmEnded{Outcome: event.SwarmCancelled}}, "it has ended: cancelled", ""},
	} {
		l := &Log{ID: "s"}
		for _, b := range c.log {
			l.Apply(event.Event{Body: b})
		}
		if why, again := l.HowEnded(); why != c.why || again != c.again || l.Over() != (c.again == "") {
			t.Errorf("%s: %q, %q, over %v", name, why, again, l.Over())
		}
	}
}

// SPEC 14.2: a swarm that ends without its whole result says what a person can do, where they
// can do something.
func TestNextStepOfAPart(t *testing.T) {
	for name, c := range map[string]struct {
		end    team.Report
		landed string
		writes bool
	}{
		"a part is merged":         {team.Report{Outcome: event.SwarmIncomplete, Counts: map[string]int{"merged": 2}}, "", true},
		"it is written":            {team.Report{Outcome: event.SwarmIncomplete, Counts: map[string]int{"merged": 2}}, "c1", false},
		"nothing is merged":        {team.Report{Outcome: event.SwarmIncomplete}, "", false},
		"all fails its checks":     {team.Report{Outcome: event.SwarmUnverified, Counts: map[string]int{"merged": 2}}, "", false},
		"it is paused, not at end": {team.Report{Outcome: team.Paused, Counts: map[string]int{"merged": 2}}, "", false},
	} {
		r := &run{log: Log{ID: "s", landed: c.landed}}
		if text := r.notWritten(c.end); strings.Contains(text, "pawl swarm resume s --write-partial") != c.writes {
			t.Errorf("%s: %s", name, text)
		}
	}
}
