package session

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file has what a person sets of a session at any time: what is allowed, and
// what it may cost.

// Grant allows what matches a rule, or denies it with the Scope event.Never.
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

func (op Grant) submit(ctx context.Context, s *Session) (int64, error) {
	list := permission.Allows
	switch op.Scope {
	case event.Never:
		list = permission.Denies
	case event.Session, event.Always:
	default:
		return 0, fault.NewInternal(nil, "a rule cannot be granted %s", op.Scope)
	}
	if _, err := permission.ParseRules(list, permission.Granted, op.Rule); err != nil {
		return 0, err
	}
	last := s.log.Last()
	return last, s.rights.Grant(ctx, op.Rule, op.Scope)
}

func (op Revoke) submit(ctx context.Context, s *Session) (int64, error) {
	given := func(r permission.Rule) bool { return r.From == permission.Granted && r.Text == op.Rule }
	if !slices.ContainsFunc(eventlog.Query(s.log, s.perm.Rules), given) {
		return 0, fault.NewConfiguration("/permissions lists all", "no rule %q was given in this session", op.Rule)
	}
	return s.ops.RecordAnytime(ctx, event.Draft{Body: event.Revoked{Rule: op.Rule}})
}

func (op SetLimit) submit(ctx context.Context, s *Session) (int64, error) {
	if err := budget.CheckLimit(op.Kind, op.To); err != nil {
		return 0, fault.NewConfiguration("", "%v", err)
	}
	if op.Kind == budget.USD && op.To > 0 {
		if err := (budget.Limits{USD: op.To}).Allow(s.info()); err != nil {
			return 0, err
		}
	}
	return s.ops.RecordAnytime(ctx, event.Draft{Body: event.LimitSet{What: string(op.Kind), To: op.To}})
}
