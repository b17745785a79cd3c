package session

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file has what a person sets of a session at any time: what is allowed, and
// what it may cost.

// Grant allows what matches a rule: Scope is event.Session or event.Always.
type Grant struct {
	Rule  string
	Scope event.Scope
}

// Revoke takes a grant of this session back. It does not change what is stored for
// always: see settings.Grants.
type Revoke struct{ Rule string }

// SetLimit sets a hard limit of the session, in the unit of its kind; 0 is none.
type SetLimit struct {
	Kind budget.Kind
	To   float64
}

func (Grant) op()    {}
func (Revoke) op()   {}
func (SetLimit) op() {}

func (s *Session) grant(ctx context.Context, op Grant) error {
	if op.Scope != event.Session && op.Scope != event.Always {
		return fault.NewInternal(nil, "a rule cannot be granted %s", op.Scope)
	}
	if _, err := permission.ParseRules(permission.Allows, permission.Granted, op.Rule); err != nil {
		return err
	}
	return s.rights.Grant(ctx, op.Rule, op.Scope)
}

func (s *Session) revoke(ctx context.Context, op Revoke) (int64, error) {
	found := false
	for _, g := range s.View().Grants() {
		found = found || g == op.Rule
	}
	if !found {
		return 0, fault.NewConfiguration("/permissions lists what is", "nothing was granted as %q in this session", op.Rule)
	}
	return s.ops.Meanwhile(ctx, event.Draft{Body: event.Revoked{Rule: op.Rule}})
}

func (s *Session) setLimit(ctx context.Context, op SetLimit) (int64, error) {
	if err := budget.CheckLimit(op.Kind, op.To); err != nil {
		return 0, fault.NewConfiguration("", "%v", err)
	}
	if op.Kind == budget.USD && op.To > 0 {
		if err := (budget.Limits{USD: op.To}).Allow(s.info()); err != nil {
			return 0, err
		}
	}
	return s.ops.Meanwhile(ctx, event.Draft{Body: event.LimitSet{What: string(op.Kind), To: op.To}})
}
