package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Compaction is what the loop needs to make room in the window (SPEC 9.6): the
// policy plans, the loop asks the model for the summary.
type Compaction struct {
	// Due says why one is due before the next request, "" where none is; and
	// whether compacting has led nowhere, so that the turn must end.
	Due func() (why string, spiral bool)
	// Dedup gives a compaction that drops older reads of what was read again.
	// and results that the model cleaned up.
	Dedup func() (e event.Compacted, ok bool)
	// Plan makes the plan.
	Plan func(why, focus string) window.Plan
	// Pay sets aside what the summary may cost, and says how long it may be;
	// usd is what it set aside, where that is known. settle gives it back, with
	// what was spent (nil: nothing), which is recorded by then. A nil Pay: no
	// model is asked, and what the log says is the summary.
	Pay func(ctx context.Context, p window.Plan) (maxTokens int, usd *float64, settle func(*event.Charged) error, err error)
	// Rebase gives the head that goes on. After records what a shorter
	// conversation must be told again.
	Rebase func() event.Rebased
	After  func(context.Context) error
}

// ErrNothingToCompact says that nothing can be left out.
var ErrNothingToCompact = errors.New("there is nothing in the conversation that could be left out")

// errSpiral ends a turn whose window is filled again and again with nothing
// new.
var errSpiral = &fault.Error{
	Category: fault.LLM,
	Message:  "the context window was compacted three times with nothing new done in between",
	Hint:     "ask for a smaller step, or use a model with a larger window",
}

// room makes room before a request where it is due.
func (l *Loop) room(ctx context.Context) error {
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
		if e.Why != window.WhyClean { // all that was shown still is, further down
			return l.Record(ctx, event.Draft{Body: e})
		}
		if err := l.Record(ctx, event.Draft{Body: e}, event.Draft{Body: l.Compaction.Rebase()}); err != nil {
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

// tooLong makes room after a provider refused a request as too long. ok says
// that another try is sensible.
func (l *Loop) tooLong(ctx context.Context, attempt int, err error, shown bool) (ok bool, _ error) {
	if l.Compaction == nil || !errors.Is(err, fault.ErrContextLength) {
		return false, nil
	}
	if _, spiral := l.Compaction.Due(); spiral {
		return false, errSpiral
	}
	again := event.Retried{Attempt: attempt, Error: Describe(err), Shown: shown}
	if rerr := l.Record(ctx, event.Draft{Body: again}); rerr != nil {
		return false, rerr
	}
	_, cerr := l.Compact(ctx, window.WhyLength, "")
	if errors.Is(cerr, ErrNothingToCompact) {
		return false, nil
	}
	return cerr == nil, cerr
}

// Compact makes the conversation shorter and records how. An error means that
// it is as it was; ErrNothingToCompact that it can not be shorter.
func (l *Loop) Compact(ctx context.Context, why, focus string) (event.Compacted, error) {
	c := l.Compaction
	p := c.Plan(why, focus)
	var text string
	var failed *event.Fault
	var spent []event.Draft
	settle := func() error { return nil }
	if p.Summarise && c.Pay != nil {
		say := event.Warned{What: "window", Text: "the context window is getting full: what was said first is summed up"}
		if why == window.WhyPerson {
			say.Text = "what was said first is summed up"
		}
		if err := l.Record(ctx, event.Draft{Body: say}); err != nil {
			return event.Compacted{}, err
		}
		max, usd, pay, err := c.Pay(ctx, p)
		if err == nil {
			var charged *event.Charged
			settle = func() error { return pay(charged) }
			// Before it goes out: a process that dies meanwhile has spent it.
			aside := event.SideRequest{By: bySummary, Model: l.Model.Info().Ref(), Input: p.Input, Reserved: usd}
			if err := l.Record(ctx, event.Draft{Body: aside}); err != nil {
				return event.Compacted{}, errors.Join(err, settle())
			}
			text, charged, err = l.summary(ctx, p, max)
			if charged == nil && ctx.Err() != nil {
				zero := 0.0
				charged = &event.Charged{By: bySummary, Model: aside.Model, Usage: llm.Usage{Known: true}, USD: &zero, Requests: 1}
			}
			if charged != nil {
				spent = append(spent, event.Draft{Body: *charged})
			}
		}
		if ctx.Err() != nil {
			return event.Compacted{}, errors.Join(context.Cause(ctx), l.Record(context.WithoutCancel(ctx), spent...), settle())
		}
		if err != nil {
			f := Describe(err)
			failed = &f
		}
	}
	e := p.Compacted(text, failed)
	nothing := len(e.Start) == 0 && len(e.Pointers) == 0
	if nothing && why != window.WhyFull {
		return e, errors.Join(ErrNothingToCompact, settle())
	}
	ds := append(spent, event.Draft{Body: e}, event.Draft{Body: c.Rebase()})
	ctx = context.WithoutCancel(ctx)
	if err := l.Record(ctx, ds...); err != nil {
		return e, errors.Join(err, settle())
	}
	if err := errors.Join(c.After(ctx), settle()); err != nil {
		return e, err
	}
	if nothing {
		return e, ErrNothingToCompact
	}
	return e, nil
}

// bySummary is Charged.By of a summary.
const bySummary = "compaction"

// summary asks the model for the summary. charged is what it cost, also where
// there is none.
func (l *Loop) summary(ctx context.Context, p window.Plan, maxTokens int) (string, *event.Charged, error) {
	r := *p.Ask
	if maxTokens > 0 {
		r.Tail.MaxTokens = min(maxTokens, r.Tail.MaxTokens)
	}
	var codec llm.Codec
	if m, ok := l.Model.(llm.Encoded); ok {
		codec = m.Codec()
	}
	if err := window.Encode(codec, &r); err != nil {
		return "", nil, err
	}
	charged := &event.Charged{By: bySummary, Model: l.Model.Info().Ref(), Requests: 1}
	var got int64
	for d, err := range l.Model.Stream(ctx, &r) {
		if err != nil {
			if got == 0 {
				return "", nil, err // refused: it cost nothing
			}
			return "", l.guess(charged, p, got), err
		}
		if got += int64(len(d.Text)); got > maxReply {
			return "", l.guess(charged, p, got), tooLarge(l.Model)
		}
		if d.Kind != llm.Done {
			continue
		}
		charged.Usage = d.Reply.Usage
		charged.USD = l.Cost(charged.Usage)
		if !charged.Usage.Known {
			charged = l.guess(charged, p, got)
		}
		text := strings.TrimSpace(d.Reply.Message.Text())
		if text == "" || d.Reply.Stop == llm.StopRefusal {
			return "", charged, fault.NewLLM("%s gave no summary", l.Model.Info().Ref())
		}
		return text, charged, nil
	}
	return "", l.guess(charged, p, got), fmt.Errorf("%s ended its summary without finishing it", l.Model.Info().Ref())
}

// guess fills in what was not reported.
func (l *Loop) guess(c *event.Charged, p window.Plan, got int64) *event.Charged {
	u := llm.Usage{Known: true, Input: p.Input, Output: got / 3}
	c.Usage, c.Guess, c.USD = u, true, l.Cost(u)
	return c
}
