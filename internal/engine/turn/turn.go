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
	"encoding/json"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Pending is a call on its way through the gates.
type Pending struct {
	Call      llm.Call
	Args      json.RawMessage // what will be run: hooks and corrections may differ from Call.Args
	Tool      tool.Tool
	Footprint tool.Footprint
	Fix       string   // what was corrected, told to the model with the result
	Refused   *Refusal // set by a gate; the call does not run
	Allowed   bool     // a person was asked about this very call and allowed it
	// Confine is what the processes of the call may touch, set by the gate that
	// lets it pass. Without one it is the narrowest.
	Confine process.Confine
}

// Refusal is why a call does not run. Text is for the model.
type Refusal struct {
	Outcome event.Outcome
	Text    string
	Blocked *event.Blocked // set where the run's result should list it
	EndTurn bool           // a person's No: of the step runs only what they allowed, and the turn ends
	Seen    []tool.Span    // lines that Text shows
}

// Gate checks a whole step, so that one question can cover many calls. It sets
// Refused on the calls it refuses, and leaves alone those that are refused
// already. An error means that the gate itself is broken: the turn ends.
type Gate interface {
	Check(ctx context.Context, step []*Pending) error
}

// Rechecker is a gate that looks again just before a call runs, since earlier
// calls of the step may have changed things (SPEC 4.3).
type Rechecker interface {
	Recheck(ctx context.Context, p *Pending) *Refusal
}

// Over is what came of a request, for the budget to settle. Replied is the
// reply, which is recorded by now; nil where none was taken. Got is then how
// many bytes of one came, and Usage what the provider reported for it. Cut says
// that it was interrupted: the provider may have read the request, and more.
type Over struct {
	Replied *event.Replied
	Cut     bool
	Usage   llm.Usage
	Got     int64
}

// Loop is one turn's loop with all that it needs.
type Loop struct {
	Model llm.Model
	Tools tool.Set
	// Gates in the order of SPEC 4.3: this order is the policy.
	Gates []Gate
	// Request builds the next request and reserves its budget.
	Request func() (*llm.Request, *float64, error)
	// Over, if set, hears what came of each request that Request built.
	Over func(context.Context, Over) error
	// RetryFor is how long a request is tried again in all; 0: RetryFor, below 0:
	// not at all.
	RetryFor time.Duration
	// TimeLeft, if set, says how long the turn may still take; ok is false where
	// nothing limits that. What would have to wait longer is not tried again.
	TimeLeft func() (left time.Duration, ok bool)
	// Longer, if set, says whether to wait for as long as a provider asks where
	// that is longer than what is left of RetryFor.
	Longer func(ctx context.Context, why event.Retried) (bool, error)
	// Fallback, if set, gives the model to go on with once retries are used up,
	// and records why; nil where there is none left.
	Fallback func(ctx context.Context, why event.Retried) (llm.Model, error)
	Record   func(context.Context, ...event.Draft) error
	// Judge, if set, is asked before each request whether the run gets
	// anywhere. It may tell the model, or end the turn.
	Judge func(context.Context) (event.End, error)
	// CutLoops, if set, says whether a reply that says one passage over and over
	// is cut off as it comes (SPEC 6.3): it is tried again once Judge has spoken.
	CutLoops func() bool
	// Live shows something that is not stored.
	Live func(event.Body)
	// Env gives a call its abilities; the writes it makes are recorded.
	Env func(*Pending) tool.Env
	// Cost prices a usage.
	Cost  func(llm.Usage) *float64
	Locks *Locks
	// Mask hides secrets in what a tool gave back, before anything stores it.
	Mask func(string) string
	// Compaction, if set, makes room in the context window.
	Compaction *Compaction
	// Cap is how many tokens of a text the model is shown, 0 for all; Spill
	// keeps a whole result that is longer and returns where it is.
	Cap   func(text string) int
	Spill func(ctx context.Context, call, text string) (string, error)

	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	// Jitter gives a number in [0,1).
	Jitter func() float64
}

// Run drives the turn to its end. The error, if any, is why it did not end
// well; both are for the caller to record.
func (l *Loop) Run(ctx context.Context) (event.End, error) {
	cut, paused := 0, 0 // replies in a row that were cut at the output limit, that paused
	for {
		if ctx.Err() != nil {
			return ended(context.Cause(ctx))
		}
		if l.Judge != nil {
			if end, err := l.Judge(ctx); end != "" || err != nil {
				return end, err
			}
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
			if err := l.Record(ctx, event.Draft{Body: note}); err != nil {
				return event.EndFailed, err
			}
			continue
		case llm.StopRefusal:
			return ended(refused(reply))
		}
		return event.EndDone, nil
	}
}
