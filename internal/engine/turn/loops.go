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

// A reply that says one passage over and over is cut off as it comes. Nothing
// of it is kept: in the conversation it would only invite more of the same.
// What came is charged like any reply that broke off, the ladder speaks, and
// the request goes out again. The ladder, and not the number of tries, ends it.

// loopError is why a reply was cut off.
type loopError struct {
	why     *fault.Error
	passage string
}

func (e *loopError) Error() string { return e.why.Error() }
func (e *loopError) Unwrap() error { return e.why }

// judgedError is an end that was judged in the middle of a request.
type judgedError struct {
	why error
	end event.End
}

func (e *judgedError) Error() string { return e.why.Error() }
func (e *judgedError) Unwrap() error { return e.why }

// repetitionGuard watches one reply: words and reasoning apart.
type repetitionGuard struct{ text, reasoning progress.Repetition }

// guard is nil where no reply is cut off.
func (l *Loop) guard() *repetitionGuard {
	if l.Requests.CutLoops == nil || len(l.Stages.Before) == 0 || !l.Requests.CutLoops() {
		return nil
	}
	certain := progress.Repetition{Evidence: progress.Certain}
	return &repetitionGuard{text: certain, reasoning: certain}
}

// see takes the next piece; the error is that the reply must be cut off.
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
	return &loopError{fault.NewLLM("%s said one passage over and over in its %s, which was cut off", model, what), passage}
}

// fromALine is a passage that repeats, from the beginning of a line of it or of a
// word: where it was cut off may be inside a key, which nobody would find in its
// two halves.
func fromALine(passage string) string {
	for _, end := range []string{"\n", " "} {
		if before, rest, ok := strings.Cut(passage, end); ok {
			return rest + before + end
		}
	}
	return passage
}

// looped records a reply that was cut off and lets the ladder speak. The error
// is why the turn must end.
func (l *Loop) looped(ctx context.Context, attempt int, loop *loopError, shown bool) error {
	cut := event.Retried{Attempt: attempt, Error: Describe(loop), Shown: shown, Loop: fromALine(loop.passage)}
	if err := l.Log.Record(ctx, event.Draft{Body: cut}); err != nil {
		return err
	}
	end, err := l.Stages.before(ctx)
	switch {
	case end == "" && err == nil:
		return nil
	case err == nil:
		err = fmt.Errorf("ended: %s", end)
	}
	return &judgedError{why: err, end: end}
}
