package lifecycle_test

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 10.4: the cost of an event does not grow with the session.
func BenchmarkApply(b *testing.B) {
	step := []event.Body{
		event.Requested{}, event.Replied{}, event.CallAsked{ID: "c"}, event.CallStarted{ID: "c"}, event.CallDone{ID: "c", Outcome: event.OK},
	}
	var f folds
	f.apply(event.Event{Seq: 1, Body: event.Prompted{}})
	b.ReportAllocs()
	for n := int64(0); b.Loop(); n++ {
		f.apply(event.Event{Seq: n + 2, Body: step[n%int64(len(step))]})
	}
}
