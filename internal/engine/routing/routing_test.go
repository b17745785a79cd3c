package routing

import (
	"fmt"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// SPEC 13.1: a prompt that joins a turn widens what holds and never narrows it,
// and what it does not say it leaves.
func TestAPromptThatJoins(t *testing.T) {
	of := func(name, by string, explicit bool) event.Routed { return routed(name, by, "", explicit) }
	for name, c := range map[string]struct{ now, next, want event.Routed }{
		"the first":                      {event.Routed{}, of(route.Read, "pattern", false), of(route.Read, "pattern", false)},
		"wider":                          {of(route.Read, "pattern", false), of(route.Edit, "model", false), of(route.Edit, "model", false)},
		"narrower":                       {of(route.Edit, "pattern", false), of(route.Read, "pattern", false), of(route.Edit, "pattern", false)},
		"nothing said":                   {of(route.Read, "pattern", true), of(route.Edit, "default", false), of(route.Read, "pattern", true)},
		"to run is no leave to change":   {of(route.Read, "pattern", true), of(route.Run, "pattern", false), of(route.Run, "pattern", true)},
		"to change what was not allowed": {of(route.Read, "pattern", true), of(route.Edit, "pattern", false), of(route.Edit, "pattern", false)},
	} {
		if got := join(c.now, c.next); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// SPEC 13.1: which prompts are still to be routed, and what holds, are folded: a
// prompt counts until a route takes it along, and a route until the person begins
// the next turn. What others than a person say is not routed (SPEC 13.2).
func TestWhatIsToBeRouted(t *testing.T) {
	var f Fold
	for i, c := range []struct {
		body    event.Body
		waiting int
		now     string
	}{
		{event.Prompted{Source: event.Person, Text: "why?"}, 1, ""},
		{event.Prompted{Source: event.Person, Text: "and how?"}, 2, ""},
		{event.Routed{Route: route.Read}, 0, route.Read},
		{event.Prompted{Source: event.Autofix, Text: "mend it"}, 0, route.Read},
		{event.Prompted{Source: event.Person, Text: "mend it"}, 1, route.Read},
		{event.Ended{}, 0, route.Read},
		{event.Prompted{Source: event.Hook}, 0, route.Read},
		{event.Ended{}, 0, route.Read},
		{event.Prompted{Source: event.Person, Text: "another"}, 1, ""},
	} {
		f.Apply(event.Event{Body: c.body})
		if len(f.waiting) != c.waiting || f.Current().Route != c.now {
			t.Errorf("%d: %d wait, %q", i, len(f.waiting), f.Current().Route)
		}
	}
}
