package turn

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// A reply that repeats one passage is cut off while it arrives. Nothing of it
// is kept: in the conversation it would cause more repetition. It is charged
// like any reply that broke off, the escalation decides what to do, and the
// request is sent again. The escalation ends it, not the number of tries.

// loopError is why a reply was cut off.
type loopError struct {
	why     *fault.Error
	passage string
}

func (e *loopError) Error() string { return e.why.Error() }
func (e *loopError) Unwrap() error { return e.why }

// decidedError is an end that was decided in the middle of a request.
type decidedError struct {
	why error
	end event.End
}

func (e *decidedError) Error() string { return e.why.Error() }
func (e *decidedError) Unwrap() error { return e.why }

// repetitionGuard watches one reply: text and reasoning separately.
type repetitionGuard struct{ text, reasoning progress.Repetition }

// guard returns nil if no reply is cut off.
func (l *Loop) guard() *repetitionGuard {
	if len(l.Stages.Before) == 0 || !l.Requests.CutLoops() {
		return nil
	}
	certain := progress.Repetition{Evidence: progress.Certain}
	return &repetitionGuard{text: certain, reasoning: certain}
}

// see adds the next piece; an error means that the reply must be cut off.
func (w *repetitionGuard) see(model string, d llm.Delta) error {
	if w == nil {
		return nil
	}
	passage, what := "", "reply"
	switch d.Kind {
	case llm.DeltaText:
		passage = w.text.Write(d.Text)
	case llm.DeltaReasoning:
		passage, what = w.reasoning.Write(d.Text), "reasoning"
	}
	if passage == "" {
		return nil
	}
	return &loopError{fault.NewLLM("%s repeated one passage over and over in its %s, which was cut off", model, what), passage}
}

// fromLineStart returns a repeating passage from the beginning of a line or of a
// word in it: the cut may be inside a key, which could not be masked in its two
// halves.
func fromLineStart(passage string) string {
	for _, end := range []string{"\n", " "} {
		if before, rest, ok := strings.Cut(passage, end); ok {
			return rest + before + end
		}
	}
	return passage
}

// onLoop records a reply that was cut off and lets the escalation decide. The
// error is why the turn must end.
func (l *Loop) onLoop(ctx context.Context, attempt int, loop *loopError, shown bool) error {
	cut := event.Retried{Attempt: attempt, Error: Describe(loop), Shown: shown, Loop: fromLineStart(loop.passage)}
	if err := l.Log.Append(ctx, event.Draft{Body: cut}); err != nil {
		return err
	}
	end, err := l.Stages.before(ctx)
	switch {
	case end == "" && err == nil:
		return nil
	case err == nil:
		err = fmt.Errorf("ended: %s", end)
	}
	return &decidedError{why: err, end: end}
}
