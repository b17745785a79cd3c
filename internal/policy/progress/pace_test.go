package progress

import (
	"fmt"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 6.6: the calls of a reply are judged together, when all are done. While some of
// them run, none of them is said to have brought nothing new.
func TestPaceWaitsForTheReply(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	var edits []does
	for i := range 4 {
		edits = append(edits, does{tool: "edit", args: fmt.Sprintf(`{"path":"f%d.go"}`, i), result: "+1 -1", file: fmt.Sprintf("f%d.go", i), before: "a", now: "b"})
	}
	l.step("reading", does{tool: "read", args: `{"path":"a.go"}`, result: "package a"})
	l.step("editing", edits...)
	l.step("again", does{tool: "read", args: `{"path":"a.go"}`, result: "package a"}, does{tool: "read", args: `{"path":"a.go"}`, result: "package a"})

	var p Pace
	f := NewFold(Default())
	var got []int
	for _, e := range l.log {
		f.Apply(e)
		p.Apply(e, f)
		if _, ok := e.Body.(event.CallDone); ok {
			got = append(got, p.since)
		}
	}
	if want := []int{0, 0, 0, 0, 0, 0, 2}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("nothing new in the last %v, want %v", got, want)
	}
}
