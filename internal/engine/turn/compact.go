package turn

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Compaction is what the loop needs to make room in the window (SPEC 9.6): the
// policy plans, the loop asks the model for the summary.
type Compaction interface {
	// Due returns why a compaction is due before the next request, "" if none
	// is; and whether compacting has not helped, so that the turn must end.
	Due() (why event.CompactedWhy, spiral bool)
	// Dedup returns a compaction that drops older reads that were repeated, and
	// results that the model released.
	Dedup() (e event.Compacted, ok bool)
	// Begin is called before; its error keeps the conversation as it is.
	Begin(ctx context.Context, why event.CompactedWhy, focus string) error
	// Plan makes the plan. If ask is false, no model is asked, and the ledger is
	// the summary.
	Plan(why event.CompactedWhy, focus string) (p window.Plan, ask bool)
	// Summary asks the model for the summary. Its cost is recorded and settled
	// when it returns, also with an error.
	Summary(ctx context.Context, p window.Plan) (string, error)
	// Rebase returns the new head. After records what a shorter conversation
	// must be told again.
	Rebase() event.Rebased
	After(context.Context) error
}

// ErrNothingToCompact means that nothing can be dropped.
var ErrNothingToCompact = errors.New("nothing in the conversation can be left out")

// errSpiral ends a turn whose window is filled again and again with nothing new.
var errSpiral = &fault.Error{
	Category: fault.LLM,
	Message:  "the context window was compacted three times without any progress in between",
	Hint:     "ask for a smaller step, or use a model with a larger window",
}

// compactIfDue compacts before a request if that is due.
func (l *Loop) compactIfDue(ctx context.Context) error {
	if l.Compaction == nil {
		return nil
	}
	why, spiral := l.Compaction.Due()
	switch {
	case why == "":
		e, ok := l.Compaction.Dedup()
		if !ok {
			return nil
		}
		if e.Why != event.CompactedCleanup { // all that was shown still is, further down
			return l.Log.Append(ctx, event.Draft{Body: e})
		}
		if err := l.Log.Append(ctx, event.Draft{Body: e}, event.Draft{Body: l.Compaction.Rebase()}); err != nil {
			return err
		}
		return l.Compaction.After(ctx)
	case spiral:
		return errSpiral
	}
	_, err := l.Compact(ctx, why, "")
	if errors.Is(err, ErrNothingToCompact) {
		return nil // it is recorded, and calls are blocked where that is critical
	}
	return err
}

// tooLong compacts after a provider refused a request as too long. ok reports
// whether a retry makes sense.
func (l *Loop) tooLong(ctx context.Context, attempt int, err error, shown bool) (ok bool, _ error) {
	if l.Compaction == nil || !errors.Is(err, fault.ErrContextLength) {
		return false, nil
	}
	if _, spiral := l.Compaction.Due(); spiral {
		return false, errSpiral
	}
	again := event.Retried{Attempt: attempt, Error: Describe(err), Shown: shown}
	if rerr := l.Log.Append(ctx, event.Draft{Body: again}); rerr != nil {
		return false, rerr
	}
	_, cerr := l.Compact(ctx, event.CompactedLength, "")
	if errors.Is(cerr, ErrNothingToCompact) {
		return false, nil
	}
	return cerr == nil, cerr
}

// Compact shortens the conversation and records it. After an error the
// conversation is unchanged; ErrNothingToCompact means that it cannot be
// shorter.
func (l *Loop) Compact(ctx context.Context, why event.CompactedWhy, focus string) (event.Compacted, error) {
	c := l.Compaction
	if err := c.Begin(ctx, why, focus); err != nil {
		return event.Compacted{}, err
	}
	p, ask := c.Plan(why, focus)
	var text string
	var failed *event.Fault
	if p.Summarise && ask {
		say := event.Warned{What: event.WarnedWindow, Text: "the context window is getting full: older steps are summarized"}
		if why == event.CompactedPerson {
			say.Text = "older steps are summarized"
		}
		if err := l.Log.Append(ctx, event.Draft{Body: say}); err != nil {
			return event.Compacted{}, err
		}
		var err error
		text, err = c.Summary(ctx, p)
		if ctx.Err() != nil {
			return event.Compacted{}, context.Cause(ctx)
		}
		if err != nil {
			f := Describe(err)
			failed = &f
		}
	}
	e := p.Compacted(text, failed)
	nothing := len(e.Start) == 0 && len(e.Pointers) == 0
	if nothing && why != event.CompactedFull {
		return e, ErrNothingToCompact
	}
	ctx = context.WithoutCancel(ctx)
	if err := l.Log.Append(ctx, event.Draft{Body: e}, event.Draft{Body: c.Rebase()}); err != nil {
		return e, err
	}
	if err := c.After(ctx); err != nil {
		return e, err
	}
	if nothing {
		return e, ErrNothingToCompact
	}
	return e, nil
}
