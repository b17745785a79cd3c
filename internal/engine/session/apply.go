package session

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// Coordination is what a coordinator of other sessions, such as a swarm, gets
// from its own session: a log that includes its fold (Config.Fold), a budget
// for them, and a way to write their results to the person's files.
type Coordination struct{ s *Session }

// Coordination returns the access for a coordinator of other sessions.
func (s *Session) Coordination() Coordination { return Coordination{s} }

func (c Coordination) Append(ctx context.Context, ds ...event.Draft) error {
	return c.s.log.Append(ctx, ds...)
}

// Show shows an event that is not stored.
func (c Coordination) Show(b event.Body) { c.s.log.Publish(b) }

// View runs look while no event is folded.
func (c Coordination) View(look func()) { c.s.log.View(look) }

// Account returns the session's account: the Config.Parent of the sessions that
// it coordinates.
func (c Coordination) Account() *spending.Account { return c.s.spending }

// Apply writes files for a person's request text: in a separate turn, without a
// model, so that one undo undoes everything. All files are written or none. checks are
// those that these files passed elsewhere, before they were written.
func (c Coordination) Apply(ctx context.Context, by, text string, ws []tool.Write, checks ...event.TaskCheck) ([]tool.Change, error) {
	s := c.s
	ctx, done, err := s.ops.Exclusive(ctx, "the files cannot be written")
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.log.Append(ctx, event.Draft{Body: event.Prompted{Source: event.Person, Text: text}}); err != nil {
		return nil, err
	}
	began := s.log.Last()
	cs, err := s.changes.Apply(ctx, by, ws)
	ctx = context.WithoutCancel(ctx)
	var ds []event.Draft
	end := s.closed(ctx, event.Ended{End: event.EndDone})
	if err != nil {
		f := turn.Describe(err)
		end.End, end.Error = event.EndFailed, &f
		checks = nil
	}
	for _, k := range checks {
		ran := evidence.Count(k.Command, k.Output)
		ds = append(ds, event.Draft{Cause: began, Body: event.Checked{
			Name: by, Command: k.Command, Exit: k.Exit, Took: k.Took, Output: k.Output, Tests: ran.Ran, Untested: ran.None, Wrapped: ran.Wrapped,
		}})
	}
	return cs, errors.Join(err, s.log.Append(ctx, append(ds, event.Draft{Cause: began, Body: end})...))
}
