package why

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func folded(bs ...event.Body) *Fold {
	f := &Fold{}
	for i, b := range bs {
		f.Apply(event.Event{Session: "s", Seq: int64(i + 1), Time: time.Unix(int64(i), 0), Body: b})
	}
	return f
}

// of returns the finding of a kind as one text.
func of(f *Fold, k Kind) string {
	for _, x := range f.Findings() {
		if x.Kind == k {
			return fmt.Sprint(x.Seq, " ", x.Text, " | ", strings.Join(x.Evidence, " | "))
		}
	}
	return ""
}

func called(id, tool, args string, outcome event.Outcome, text string) []event.Body {
	return []event.Body{
		event.CallAsked{ID: id, Tool: tool, Args: json.RawMessage(args)},
		event.CallDone{ID: id, Tool: tool, Outcome: outcome, Result: llm.Result{ID: id, Text: text}},
	}
}

func has(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in:\n%s", w, got)
		}
	}
}

// SPEC 15.2: each kind of trouble with its evidence.
func TestKinds(t *testing.T) {
	bs := []event.Body{event.Prompted{Text: "fix it\nplease"}, event.Requested{Model: "p/m"}}
	bs = append(bs, event.Retried{Attempt: 1, Error: event.Fault{Message: "529 overloaded"}, Wait: time.Second, Shown: true})
	bs = append(bs, event.Retried{Attempt: 2, Error: event.Fault{Message: "529 overloaded"}, Wait: 2 * time.Second})
	bs = append(bs, called("1", "edit", `{"path": "a.go"}`, event.Denied, "a.go was not read\nlines")...)
	bs = append(bs, event.CallAsked{ID: "2", Tool: "bash", Args: json.RawMessage(`{"command": "rm -rf /"}`)},
		event.Blocked{Call: "2", Tool: "bash", What: "bash rm -rf /", Reason: "never", By: "refusal"},
		event.CallDone{ID: "2", Tool: "bash", Outcome: event.Denied, Result: llm.Result{Text: "Not allowed"}})
	bs = append(bs, called("3", "bash", `{"command": "go test"}`, event.Failed, "exit code 1")...)
	bs = append(bs, event.Stuck{Level: "recovery", Rule: "same-error", Text: "You repeat yourself.", Evidence: []string{"call 3"}})
	bs = append(bs, event.Ended{End: event.EndProvider, Error: &event.Fault{Message: "gave up"}})
	f := folded(bs...)
	has(t, of(f, Retry), "a request to p/m failed: 529 overloaded", "2 times in a row", "after 2s")
	if strings.Contains(of(f, Retry), "withdrawn") {
		t.Error("that was the try before")
	}
	has(t, of(f, Block), `edit {"path": "a.go"} did not run: a.go was not read`)
	has(t, of(f, Denial), "bash rm -rf / was not allowed: never", "decided by: refusal", `{"command": "rm -rf /"}`)
	has(t, of(f, Loop), "recovery by the rule same-error: You repeat yourself.", "call 3")
	has(t, of(f, Halt), "the turn ended: provider: gave up", "the prompt was: fix it", `bash {"command": "go test"} → failed: exit code 1`)
	if of(f, Budget) != "" || of(f, Cost) != "" {
		t.Error("what did not happen")
	}
	if fs := f.Findings(); fs[0].Kind != Halt {
		t.Errorf("the newest is %s", fs[0].Kind)
	}
}

// SPEC 15.2, 6.5: a halt for a loop names rule and steps.
func TestStuckHalt(t *testing.T) {
	f := folded(event.Prompted{Text: "go"},
		event.Stuck{Level: "halt", Rule: "cycle", Text: "stopped", Evidence: []string{"step 4: bash ls", "step 5: bash ls"}},
		event.Ended{End: event.EndStuck})
	has(t, of(f, Halt), "the turn ended: stuck", "rule: cycle", "step 5: bash ls")
}

