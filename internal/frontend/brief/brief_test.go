package brief

import (
	"strings"
	"testing"

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
	if got := Spending(budget.Spent{}); got != "$0, no model reply" {
		t.Error(got)
	}
	if got := Model(llm.Info{Provider: "p", Model: "m\x1b[2J", From: "h"}); got != "model p/m from h, price unknown" {
		t.Errorf("%q", got)
	}
	if got := Model(llm.Info{Provider: "p", Model: "m", From: "gateway", Price: &llm.Price{Input: 3, Output: 15}, ListPrice: true}); got != "model p/m from gateway, list price $3 in / $15 out per million tokens" {
		t.Errorf("%q", got)
	}
	if got := Model(llm.Info{Provider: "offline", Model: "offline", API: llm.PlannerAPI}); !strings.Contains(got, "not a language model") {
		t.Errorf("%q", got)
	}
}

// SPEC 13.1, 16.11: a route is shown where it takes rights away or restores them,
// and only then.
func TestRoute(t *testing.T) {
	read := event.Routed{Route: "read", By: "pattern", Why: "why\x1b[2J does", Rights: []string{"read"}}
	firm, flag := read, read
	firm.Explicit, flag.Explicit, flag.By, flag.Why = true, true, "flag", ""
	for want, r := range map[string]event.Routed{
		"route read: the request reads as a question (“why does”)":         {Route: "read", By: "pattern", Why: read.Why, Rights: read.Rights},
		"route read: the request says not to change anything (“why does”)": firm,
		"route read, as requested: pawl asks before it does more":          flag,
		"route edit from now on: model asked (“write a.go”)":               {Route: "edit", By: "model asked", Why: "write a.go", Rights: []string{"read", "run", "edit"}},
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

// told is the evidence of a report, a line behind the other.
func told(r evidence.Report) string { return strings.Join(Evidence(r), "\n") }

// SPEC 13.3: only an exit code makes something verified.
func TestEvidence(t *testing.T) {
	if got := told(evidence.Report{}); got != "" {
		t.Errorf("%q", got)
	}
	r := evidence.Report{}
	for _, n := range []string{"a", "b", "c", "d", "e", "f\x1b[2J"} {
		r.Files = append(r.Files, evidence.File{Path: n})
	}
	if got := told(r); got != "not verified: no check ran after the last change\nchanged a, b, c, d, e, and 1 more" {
		t.Errorf("%q", got)
	}
	// SPEC 16.16: what others obey is named, also where the list of files is cut.
	r.Obeyed = []event.Obeyed{{Path: "web/.npmrc", By: "npm"}, {Path: ".kiro/x\x1b.md", By: "Kiro", More: 2}}
	if got := told(r); !strings.Contains(got, "\nother programs act on these, check them first: web/.npmrc (npm), .kiro/xd (Kiro), and 2 more\n") {
		t.Errorf("%q", got)
	}
	if got, want := told(evidence.Report{Obeyed: r.Obeyed[:1]}), "other programs act on these, check them first: web/.npmrc (npm)"; got != want { // changed by a check
		t.Errorf("%q", got)
	}
	// What git holds is named, also where no file was changed.
	r.Git = []event.GitFile{{Path: ".husky/x\x1b[2J", In: "in the index", By: "git"}, {Path: "Makefile", In: "branch b", By: "make", More: 3}, {In: "branch c", By: "not looked at"}}
	want := "git holds other content than the workspace; run git diff HEAD before git stash, checkout or reset: .husky/x (git; in the index), Makefile (make; branch b), and 3 more, (not looked at; branch c)"
	if got := told(evidence.Report{Git: r.Git}); got != want {
		t.Errorf("%q", got)
	}
	if got := told(r); !strings.Contains(got, "\n"+want+"\n") {
		t.Errorf("%q", got)
	}
}

// SPEC 13.3: the closing words tell of changed tests.
func TestProof(t *testing.T) {
	c := evidence.Check{OK: true, Command: "go test ./...", Own: true}
	r := evidence.Report{Verified: &c, Checks: []evidence.Check{c}, Files: []evidence.File{{Path: "a_test.go", Before: "1", After: "2"}}}
	if got, want := told(r), "verified: go test ./..., exit code 0, with a changed test: a_test.go\nchanged a_test.go"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Files = append(r.Files, evidence.File{Path: "b_test.go", Before: "1"})
	if got, want := told(r), "exit code 0, with 2 changed test files: a_test.go, …\n"; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// SPEC 13.3: what checks left is named once, by the check that left it.
func TestLeftByChecks(t *testing.T) {
	r := evidence.Report{Files: []evidence.File{
		{Path: "a.c", Before: "1", After: "2"},
		{Path: "prog", After: "2", Left: "make test"}, {Path: "a.o", After: "2", Left: "make test"}, {Path: "cov\x1b.out", After: "2", Left: "go test ./..."},
		{Path: "b.o", After: "2", Left: "make test"}, {Path: "c.o", After: "2", Left: "make test"},
	}}
	const left = "left by make test: prog, a.o, b.o, and 1 more\nleft by go test ./...: covut"
	if got := told(r); !strings.HasPrefix(got, "not verified") || !strings.HasSuffix(got, "\n"+left+"\nchanged a.c") {
		t.Errorf("%q", got)
	}
	r.Files = r.Files[1:]
	if got := told(r); !strings.HasPrefix(got, left) {
		t.Errorf("nothing else changed: %q", got)
	}
}
