package swarmrun

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
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