// SPEC 15.2, 13.3: a turn that ended not verified, with the checks that failed
// in it, until a later one is verified or all of it is put back.
func TestUnverified(t *testing.T) {
	bs := []event.Body{
		event.Prompted{Text: "fix it"},
		event.FileChanged{Path: "a.go", Tool: "edit", Before: "1", After: "2"},
		event.Checking{Command: "go test ./..."},
		event.Checked{Command: "go test ./...", Exit: new(1), Failures: 2, Output: "=====\n--- FAIL: TestA\n[all output: /x]"},
		event.Prompted{Source: event.Autofix, Text: "mend it"},
		event.FileChanged{Path: "a.go", Tool: "edit", Before: "2", After: "3"},
		event.Checked{Command: "go test ./...", Exit: new(1)},
		event.Ended{End: event.EndDone},
	}
	f := folded(bs...)
	has(t, of(f, Check), "8 the changes are not verified: go test ./..., exit code 1", "the turn changed: a.go",
		"the model was asked to fix it; attempts: 1", "go test ./... → exit code 1, 2 failures: --- FAIL: TestA")
	if of(f, Halt) != "" {
		t.Error("the turn ended by itself")
	}
	put := folded(append(bs, event.Prompted{Text: "and?"}, event.Ended{End: event.EndDone}, event.FileChanged{Path: "a.go", Tool: "undo", Before: "2", After: "1"}, event.Undone{Paths: []string{"a.go"}})...)
	if got := of(put, Check); got != "" {
		t.Errorf("put back: %s", got)
	}
	f = folded(append(bs, event.Prompted{Text: "again"}, event.FileChanged{Path: "b.go", Tool: "edit", After: "2"},
		event.Checking{Command: "make test"}, event.Checked{Command: "make test", Why: "it may not run"}, event.Ended{End: event.EndDone})...)
	has(t, of(f, Check), "13 the changes are not verified: make test: it may not run", "make test → it may not run")
	if got := of(f, Check); strings.Contains(got, "TestA") || strings.Contains(got, "asked") {
		t.Errorf("of the turn before: %s", got)
	}
	f = folded(append(bs, event.Prompted{Text: "again"}, event.FileChanged{Path: "a.go", Tool: "edit", Before: "2", After: "3"},
		event.Checked{Command: "go test ./...", Exit: new(0), Tests: 1}, event.Ended{End: event.EndDone})...)
	if got := of(f, Check); got != "" {
		t.Errorf("it is verified: %s", got)
	}
	f = folded(event.Prompted{Text: "x"}, event.FileChanged{Path: "a.md", Tool: "write", After: "2"},
		event.Checked{Why: "only documents changed, which no check looks at"}, event.Ended{End: event.EndInterrupted})
	has(t, of(f, Check), "not verified: only documents changed")
}

// SPEC 15.2, 8.1: budgets and costs, also of what broke off and of children.
func TestMoney(t *testing.T) {
	usage := llm.Usage{Known: true, Input: 1000, CacheRead: 9000, Output: 200}
	f := folded(event.Prompted{}, event.Requested{Model: "p/m"},
		event.Replied{Cost: new(0.25), Reply: llm.Reply{Usage: usage}},
		event.Charged{By: "child", Child: true, USD: new(1.0)}, event.Charged{By: "broken_reply", USD: new(0.125), Guess: true},
		event.Warned{What: "budget.usd", Text: "80 % is used"},
		event.Extended{What: "budget.usd", To: 10},
		event.Ended{End: event.EndDone}, event.Prompted{Text: "more"}, event.Replied{Cost: new(0.5)}, event.Prompted{Text: "joins"}, event.Replied{})
	has(t, of(f, Budget), "7 the limit budget.usd was raised to 10")
	has(t, of(f, Cost), "the cost of 1 of the session's 3 model replies is unknown; the others cost $1.7500",
		"child sessions: $1.0000", "up to $0.1250 more", "the costliest reply: $0.5000")
	f.Apply(event.Event{Seq: 20, Body: event.Ended{End: event.EndBudget, Error: &event.Fault{Message: "the budget of $2.00 is used up"}}})
	has(t, of(f, Budget), "the turn ended: budget: the budget of $2.00", "this turn: $0.5000 in 2 model replies; the session: $1.7500")
	has(t, of(f, Halt), "the prompt was: more")

	f = folded(event.Requested{Model: "p/m"}, event.Replied{Cost: new(0.25), Reply: llm.Reply{Usage: usage}})
	has(t, of(f, Cost), "the session cost $0.2500 in 1 model reply", "p/m, 10000 tokens in (9000 from the cache, 0 written to it), 200 out")
}

// Quoted texts are short, and calls that are done leave nothing behind.
func TestBounded(t *testing.T) {
	f := &Fold{}
	for i := range 1_000 {
		for _, b := range called("x", "bash", `"`+strings.Repeat("é", 5000)+`"`, event.Failed, strings.Repeat("no ", 5000)) {
			f.Apply(event.Event{Seq: int64(i), Body: b})
		}
	}
	f.Apply(event.Event{Body: event.Ended{End: event.EndInterrupted}})
	if len(f.asked) != 0 || len(f.blocked) != 0 {
		t.Errorf("%d, %d are kept", len(f.asked), len(f.blocked))
	}
	if got := of(f, Halt); len(got) > 8000 || strings.Count(got, "→") != keep {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
}

func TestNothing(t *testing.T) {
	if got := folded(event.Prompted{}, event.Ended{End: event.EndDone}).Findings(); len(got) != 0 || got == nil {
		t.Errorf("%+v", got)
	}
}
