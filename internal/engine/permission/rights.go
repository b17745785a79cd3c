package permission

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Rights are what one session may do. They are safe for concurrent use.
type Rights struct {
	Log    *eventlog.Log
	Policy *permission.Policy // a fold of Log
	// Keep, if set, stores a grant given for always.
	Keep func(rule string) error
	// Route grants the running turn a right that its route lacks.
	Route func(ctx context.Context, right string, by event.RoutedBy, what string) error
	// Parent holds the rights of the session that started this one, nil for none.
	// ReadOnly: this session may change nothing.
	Parent   *Rights
	ReadOnly bool
}

// Decide returns the policy's decision. A child may do no more than its parent may at
// this moment.
func (r *Rights) Decide(c permission.Call) permission.Decision {
	d := eventlog.Query(r.Log, func() permission.Decision { return r.Policy.Decide(c) })
	if r.Parent != nil {
		d = d.Narrow(r.Parent.Decide(c))
	}
	return d
}

// Held returns the policy's decision about an access that a running command meets. What
// the parent refuses at this moment is refused.
func (r *Rights) Held(f process.Refusal, git []tool.GitUse) (o permission.Opening, v permission.Verdict) {
	r.Log.View(func() { o, v = r.Policy.Held(f, git) })
	if r.Parent == nil {
		return o, v
	}
	up, most := r.Parent.Held(f, git)
	if most < v {
		return up, most
	}
	return o, v
}

// Closed returns why no rule and no yes opens an access, "" if one may.
func (r *Rights) Closed(f process.Refusal) string {
	if why := eventlog.Query(r.Log, func() string { return r.Policy.Closed(f) }); why != "" || r.Parent == nil {
		return why
	}
	return r.Parent.Closed(f)
}

// Grant records a person's permission for more than one call. It is granted to the
// parent too, whose policy would refuse the call otherwise.
func (r *Rights) Grant(ctx context.Context, rule string, scope event.Scope) error {
	if err := r.Log.Append(ctx, event.Draft{Body: event.Granted{Rule: rule, Scope: scope}}); err != nil {
		return err
	}
	if r.Parent != nil {
		return r.Parent.Grant(ctx, rule, scope)
	}
	if scope == event.Always && r.Keep != nil {
		return r.Keep(rule)
	}
	return nil
}

// GrantRight grants the running turn a right that its route lacks. An agent has
// the rights of the turn that it works for.
func (r *Rights) GrantRight(ctx context.Context, right string, by event.RoutedBy, what string) error {
	if r.Parent != nil {
		return r.Parent.GrantRight(ctx, right, by, what)
	}
	return r.Route(ctx, right, by, what)
}

// Child returns the policy that a child session begins with.
func (r *Rights) Child(readOnly bool) *permission.Policy {
	return eventlog.Query(r.Log, func() *permission.Policy { return r.Policy.Child(readOnly) })
}

// Inherited is the gate before all gates that check rights. It records what a person
// allowed in the parent since the child began, or which mode they chose there.
type Inherited struct{ Rights *Rights }

func (i Inherited) Check(ctx context.Context, _ []*turn.Pending) error {
	return i.Rights.inherit(ctx)
}

func (r *Rights) inherit(ctx context.Context) error {
	up := r.Parent
	if up == nil {
		return nil
	}
	if err := up.inherit(ctx); err != nil {
		return err
	}
	var grants []string
	var mode permission.Mode
	up.Log.View(func() { grants, mode = up.Policy.Grants(), up.Policy.Mode().Child(r.ReadOnly) })
	var ds []event.Draft
	r.Log.View(func() {
		own := r.Policy.Grants()
		for _, g := range grants {
			if !slices.Contains(own, g) {
				ds = append(ds, event.Draft{Body: event.Granted{Rule: g, Scope: event.Session}})
			}
		}
		if r.Policy.Mode() != mode {
			ds = append(ds, event.Draft{Body: event.ModeSet{Mode: string(mode)}})
		}
	})
	return r.Log.Append(ctx, ds...)
}
