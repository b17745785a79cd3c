package hints

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// turn is a run of calls, and what hints came of it.
type turn struct {
	t *testing.T
	f Fold
	n int
}

func begin(t *testing.T, tools ...string) *turn {
	x := &turn{t: t}
	r := event.Rebased{}
	for _, n := range tools {
		r.Head.Tools = append(r.Head.Tools, llm.ToolSpec{Name: n})
	}
	x.apply(r, event.Prompted{Text: "go"})
	return x
}

func (x *turn) apply(bs ...event.Body) {
	for _, b := range bs {
		x.f.Apply(event.Event{Body: event.Completed(b)})
	}
}

// call makes a call and takes the hints that are due after it.
func (x *turn) call(tool, args string, d event.CallDone) string {
	x.n++
	id := fmt.Sprint(x.n % 2) // ids repeat
	if d.Outcome == "" {
		d.Outcome = event.OK
	}
	d.ID, d.Tool = id, tool
	x.apply(event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
		{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: tool, Args: json.RawMessage(args)}},
	}}}}, d)
	var said []string
	for _, n := range x.f.Due(24_000) {
		said = append(said, n.Text)
		x.apply(n)
	}
	if len(x.f.Due(24_000)) > 0 {
		x.t.Error("a hint is due again though it was told")
	}
	return strings.Join(said, "\n")
}

// SPEC 4.13: calls that were asked for side by side are one step.
func TestExploreSideBySide(t *testing.T) {
	x := begin(t, "read", "grep", "agent")
	for step := 1; step <= 4; step++ {
		r := llm.Reply{Message: llm.Message{Role: llm.Assistant}}
		for i := range 5 {
			r.Message.Parts = append(r.Message.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: fmt.Sprint(i), Name: "read", Args: json.RawMessage(`{}`)}})
		}
		x.apply(event.Replied{Reply: r})
		for i := range 5 {
			x.apply(event.CallDone{ID: fmt.Sprint(i), Tool: "read", Outcome: event.OK})
		}
		due := x.f.Due(24_000)
		if want := step == 4; (len(due) == 1) != want || want && !strings.Contains(due[0].Text, "4 steps in a row") {
			t.Errorf("step %d: %v", step, due)
		}
	}
}

// SPEC 4.13: the 4th exploratory call in a row suggests the agent tool, where
// there is one; once a turn.
func TestExplore(t *testing.T) {
	for _, has := range []bool{true, false} {
		x := begin(t, "read", "agent")
		if !has {
			x = begin(t, "read")
		}
		for i := 1; i <= 8; i++ {
			got := x.call([]string{"read", "grep", "ls", "glob"}[i%4], `{}`, event.CallDone{})
			if want := i == 4 && has; strings.Contains(got, "agent tool") != want || !want && got != "" {
				t.Errorf("agent %v, call %d: %q", has, i, got)
			}
		}
		x.apply(event.Ended{End: event.EndDone}, event.Prompted{Text: "more"})
		for i := 1; i <= 3; i++ {
			x.call("ls", `{}`, event.CallDone{})
		}
		x.call("edit", `{}`, event.CallDone{}) // breaks the row
		for i := 1; i <= 4; i++ {
			if got := x.call("ls", `{}`, event.CallDone{}); (got != "") != (has && i == 4) {
				t.Errorf("the next turn, call %d: %q", i, got)
			}
		}
	}
}

// SPEC 4.13: the 3rd empty search in a row, by a tool or by a command.
func TestSearch(t *testing.T) {
	one, none := 1, 0
	x := begin(t)
	empty := []func() string{
		func() string { return x.call("grep", `{}`, event.CallDone{Note: "no matches"}) },
		func() string { return x.call("glob", `{}`, event.CallDone{Note: "no files"}) },
		func() string {
			return x.call("bash", `{}`, event.CallDone{Command: "rg -n foo src", Exit: &one, Outcome: event.Failed})
		},
	}
	for i, search := range empty {
		if got := search(); (got != "") != (i == 2) {
			t.Errorf("search %d: %q", i, got)
		}
	}
	x = begin(t)
	empty[0]()
	empty[1]()
	x.call("bash", `{}`, event.CallDone{Command: "grep foo a.go", Exit: &none}) // found
	if got := empty[0]() + empty[1](); got != "" {
		t.Errorf("two in a row: %q", got)
	}
	x.call("bash", `{}`, event.CallDone{Command: "go test ./...", Exit: &one, Outcome: event.Failed}) // no search
	if got := empty[2](); got == "" {
		t.Error("no hint at the third in a row")
	}
}

// SPEC 4.13: the same file in 3 slices; not where it changed between, where one
// read would not do, or where the slices are the same.
func TestSlices(t *testing.T) {
	slice := func(x *turn, path string, from, to int) string {
		return x.call("read", fmt.Sprintf(`{"files":[{"path":%q,"from":%d,"to":%d}]}`, path, from, to), event.CallDone{Result: llm.Result{Text: strings.Repeat("x", (to-from+1)*20)}})
	}
	x := begin(t)
	slice(x, "a.go", 1, 50)
	slice(x, "./a.go", 50, 90)
	slice(x, "a.go", 50, 90)
	if got := slice(x, "a.go", 100, 140); !strings.Contains(got, "a.go was read in slices by 3 calls") || !strings.Contains(got, "lines 1 to 140") {
		t.Errorf("%q", got)
	}
	for name, between := range map[string]func(*turn){
		"changed":   func(x *turn) { x.apply(event.FileChanged{Path: "a.go"}) },
		"compacted": func(x *turn) { x.apply(event.Compacted{}) },
		"at once": func(x *turn) {
			x.apply(event.FileChanged{Path: "a.go"})
			x.call("read", `{"files":[{"path":"a.go","from":1,"to":50},{"path":"a.go","from":50,"to":90},{"path":"a.go","from":80,"to":99}]}`, event.CallDone{Result: llm.Result{Text: "x"}})
		},
		"whole":    func(x *turn) { x.call("read", `{"files":[{"path":"a.go"}]}`, event.CallDone{}) },
		"far":      func(x *turn) { slice(x, "a.go", 5000, 5100) },
		"too long": func(x *turn) { slice(x, "a.go", 120, 1300) },
		"apart":    func(x *turn) { slice(x, "a.go", 700, 750) },
		"failed": func(x *turn) {
			x.call("read", `{"files":[{"path":"a.go","from":9,"to":10}]}`, event.CallDone{Outcome: event.Failed})
			x.apply(event.FileChanged{Path: "a.go"})
		},
	} {
		x := begin(t)
		slice(x, "a.go", 1, 50)
		slice(x, "a.go", 50, 90)
		between(x)
		if got := slice(x, "a.go", 90, 120); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for range 3 {
		x.call("read", `{"files":"nonsense"}`, event.CallDone{})
	}
}

// A row of hints that does not end: a session of many calls costs as much at
// its end as at its start, and what is kept is of one turn.
func TestForgets(t *testing.T) {
	x := begin(t)
	for i := range 1000 {
		x.call("read", fmt.Sprintf(`{"files":[{"path":"f%d","from":1,"to":9}]}`, i), event.CallDone{})
	}
	x.apply(event.Ended{}, event.Prompted{})
	if len(x.f.slicesRead) > 0 || len(x.f.calls) > 0 {
		t.Errorf("%d files, %d calls are kept", len(x.f.slicesRead), len(x.f.calls))
	}
}
