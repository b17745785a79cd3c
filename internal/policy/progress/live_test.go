package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// feed applies bodies, a minute apart.
func feed(f *Fold, bs ...event.Body) {
	for _, b := range bs {
		f.Apply(event.Event{Seq: 1, Time: f.phases.At().Add(time.Minute), Body: event.Completed(b)})
	}
}

// SPEC 6.3, 7.1: a phase never seen before clears streaks of errors, and
// nothing else; one that is refused changes nothing.
func TestPhasedClearsStreaksOfErrors(t *testing.T) {
	t.Parallel()
	fails := func(f *Fold, n int) {
		for i := range n {
			id := fmt.Sprint("c", i)
			feed(f, event.Requested{}, event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: "read"}}}}}},
				event.CallAsked{ID: id, Tool: "read", Args: []byte(`{"files":[{"path":"x"}]}`)},
				event.CallDone{ID: id, Tool: "read", Outcome: event.Failed, Result: llm.Result{Text: fmt.Sprint("no such file x, try ", i), Error: true}})
		}
	}
	for name, c := range map[string]struct {
		between event.Body
		warns   bool
	}{
		"nothing":             {event.Ticked{}, true},
		"a new phase":         {event.Phased{Number: 2, Text: "two", By: "person"}, false},
		"one that is refused": {event.Phased{Number: 1, Text: "again", By: "person"}, true},
		"an end":              {event.Phased{By: "person"}, true},
	} {
		f := NewFold(Default())
		feed(f, event.Prompted{Source: event.Person, Text: "go"}, event.Phased{Number: 1, Text: "one", By: "person"})
		fails(f, 2)
		feed(f, c.between)
		fails(f, 1)
		v := f.Last()
		if got := v.Level == Warn && v.Rule == "same_error"; got != c.warns {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// SPEC 6.5: replies that are cut off one after the other go up the ladder,
// whatever they say; a whole reply between begins anew, a person's word too.
func TestLoopedReplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []event.Body
		want   string
	}{
		"one passage":       {[]event.Body{event.Retried{Loop: "a b c. "}, event.Retried{Loop: "b c. a "}, event.Retried{Loop: "c. a b "}}, "recovery block halt"},
		"other passages":    {[]event.Body{event.Retried{Loop: "a b"}, event.Retried{Loop: "c d"}, event.Retried{Loop: "e f"}, event.Retried{Loop: "g h"}}, "recovery recovery block halt"},
		"a reply between":   {[]event.Body{event.Retried{Loop: "a b"}, event.Replied{}, event.Retried{Loop: "c d"}, event.Replied{}, event.Retried{Loop: "e f"}}, "recovery recovery recovery"},
		"a person between":  {[]event.Body{event.Retried{Loop: "a b"}, event.Prompted{Source: event.Person}, event.Retried{Loop: "a b"}}, "recovery recovery"},
		"an autofix prompt": {[]event.Body{event.Retried{Loop: "a b"}, event.Prompted{Source: event.Autofix}, event.Retried{Loop: "a b"}}, "recovery block"},
		"another failure":   {[]event.Body{event.Retried{}, event.Retried{}, event.Retried{}}, ""},
	} {
		f := NewFold(Default())
		var got []string
		for _, b := range c.events {
			feed(f, b)
			d := f.Next()
			if _, ok := b.(event.Retried); ok && d.Action != Nothing {
				got = append(got, d.Action.String())
				if len(d.Evidence) == 0 || d.Call != "" || d.Text == "" {
					t.Errorf("%s: %+v", name, d)
				}
				feed(f, d.Event())
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", name, s, c.want)
		}
	}
}
