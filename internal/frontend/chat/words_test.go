package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// SPEC 16.11: one line each, nothing obeyed.
func TestCallTitle(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"bash", `{"command":"ls\nrm x"}`, "bash ls …"},
		{"read", `{"files":[{"path":"a"},{"path":"a"},{"path":"b"}]}`, "read a, b"},
		{"multi_edit", `{"edits":[{"path":"a"},{"path":"b"}]}`, "multi_edit a, b"},
		{"todo", `{"items":[]}`, "todo"},
		{"x\x1b[2J", `[1]`, "x"},
		{"write", `{"path":"\u001b]0;t\u0007\u202ea"}`, `write \u{202E}a`},
		{"bash", `{"command":"` + strings.Repeat("é", 200) + `"}`, "bash " + strings.Repeat("é", 160) + "…"},
	} {
		asked := event.Completed(event.CallAsked{Tool: c.name, Args: json.RawMessage(c.args)}).(event.CallAsked)
		if got := plain.Line(asked.Title); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestOutcomeWords(t *testing.T) {
	if got := outcomeWords(event.CallDone{Outcome: event.Failed, Result: llm.Result{Text: "== a.txt ==\nerror: a.txt does not exist"}}); got != "failed: a.txt does not exist" {
		t.Errorf("%q", got)
	}
	if got := outcomeWords(event.CallDone{Outcome: event.Failed, Result: llm.Result{Text: "[arguments read as: file_path → path]\n== a.txt ==\nerror: that text is there twice"}}); got != "failed: that text is there twice" {
		t.Errorf("%q", got)
	}
	if got := outcomeWords(event.CallDone{Outcome: event.Failed, Result: llm.Result{Text: "[1, 2]"}}); got != "failed: [1, 2]" {
		t.Errorf("%q", got)
	}
	for want, d := range map[string]event.CallDone{
		"12 matches":                                {Outcome: event.OK, Note: "12 matches"},
		"12 matches 1.5s":                           {Outcome: event.OK, Note: "12 matches", Took: 1500 * time.Millisecond},
		"exit code 0, 2s":                           {Outcome: event.OK, Note: "exit code 0, 2s", Command: "x", Took: 2 * time.Second},
		"exit code 2":                               {Outcome: event.Failed, Exit: new(2), Result: llm.Result{Text: "boom"}},
		"failed: no such file":                      {Outcome: event.Failed, Result: llm.Result{Text: "no such file\nmore"}},
		"not run: a rule says so":                   {Outcome: event.Denied, Result: llm.Result{Text: "Not allowed, it did not run: a rule says so"}},
		"not run: not trusted":                      {Outcome: event.Denied, Result: llm.Result{Text: "not run: not trusted"}},
		"exit code 0; make: exit code 2, 2s":        {Outcome: event.Failed, Note: "exit code 0; make: exit code 2, 2s", Command: "x", Exit: new(int), Took: 2 * time.Second},
		"not run: no path":                          {Outcome: event.Invalid, Result: llm.Result{Text: "no path\x1b[2J"}},
		"cancelled":                                 {Outcome: event.Cancelled},
		"failed: " + strings.Repeat("x", 120) + "…": {Outcome: event.Failed, Result: llm.Result{Text: strings.Repeat("x", 300)}},
	} {
		if got := outcomeWords(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, d := range map[string]time.Duration{"5ms": 5 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "1m5s": 65 * time.Second} {
		if got := took.Text(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// SPEC 3.4: a retry is one block, which says what failed in plain words, which try comes when,
// and how many tries there are or when pawl gives up; at its end how many failed.
func TestRetryWords(t *testing.T) {
	busy := event.Fault{Category: "provider", Message: "p answered 529:\nbusy [overloaded_error]"}
	bare := event.Fault{Category: "provider", Message: "p answered 400: no explanation [bad_request] (see [key])"}
	for _, c := range []struct {
		bodies []event.Body
		want   string
	}{
		{[]event.Body{event.Retried{Attempt: 1, Error: busy, Wait: 2 * time.Second, Left: time.Minute, Shown: true}},
			"+p answered 529: busy; waiting 2s before try 2, gives up in 1m2s (its text so far is discarded)"},
		{[]event.Body{event.Retried{Attempt: 2, Error: busy, Wait: 8 * time.Second, Left: 4*time.Minute + 46*time.Second}, event.Waiting{Left: time.Second}},
			"+p answered 529: busy; waiting 8s before try 3, gives up in 5m\n~p answered 529: busy; waiting 1s before try 3, gives up in 5m"},
		{[]event.Body{event.Retried{Attempt: 2, Error: busy, Wait: 2 * time.Second, Left: time.Minute, Most: 5}}, "+p answered 529: busy; waiting 2s before try 3 of 5"},
		{[]event.Body{event.Retried{Attempt: 1, Error: bare}}, "+p answered 400: no explanation [bad_request] (see [key]); try 2 now"},
		{[]event.Body{event.Retried{Attempt: 1, Error: event.Fault{Message: "a [b_c]"}}}, "+a [b_c]; try 2 now"},
		{[]event.Body{
			event.Retried{Attempt: 1, Error: busy, Wait: 2 * time.Second, Left: 58 * time.Second}, event.Waiting{Left: time.Second}, event.Requested{Attempt: 2},
			event.Retried{Attempt: 2, Error: busy, Wait: 3 * time.Second, Left: 55 * time.Second}, event.TextDelta{Text: "I"}, event.Replied{},
		}, "+p answered 529: busy; waiting 2s before try 2, gives up in 1m\n~p answered 529: busy; waiting 1s before try 2, gives up in 59s\n~p answered 529: busy; try 2 now, gives up in 58s\n" +
			"~p answered 529: busy; waiting 3s before try 3, gives up in 58s\n~p answered 529: busy; 2 tries failed\n.p answered 529: busy; 2 tries failed"},
		{[]event.Body{event.Retried{Attempt: 1, Error: busy}, event.Retried{Attempt: 2, Error: busy, Model: "m/o"}},
			"+p answered 529: busy; try 2 now\n~p answered 529: busy; 2 tries failed, m/o goes on from here\n.p answered 529: busy; 2 tries failed, m/o goes on from here"},
		{[]event.Body{event.Retried{Attempt: 1, Error: busy}, event.Retried{Attempt: 2, Error: busy, Shown: true}},
			"+p answered 529: busy; try 2 now\n.p answered 529: busy; 1 try failed\n+p answered 529: busy; try 3 now (its text so far is discarded)"},
		{[]event.Body{event.Retried{Attempt: 1, Error: busy}, event.Retried{Attempt: 2, Error: bare}, event.Interrupted{}},
			"+p answered 529: busy; try 2 now\n.p answered 529: busy; 1 try failed\n+p answered 400: no explanation [bad_request] (see [key]); try 3 now\n" +
				".p answered 400: no explanation [bad_request] (see [key]); 1 try failed"},
		{[]event.Body{event.Retried{Attempt: 1, Error: busy}, event.Ended{End: event.EndProvider, Error: &event.Fault{Message: "after 2 tries: " + busy.Message}}},
			"+p answered 529: busy; try 2 now\n-p answered 529: busy; 1 try failed"},
	} {
		var line Timeline
		var got []string
		for i, b := range c.bodies {
			for _, ch := range line.Apply(event.Event{Seq: int64(i + 1), Body: b}) {
				if r, ok := ch.Block.Body.(Retry); ok {
					sign := map[What]string{Added: "+", Changed: "~", Finished: "."}[ch.What]
					if ch.Block.Ephemeral {
						sign = "-"
					}
					if _, failed := b.(event.Retried); r.Failed != (failed && ch.What != Finished) {
						t.Errorf("%s%s: failed is %v", sign, r.Text, r.Failed)
					}
					got = append(got, sign+r.Text)
				}
			}
		}
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

// SPEC 18.2: a question names each reason once, and drops only the reasons that
// the call shows itself.
func TestReason(t *testing.T) {
	for _, c := range []struct{ title, preview, reason, want string }{
		{"bash go vet ./...", "go vet ./...", "it runs `go vet ./...`", ""},
		{"bash touch b …", "touch b\ntouch c", "it runs `touch b`; it runs `touch c`", ""},
		{"edit a.go (+1 -1)", "--- a\n", "it changes a.go", ""},
		{"bash rm -rf /x", "rm -rf /x", "it changes /x, which is outside the workspace; it runs `rm -rf /x`", "it changes /x, which is outside the workspace"},
		{"bash x", "x", "it runs `curl evil`", "it runs `curl evil`"},
		{"bash x", "x", "it changes y", "it changes y"},
		{"bash sh \x1b[2Jx", "sh \x1b[2Jx", "no one knows what it does\x1b[31m", "no one knows what it does"},
	} {
		if got := questionReason(event.Question{Tool: "bash", Title: c.title, Preview: c.preview, Reason: c.reason}); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.title, c.reason, got, c.want)
		}
	}
}

// SPEC 18.2: the stuck detector speaks to a person in one sentence.
func TestStuckWords(t *testing.T) {
	letter := "You are going in circles: the same read call with the same result 3 times.\n\nWhat shows it:\n- call 1: read a\n\nNothing changed."
	for _, c := range []struct {
		b    event.Stuck
		look string
		want string
	}{
		{event.Stuck{Level: "recovery", Text: letter}, "/why", "the model repeats itself: the same read call with the same result 3 times; pawl tells it, and suggests another way (evidence: /why)"},
		{event.Stuck{Level: "block", Text: letter, Call: "read:1"}, "pawl why", "the model repeats itself: the same read call with the same result 3 times; that call is blocked until a file changes (evidence: pawl why)"},
		{event.Stuck{Level: "block", Text: letter}, "", "the model repeats itself: the same read call with the same result 3 times; pawl tells it again"},
		{event.Stuck{Level: "halt", Text: "Stopped: x. A recovery was tried and the calls were blocked, without effect."}, "/why", ""},
	} {
		if got := stuckWords(c.b, c.look); got != c.want {
			t.Errorf("%+v: %q", c.b, got)
		}
	}
}
