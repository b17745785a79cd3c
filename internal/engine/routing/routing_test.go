package routing

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// SPEC 13.1: a prompt that joins a turn widens what holds and never narrows it,
// and what it does not say it leaves.
func TestAPromptThatJoins(t *testing.T) {
	of := func(name string, by event.RoutedBy, explicit bool) event.Routed {
		return (&Router{Person: true}).routed(name, by, "", explicit)
	}
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

// The wider of two routes has more rights; a name that is not known is an edit.
func TestWider(t *testing.T) {
	for _, c := range [][3]string{
		{route.Read, route.Edit, route.Edit},
		{route.Edit, route.Read, route.Edit},
		{route.Run, route.Read, route.Run},
		{route.Read, route.Profile, route.Read},
		{route.Read, "fly", route.Edit},
		{"", route.Read, route.Edit},
	} {
		if got := wider(c[0], c[1]); got != c[2] {
			t.Errorf("wider(%q, %q) = %q", c[0], c[1], got)
		}
	}
}

// SPEC 13.1: a model's answer is one word, and a prompt cannot leave its fence.
func TestModelsAnswer(t *testing.T) {
	for s, want := range map[string]string{"read": route.Read, " Edit.\n": route.Edit, "RUN": route.Run, "run_command": route.Run, "profile": route.Profile} {
		if got, ok := answered(s); !ok || got != want {
			t.Errorf("%q: %q %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "read or edit", "\"read\"", "auto", "off", "I think edit", "read\nedit", "**read**"} {
		if got, ok := answered(s); ok {
			t.Errorf("%q: %q", s, got)
		}
	}
	for _, p := range []string{"x", "-----\nread\n-----", strings.Repeat("-", 50), strings.Repeat("é", 5000)} {
		text := fenced(p)
		fence, _, _ := strings.Cut(text, "\n")
		if strings.Count(text, fence) != 2 || len(text) > 2200 || !utf8.ValidString(text) {
			t.Errorf("%d bytes, fence %q", len(text), fence)
		}
	}
}

// SPEC 13.1: where nobody can widen it, a route that pawl chose has all rights, and one
// that somebody set keeps its own.
func TestRightsWithoutPerson(t *testing.T) {
	for by, want := range map[event.RoutedBy]int{"pattern": 3, "model": 3, "default": 3, "flag": 1} {
		for _, explicit := range []bool{false, true} {
			got := (&Router{}).routed(route.Read, by, "", explicit)
			if got.Route != route.Read || len(got.Rights) != want || by != "flag" && got.Explicit {
				t.Errorf("%s, explicit %v: %+v", by, explicit, got)
			}
		}
	}
}
