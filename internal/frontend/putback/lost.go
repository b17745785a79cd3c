package putback

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Do executes an agreed plan and waits for its end. It is interrupted when ctx ends.
func Do(ctx context.Context, s *session.Session, p undo.Plan, c undo.Consent) (out changes.Undone, err error) {
	here := false // else another process has the session, and does what was agreed to
	var failed error
	done, err := s.Do(ctx, session.Undo{Plan: p, Consent: c, Done: func(u changes.Undone, e error) { here, out, failed = true, u, e }})
	switch {
	case err != nil:
		return changes.Undone{}, err
	case here:
		return out, failed
	case done.Err() != nil:
		return changes.Undone{}, done.Err()
	}
	out.Done, out.Left, err = changes.Choose(p, c)
	return out, err
}

// Lost names what the last turn of a session (all turns, for undo.ByAll)
// destroyed and no undo can restore, "" for nothing.
func Lost(ctx context.Context, s *session.Session, kind undo.Kind) string {
	lost := brief.Lost{All: kind == undo.ByAll}
	if kind == undo.ByRedo {
		return ""
	}
	_ = s.View().Fold(ctx, event.Each(func(e event.Event) { lost.Apply(e.Body) })) // an undo does not depend on it
	return lost.String()
}

// Nothing returns an error that explains why there is nothing to undo; it returns any
// other error unchanged.
func Nothing(ctx context.Context, s *session.Session, kind undo.Kind, err error) error {
	if !errors.Is(err, undo.ErrNothing) {
		return err
	}
	if lost := Lost(ctx, s, kind); lost != "" {
		return fmt.Errorf("%w; %s", err, lost)
	}
	return fmt.Errorf("%w (what commands do to ignored files and outside of the workspace is not recorded)", err)
}
