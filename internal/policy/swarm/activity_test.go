package swarm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 14.3: what a worker does is the same call only with the same arguments and the same
// result; it is new if the worker has not seen it or changed a file; and what it changed
// is told with its task.
func TestActivity(t *testing.T) {
	a := NewActivity("w1")
	call := func(args, result string, outcome event.Outcome) (Call, *Failure) {
		t.Helper()
		if _, _, ended := a.Apply(event.Event{Body: event.CallAsked{ID: "c", Tool: "bash", Args: json.RawMessage(args)}}); ended {
			t.Error("a call ended when it was asked for")
		}
		c, failed, ended := a.Apply(event.Event{Body: event.CallDone{ID: "c", Tool: "bash", Outcome: outcome, Result: llm.Result{Text: result}}})
		if !ended || c.Worker != "w1" || c.Failed != (failed != nil) || c.What != "bash "+args {
			t.Errorf("%s: %+v, %+v, ended %v", args, c, failed, ended)
		}
		return c, failed
	}
	change := func(path string) { a.Apply(event.Event{Body: event.FileChanged{Path: path}}) }

	first, _ := call("{1}", "x", event.OK)
	for _, c := range []struct {
		args, result  string
		changed       string
		same, isKnown bool
	}{
		{"{1}", "x", "", true, true},
		{"{1}", "x", "b.go", true, false}, // it changed a file
		{"{1}", "x", "", true, true},
		{"{1}", "y", "", false, false},
		{"{2}", "x", "", false, false},
	} {
		if c.changed != "" {
			change(c.changed)
		}
		if got, _ := call(c.args, c.result, event.OK); got.Key == first.Key != c.same || got.New == c.isKnown {
			t.Errorf("%+v: %+v, the first was %+v", c, got, first)
		}
	}
	if _, failed := call("{3}", strings.Repeat("ä", 2000), event.TimedOut); failed == nil || failed.Category != "timeout" || failed.Text != strings.Repeat("ä", 1000)+"…" {
		t.Errorf("the failure is %+v", failed)
	}

	change("a.go")
	if refs := fmt.Sprint(a.References("t", "\nIt holds.\nMore.")); refs != "[{a.go changed by the worker of task t, which says: It holds.} {b.go changed by the worker of task t, which says: It holds.}]" {
		t.Error(refs)
	}
	for i := range 2 * mostReferences {
		change(fmt.Sprint(i))
	}
	if refs := a.References("t", " \n"); len(refs) != mostReferences || refs[0].Note != "changed by the worker of task t" {
		t.Errorf("%d references, the first %+v", len(refs), refs[0])
	}
}
