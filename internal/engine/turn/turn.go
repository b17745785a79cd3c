// Package turn is the loop of one turn: ask the model, check the calls it
// wants, run them, and again until it wants none. It owns no state: what it
// does is recorded as events, and what it needs to know it asks of the folds
// through the functions it is given.
//
// It promises that every call of a recorded reply gets exactly one CallDone,
// in the order asked, whatever happens (SPEC 4.8); that nothing runs before
// all gates let it pass; and that a cancelled context ends it at once with
// every running process gone.
package turn

import (
	"context"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// RequestResult is what came of a request, for the budget to settle. Replied is the
// reply, which is recorded by now; nil where none was taken. Got is then how
// many bytes of one came, and Usage what the provider reported for it. Cut says
// that it was interrupted: the provider may have read the request, and more.
type RequestResult struct {
	Replied *event.Replied
	Cut     bool
	Usage   llm.Usage
	Got     int64
}

// Loop is one turn's loop with all that it needs.
type Loop struct {
	Model    llm.Model
	Tools    tool.Set
	Stages   Stages
	Requests Requests
	Retry    Retry
	Log      Log
	Results  Results
	// Compaction, if set, makes room in the context window.
	Compaction *Compaction
	// Env gives a call its abilities; the writes it makes are recorded.
	Env   func(*Pending) tool.Env
	Locks *Locks
	Clock Clock
}

// Requests is how requests to the model are made and paid.
type Requests struct {
	// Build builds the next request and reserves its budget.
	Build func() (*llm.Request, *float64, error)
	// Done, if set, hears what came of each request that Build built.
	Done func(context.Context, RequestResult) error
	// Cost prices a usage.
	Cost func(llm.Usage) *float64
	// CutLoops, if set, reports whether a reply that says one passage over and
	// over is cut off as it comes (SPEC 6.3): it is tried again once the stages
	// before a request have passed.
	CutLoops func() bool
}

// Retry is what follows a request that failed.
type Retry struct {
	// For is how long a request is tried again in all; 0: RetryFor, below 0: not
	// at all.
	For time.Duration
	// TimeLeft, if set, returns how long the turn may still take; ok is false
	// where nothing limits that. What would have to wait longer is not tried
	// again.
	TimeLeft func() (left time.Duration, ok bool)
	// Longer, if set, reports whether to wait for as long as a provider asks where
	// that is longer than what is left of For.
	Longer func(ctx context.Context, why event.Retried) (bool, error)
	// Fallback, if set, returns the model to go on with once retries are used up,
	// and records why; nil where there is none left.
	Fallback func(ctx context.Context, why event.Retried) (llm.Model, error)
	// Jitter returns a number in [0,1).
	Jitter func() float64
}

// Log is where the loop records what it does.
type Log struct {
	Record func(context.Context, ...event.Draft) error
	// Live shows something that is not stored.
	Live func(event.Body)
}

// Results is what the model is shown of a result: no secret, and not too much.
type Results struct {
	// Mask hides secrets in a text.
	Mask func(string) string
	// Cap is how many tokens of a text the model is shown, 0 for all.
	Cap func(text string) int
	// Spill keeps a whole result that is longer and returns where it is.
	Spill func(ctx context.Context, call, text string) (string, error)
}

// Clock is the time.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Run drives the turn to its end. The error, if any, is why it did not end
// well; both are for the caller to record.
func (l *Loop) Run(ctx context.Context) (event.End, error) {
	cut, paused := 0, 0 // replies in a row that were cut at the output limit, that paused
	for {
		if ctx.Err() != nil {
			return ended(context.Cause(ctx))
		}
		if end, err := l.Stages.before(ctx); end != "" || err != nil {
			return end, err
		}
		reply, err := l.ask(ctx)
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return ended(err)
		}
		calls := reply.Message.Calls()
		if len(calls) > 0 {
			end, err := l.step(ctx, calls)
			if end != "" || err != nil {
				return end, err
			}
			cut, paused = 0, 0
			continue
		}
		switch reply.Stop {
		case llm.StopPaused:
			if paused++; paused > maxPaused {
				return ended(errPaused)
			}
			continue
		case llm.StopLength:
			if cut++; cut > maxCut {
				return ended(errCut)
			}
			note := event.Noted{Why: "length", Text: "[Your reply was cut at the output limit. Go on from where it stops, in smaller pieces.]"}
			if err := l.Log.Record(ctx, event.Draft{Body: note}); err != nil {
				return event.EndFailed, err
			}
			continue
		case llm.StopRefusal:
			return ended(refused(reply))
		}
		return event.EndDone, nil
	}
}
