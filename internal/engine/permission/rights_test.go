package permission

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// family is a session, its agent and the agent's agent, which changes nothing.
type family struct {
	top, mid, low *Rights
	kept, routed  []string
}

func newFamily(t *testing.T) *family {
	t.Helper()
	f := &family{}
	of := func(id string, p *permission.Policy, up *Rights, readOnly bool) *Rights {
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: id, Now: time.Now}, p))(t)
		return &Rights{
			Log: log, Policy: p, Parent: up, ReadOnly: readOnly,
			Keep: func(rule string) error { f.kept = append(f.kept, id+" "+rule); return nil },
			Route: func(_ context.Context, right string, _ event.RoutedBy, _ string) error {
				f.routed = append(f.routed, id+" "+right)
				return nil
			},
		}
	}
	f.top = of("top", permission.New(permission.Config{Mode: permission.AcceptEdits, Root: "/w", Home: "/home/nobody"}), nil, false)
	f.mid = of("mid", f.top.Child(false), f.top, false)
	f.low = of("low", f.mid.Child(true), f.mid, true)
	return f
}

func verdicts(f *family, c permission.Call) string {
	return fmt.Sprint(f.top.Decide(c).Verdict, f.mid.Decide(c).Verdict, f.low.Decide(c).Verdict)
}

// SPEC 14.1: no child has more rights than its parent at that moment, however deep
// it is: what the person narrows or allows above holds at once where it narrows,
// and from the next step on where it allows.
func TestRightsNarrow(t *testing.T) {
	f := newFamily(t)
	edit := permission.Call{Tool: "edit", Family: tool.EditFamily, Footprint: tool.Footprint{Writes: []tool.Span{{Path: "a.txt"}}}}
	build := permission.Call{Tool: "bash", Family: "bash", Footprint: tool.Footprint{Shell: "make thing", Unknown: true}}
	tell := func(r *Rights, b event.Body) {
		t.Helper()
		must.Do(t, r.Log.Append(t.Context(), event.Draft{Body: b}))
	}
	step := func() {
		t.Helper()
		must.Do(t, (Inherited{f.low}).Check(t.Context(), nil))
	}
	for _, c := range []struct {
		what string
		do   func()
		call permission.Call
		want string
	}{
		{"as it begins", step, edit, fmt.Sprint(permission.Allow, permission.Allow, permission.Deny)},
		{"plan mode above, before the next step", func() { tell(f.top, event.ModeSet{Mode: "plan"}) }, edit, fmt.Sprint(permission.Deny, permission.Deny, permission.Deny)},
		{"back again", func() { tell(f.top, event.ModeSet{Mode: "accept-edits"}); step() }, edit, fmt.Sprint(permission.Allow, permission.Allow, permission.Deny)},
		{"a wider mode only below", func() { tell(f.mid, event.ModeSet{Mode: "yolo"}) }, build, fmt.Sprint(permission.Ask, permission.Ask, permission.Deny)},
		{"a yes below reaches those above", func() {
			must.Do(t, f.mid.Grant(t.Context(), "bash(make thing)", event.Always))
		}, build, fmt.Sprint(permission.Allow, permission.Allow, permission.Deny)},
	} {
		c.do()
		if got := verdicts(f, c.call); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	step()
	if mode := eventlog.Query(f.mid.Log, f.mid.Policy.Mode); mode != permission.AcceptEdits {
		t.Errorf("the child's mode is %s", mode)
	}
	if fmt.Sprint(f.kept) != "[top bash(make thing)]" {
		t.Errorf("kept: %s; only the session that has no parent stores a grant", f.kept)
	}
	if err := f.low.GrantRight(t.Context(), "run", "person", "x"); err != nil || fmt.Sprint(f.routed) != "[top run]" {
		t.Error(err, f.routed)
	}
}

// SPEC 14.1: what a child inherits is recorded once.
func TestInheritedOnce(t *testing.T) {
	f := newFamily(t)
	must.Do(t, f.top.Grant(t.Context(), "bash(make thing)", event.Session))
	for range 3 {
		must.Do(t, (Inherited{f.low}).Check(t.Context(), nil))
	}
	if f.mid.Log.Last() != 1 || f.low.Log.Last() != 1 {
		t.Errorf("%d and %d events", f.mid.Log.Last(), f.low.Log.Last())
	}
}
