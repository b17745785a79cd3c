package agentsdk

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 17.6: a conversation goes on after the message that a program names: with all that
// belongs to it, and nothing of what came later.
func TestThrough(t *testing.T) {
	call := &llm.Call{ID: "c"}
	bodies := []event.Body{
		event.Prompted{Text: "one", ID: "p1", Source: event.Person}, // 1
		event.Requested{},
		event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{llm.TextPart("I look"), {Kind: llm.CallPart, Call: call}}}}}, // 3
		event.CallAsked{ID: "c"},
		event.CallStarted{ID: "c"},
		event.CallDone{ID: "c"}, // 6
		event.Requested{},
		event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{llm.TextPart("done")}}}}, // 8
		event.Ended{},
		event.ModeSet{}, // 10
		event.Prompted{Text: "two", ID: "p2", Source: event.Person},   // 11
		event.Recalled{Text: "known"},                                 // 12
		event.Ended{},                                                 // 13
		event.Prompted{Text: "three", Source: event.Person},           // 14
		event.Prompted{Text: "again", ID: "x", Source: event.Autofix}, // 15
	}
	var all []event.Event
	for i, b := range bodies {
		all = append(all, event.Event{Seq: int64(i + 1), Time: time.Unix(int64(i), 7), Body: b})
	}
	read := func(yield func(event.Event, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
	of := func(seq, part int) string { return messageID(all[seq-1], part) }
	for _, c := range []struct {
		uuid, drops string
		want        int64
		says        string
	}{
		{"p1", "", 1, ""},
		{of(1, 0), "", 1, ""},
		{of(3, 0), "", 4, ""},
		{of(3, 1), "", 4, ""},
		{of(6, 0), "", 6, ""},
		{of(8, 0), "", 10, ""},
		{of(12, 0), "", 13, ""},
		{of(14, 0), "", 14, ""},
		{"none", "", 0, "no message of the session has the uuid \"none\""},
		{of(2, 0), "", 0, "no message"},
		{of(12, 0), "p3", 0, "the prompt \"three\" would be left out"},
		{of(8, 0), "p2", 0, "the prompt \"three\" would be left out"},
		{of(6, 0), "p2", 0, "a part of the turn before the prompt \"p2\""},
	} {
		got, err := Through(read, c.uuid, c.drops)
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, dropping %q: %d, %v; want %d, %q", c.uuid, c.drops, got, err, c.want, c.says)
		}
	}
	all = all[:13]
	if got, err := Through(read, of(8, 0), "p2"); got != 10 || err != nil {
		t.Error(got, err)
	}
}
