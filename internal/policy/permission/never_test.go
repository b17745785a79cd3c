package permission

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 4.15: a person's "never" is a deny rule of the session: a grant does not lift
// it, and taking it back does.
func TestNever(t *testing.T) {
	p := New(Config{Mode: Yolo, Root: "/w", Home: "/home/me"})
	denied := func() bool {
		return p.Decide(line("touch x")).Verdict == Deny
	}
	if denied() {
		t.Fatal("denied at the start")
	}
	for _, c := range []struct {
		body event.Body
		want bool
	}{
		{event.Granted{Rule: "bash(touch *)", Scope: event.Never}, true},
		{event.Granted{Rule: "bash(touch *)", Scope: event.Session}, true},
		{event.Revoked{Rule: "bash(touch *)"}, false},
		{event.Granted{Rule: "bash(", Scope: event.Never}, false},
		{event.Granted{Rule: "bash(touch *)", Scope: "later"}, false},
	} {
		if p.Apply(event.Event{Body: c.body}); denied() != c.want {
			t.Errorf("after %+v: denied is %t", c.body, denied())
		}
	}
}

// A question about a tool names it once.
func TestToolNamedOnce(t *testing.T) {
	d := New(Config{Mode: AskMode, Root: "/w"}).Decide(Call{Tool: "mcp__fs__put"})
	if d.Verdict != Ask || d.Reason != "it may change something" {
		t.Errorf("%+v", d)
	}
}
