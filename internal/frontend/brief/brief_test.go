package brief

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// SPEC 5.5: a cost or a price that is not known is never 0.
func TestMoney(t *testing.T) {
	dollars := func(f float64) *float64 { return &f }
	for want, got := range map[string]string{
		"cost unknown": Cost(nil), "$0": Cost(dollars(0)), "$0.0012": Cost(dollars(0.0012)), "$1.50": Cost(dollars(1.5)),
		"price unknown": Price(nil), "free": Price(&llm.Price{}), "$3 in / $0.25 out per million tokens": Price(&llm.Price{Input: 3, Output: 0.25}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, s := range map[string]budget.Spent{
		"$0":                          {},
		"cost unknown":                {Unknown: 1}, // a reply was cut short, and nothing has a price
		"cost unknown, under $0.0001": {Unknown: 1, Guessed: 0.00001},
		"cost unknown, up to $0.0002": {Unknown: 1, Guessed: 0.0002},
		"cost unknown, up to $0.75 ($0.25 of it known)": {Unknown: 1, USD: 0.25, Guessed: 0.5},
		"cost unknown, up to $0.25":                     {Unknown: 1, USD: 0.25, Guessed: 0.00001},
		"under $0.0001":                                 {USD: 0.00001},
	} {
		if got := Spent(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	if got := Spending(budget.Spent{}); !strings.Contains(got, "0 model replies") {
		t.Error(got)
	}
	if got := Model(llm.Info{Provider: "p", Model: "m\x1b[2J", From: "h"}); got != "model p/m from h, price unknown" {
		t.Errorf("%q", got)
	}
	if got := Model(llm.Info{Provider: "p", Model: "m", From: "gateway", Price: &llm.Price{Input: 3, Output: 15}, ListPrice: true}); got != "model p/m from gateway, list price $3 in / $15 out per million tokens" {
		t.Errorf("%q", got)
	}
	if got := Model(llm.Info{Provider: "offline", Model: "offline"}); !strings.Contains(got, "without weights") {
		t.Errorf("%q", got)
	}
}

// SPEC 13.1, 16.11: a route is said where it takes rights away or gives them
// back, and only then.
func TestRoute(t *testing.T) {
	read := event.Routed{Route: "read", By: "pattern", Why: "why\x1b[2J does", Rights: []string{"read"}}
	firm, flag := read, read
	firm.Explicit, flag.Explicit, flag.By, flag.Why = true, true, "flag", ""
	for want, r := range map[string]event.Routed{
		"route read: the request reads as a question (“why does”)":              {Route: "read", By: "pattern", Why: read.Why, Rights: read.Rights},
		"route read: the request says not to change anything (“why does”)":      firm,
		"route read, as was asked for: what goes beyond it is not done unasked": flag,
		"route edit from here on: model asked (“write a.go”)":                   {Route: "edit", By: "model asked", Why: "write a.go", Rights: []string{"read", "run", "edit"}},
		"": {Route: "edit", By: "pattern", Why: "add", Rights: []string{"read", "run", "edit"}},
	} {
		if got := Route(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Route(event.Routed{}) + Route(event.Routed{Route: "fly", Rights: []string{"read"}}); got != "" {
		t.Errorf("%q", got)
	}
}

// SPEC 16.11: one line each, nothing obeyed.
func TestCall(t *testing.T) {
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
		if got := Call(asked); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestDone(t *testing.T) {
	if got := Done(event.CallDone{Outcome: event.Failed, Result: llm.Result{Text: "== a.txt ==\nerror: a.txt does not exist"}}); got != "failed: a.txt does not exist" {
		t.Errorf("%q", got)
	}
	two := 2
	for want, d := range map[string]event.CallDone{
		"12 matches":             {Outcome: event.OK, Note: "12 matches"},
		"12 matches 1.5 s":       {Outcome: event.OK, Note: "12 matches", Took: 1500 * time.Millisecond},
		"exit code 0, 2s":        {Outcome: event.OK, Note: "exit code 0, 2s", Command: "x", Took: 2 * time.Second},
		"exit code 2":            {Outcome: event.Failed, Exit: &two, Result: llm.Result{Text: "boom"}},
		"failed: no such file":   {Outcome: event.Failed, Result: llm.Result{Text: "no such file\nmore"}},
		"denied: a rule says so": {Outcome: event.Denied, Result: llm.Result{Text: "Not allowed, it did not run: a rule says so"}},
		"invalid: no path":       {Outcome: event.Invalid, Result: llm.Result{Text: "no path\x1b[2J"}},
		"cancelled":              {Outcome: event.Cancelled},
		"failed: " + strings.Repeat("x", 120) + "…": {Outcome: event.Failed, Result: llm.Result{Text: strings.Repeat("x", 300)}},
	} {
		if got := Done(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, d := range map[string]time.Duration{"5 ms": 5 * time.Millisecond, "1.5 s": 1500 * time.Millisecond, "1m5s": 65 * time.Second} {
		if got := Took(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// SPEC 13.3: verified is only what an exit code says.
func TestEvidence(t *testing.T) {
	if got := Evidence(evidence.Report{}); got != "" {
		t.Errorf("%q", got)
	}
	r := evidence.Report{}
	for _, n := range []string{"a", "b", "c", "d", "e", "f\x1b[2J"} {
		r.Files = append(r.Files, evidence.File{Path: n})
	}
	if got := Evidence(r); got != "changed a, b, c, d, e, and 1 more; not verified: no check ran after the last change" {
		t.Errorf("%q", got)
	}
}

// SPEC 13.3: the closing words say which exit codes prove it, or why nothing
// does.
func TestProof(t *testing.T) {
	ok := func(command string) evidence.Check { return evidence.Check{OK: true, Command: command, Own: true} }
	fails := func(command string, exit int) evidence.Check {
		return evidence.Check{Command: command, Exit: exit, Own: true}
	}
	part := evidence.Check{OK: true, Command: "go test ./a", Part: true, Own: true}
	for _, c := range []struct {
		decides  int // which of the checks; -1 none
		checks   []evidence.Check
		why      string
		attempts int
		want     string
	}{
		{-1, nil, "no check found", 0, "not verified: no check found"},
		{-1, []evidence.Check{part}, "only a part was checked: go test ./a, exit code 0", 0, "not verified: only a part was checked: go test ./a, exit code 0"},
		{1, []evidence.Check{part, ok("go test ./...")}, "", 2, "verified: go test ./..., exit code 0"},
		{1, []evidence.Check{ok("npm test"), ok("npm run lint")}, "", 0, "verified: npm test, npm run lint, exit code 0"},
		{1, []evidence.Check{{OK: true, Command: "go vet ./..."}, {OK: true, Command: "go test ./..."}}, "", 0, "verified: go test ./..., exit code 0"},
		{0, []evidence.Check{fails("go test ./...", 1)}, "", 0, "not verified: go test ./..., exit code 1"},
		{0, []evidence.Check{fails("npm test", 1), fails("npm run lint", 2)}, "", 3, "not verified: 2 checks fail: npm test, exit code 1; npm run lint, exit code 2, after 3 attempts to mend it"},
	} {
		r := evidence.Report{Files: []evidence.File{{Path: "a"}}, Checks: c.checks, Unverified: c.why, Attempts: c.attempts}
		if c.decides >= 0 {
			r.Verified = &r.Checks[c.decides]
		}
		if got := Evidence(r); got != "changed a; "+c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	c := ok("go test ./...")
	r := evidence.Report{Verified: &c, Checks: []evidence.Check{c}, Files: []evidence.File{{Path: "a_test.go", Before: "1", After: "2"}}}
	if got, want := Evidence(r), "changed a_test.go; verified: go test ./..., exit code 0, with a changed test: a_test.go"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Files = append(r.Files, evidence.File{Path: "b_test.go", Before: "1"})
	if got, want := Evidence(r), "exit code 0, with 2 changed test files: a_test.go, …"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRetry(t *testing.T) {
	got := Retry(event.Retried{Attempt: 1, Error: event.Fault{Message: "busy\nnow"}, Wait: 2 * time.Second, Shown: true})
	if got != "try 1 failed: busy now; again in 2.0 s (what it said so far is withdrawn)" {
		t.Errorf("%q", got)
	}
}

// SPEC 18.2: a question says each thing once, and no reason is lost that the
// call does not say itself.
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
		if got := Reason(event.Question{Tool: "bash", Title: c.title, Preview: c.preview, Reason: c.reason}); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.title, c.reason, got, c.want)
		}
	}
}

// SPEC 18.2: the stuck detector speaks to a person in one sentence.
func TestStuck(t *testing.T) {
	letter := "You are going in circles: the same read call with the same result 3 times.\n\nWhat shows it:\n- call 1: read a\n\nNothing changed."
	for _, c := range []struct {
		b    event.Stuck
		look string
		want string
	}{
		{event.Stuck{Level: "recovery", Text: letter}, "/why", "the model goes in circles: the same read call with the same result 3 times; it is told so and shown another way (evidence: /why)"},
		{event.Stuck{Level: "block", Text: letter, Call: "read:1"}, "pawl why", "the model goes in circles: the same read call with the same result 3 times; that call is blocked until a file has new content (evidence: pawl why)"},
		{event.Stuck{Level: "block", Text: letter}, "", "the model goes in circles: the same read call with the same result 3 times; it is told so once more"},
		{event.Stuck{Level: "halt", Text: "Stopped: x. A recovery was tried and the calls were blocked, without effect."}, "/why", ""},
	} {
		if got := Stuck(c.b, c.look); got != c.want {
			t.Errorf("%+v: %q", c.b, got)
		}
	}
}
