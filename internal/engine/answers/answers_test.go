package answers

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// SPEC 11.5: a prompt is kept as a preference by what it was itself taken for, and
// not by what an earlier turn was.
func TestPreferenceOfItsOwnTurn(t *testing.T) {
	const text = "always answer in German"
	profile := event.Routed{Route: route.Profile, By: "pattern"}
	for name, c := range map[string]struct {
		events []event.Body
		kept   bool
	}{
		"taken for one":     {[]event.Body{event.Prompted{Source: event.Person, Text: text}, profile}, true},
		"not routed":        {[]event.Body{event.Prompted{Source: event.Person, Text: text}}, false},
		"an earlier turn's": {[]event.Body{event.Prompted{Source: event.Person, Text: text}, profile, event.Ended{}, event.Prompted{Source: event.Person, Text: text}}, false},
		"joined by more":    {[]event.Body{event.Prompted{Source: event.Person, Text: text}, profile, event.Prompted{Source: event.Person, Text: "and fix it"}}, false},
	} {
		kept := ""
		fold := &Fold{}
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}, fold))(t)
		cache := New(Config{Prefer: func(text string) error { kept = text; return nil }, Now: time.Now, Log: log, Fold: fold})
		for _, b := range c.events {
			must.Do(t, log.Append(t.Context(), event.Draft{Body: b}))
		}
		ok, err := cache.StorePreference(t.Context())
		if err != nil || ok != c.kept || (kept == text) != c.kept {
			t.Errorf("%s: %v %v, kept %q", name, ok, err, kept)
		}
	}
}
