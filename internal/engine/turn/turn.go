// Package turn is the loop of one turn: ask the model, check its calls, run
// them, and repeat until there are none. It owns no state: everything that it
// does is recorded as events, and it reads the folds through the functions in
// its configuration.
//
// It promises that every call of a recorded reply gets exactly one CallDone, in
// the order of the calls, whatever happens (SPEC 4.8); that nothing runs before
// all gates let it pass; and that a cancelled context ends it at once with all
// its processes.
package turn

import (
	"context"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// RequestResult is the result of a request, for the budget to settle. Replied
// is the recorded reply; nil if there is none. Got is then the size received in
// bytes, and Usage what the provider reported. Cut: it was interrupted, so the
// provider may have read the request, and more.
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
	Compaction Compaction
	// Env returns a call's abilities; its writes are recorded.
	Env   func(*Pending) tool.Env
	Locks *Locks
	Clock Clock
	// Interrupted, if set, reports whether the turn that this one works for was told to
	// end. It is true before the contexts of that turn's agents end, so no agent starts a
	// call that waited for another agent's interrupted one.
	Interrupted func() bool
}

// Requests is how requests to the model are made and paid.
type Requests interface {
	// Build builds the next request and reserves its budget.
	Build(context.Context) (*llm.Request, *float64, error)
	// Done gets the result of each request that Build built.
	Done(context.Context, RequestResult) error
	// Size is what the request has that Build built last.
	Size() window.Size
	// Cost prices a usage.
	Cost(llm.Usage) *float64
	// Unique is window.Conversation.Unique.
	Unique(llm.Message) llm.Message
	// CutLoops reports whether a reply that repeats one passage is cut off while
	// it arrives (SPEC 6.3): the request is sent again after the stages before a
	// request.
	CutLoops() bool
}

// Retry is what follows a request that failed.
type Retry struct {
	// For is how long a request is retried in all; 0: RetryFor, below 0: not at all.
	For time.Duration
	// TimeLeft, if set, returns how long the turn may still take; ok is false
	// if nothing limits that. An attempt that would be later is not made.
	TimeLeft func() (left time.Duration, ok bool)
	// Longer, if set, reports whether to wait as long as a provider asks, if
	// that is longer than the rest of For.
	Longer func(ctx context.Context, why event.Retried) (bool, error)
	// Fallback, if set, returns the model that continues after the retries, and
	// records why; nil if there is none left.
	Fallback func(ctx context.Context, why event.Retried) (llm.Model, error)
	// Jitter returns a number in [0,1).
	Jitter func() float64
}

// Log is where the loop records what it does.
type Log interface {
	event.Appender
	// Publish shows an event that is not stored.
	Publish(event.Body)
}

// Results is what the model is shown of a result: no secrets, and limited text.
type Results struct {
	// Mask hides secrets in a text.
	Mask func(string) string
	// Cap returns how many tokens of a text the model is shown, 0 for all.
	Cap func(text string) int
	// Spill stores a whole result that is too long and returns where it is.
	Spill func(ctx context.Context, call, text string) (string, error)
}

// Clock is the time.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Run runs the turn to its end. The error, if any, is why it did not end well;
// the caller records both.
func (l *Loop) Run(ctx context.Context) (event.End, error) {
	cut, paused := 0, 0 // replies in a row that were cut at the output limit, that paused
	for {
		if ctx.Err() != nil {
			return EndOf(context.Cause(ctx))
		}
		if end, err := l.Stages.before(ctx); end != "" || err != nil {
			return end, err
		}
		reply, err := l.ask(ctx)
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return EndOf(err)
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
				return EndOf(errPaused)
			}
			continue
		case llm.StopLength:
			if cut++; cut > maxCut {
				return EndOf(errCut)
			}
			note := event.Noted{Why: event.NotedLength, Text: "[Your reply was cut at the output limit. Go on from where it stops, in smaller pieces.]"}
			if err := l.Log.Append(ctx, event.Draft{Body: note}); err != nil {
				return event.EndFailed, err
			}
			continue
		case llm.StopRefusal:
			return EndOf(refused(reply))
		}
		return event.EndDone, nil
	}
}
