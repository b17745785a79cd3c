package turn

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Retries of one request (SPEC 3.4).
const (
	maxRetries = 4
	firstWait  = 500 * time.Millisecond
	maxWait    = 30 * time.Second
	// maxAsked is the longest wait that a provider may ask for: beyond it a
	// person should decide.
	maxAsked = 10 * time.Minute
)

// ask gets the next reply and records it together with the calls it asks for.
func (l *Loop) ask(ctx context.Context) (llm.Reply, error) {
	for attempt := 1; ; attempt++ {
		r, reserved, err := l.Request()
		if err != nil {
			return llm.Reply{}, err
		}
		size := int64(0)
		for _, p := range r.Body {
			size += int64(len(p))
		}
		sent := event.Requested{Attempt: attempt, Bytes: size, Model: l.Model.Info().Ref(), Reserved: reserved}
		if err := l.Record(ctx, event.Draft{Body: sent}); err != nil {
			return llm.Reply{}, err
		}
		start := l.Now()
		reply, shown, err := l.stream(ctx, r)
		if err == nil {
			drafts := []event.Draft{{Body: event.Replied{Reply: reply, Cost: l.Cost(reply.Usage), Took: l.Now().Sub(start)}}}
			for _, c := range reply.Message.Calls() {
				drafts = append(drafts, event.Draft{Body: event.CallAsked{ID: c.ID, Tool: c.Name, Args: c.Args, Sent: c.Sent}})
			}
			return reply, l.Record(context.WithoutCancel(ctx), drafts...)
		}
		if ctx.Err() != nil {
			return llm.Reply{}, context.Cause(ctx)
		}
		if !fault.Retryable(err) || attempt > maxRetries {
			return llm.Reply{}, err
		}
		wait := l.backoff(attempt, err)
		if wait > maxAsked {
			return llm.Reply{}, err
		}
		again := event.Retried{Attempt: attempt, Error: Describe(err), Wait: wait, Shown: shown}
		if err := l.Record(ctx, event.Draft{Body: again}); err != nil {
			return llm.Reply{}, err
		}
		if err := l.Sleep(ctx, wait); err != nil {
			return llm.Reply{}, context.Cause(ctx)
		}
	}
}

// backoff is how long to wait before the try after attempt: what the provider
// asked for, else doubling with jitter between half and all of it.
func (l *Loop) backoff(attempt int, err error) time.Duration {
	if e := (*fault.Error)(nil); errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	d := min(firstWait<<(attempt-1), maxWait)
	return d/2 + time.Duration(l.Jitter()*float64(d/2))
}

// stream shows a reply as it comes. shown says whether any of it was text on
// the screen, which a retry must retract.
func (l *Loop) stream(ctx context.Context, r *llm.Request) (reply llm.Reply, shown bool, err error) {
	for d, err := range l.Model.Stream(ctx, r) {
		if err != nil {
			return llm.Reply{}, shown, err
		}
		switch d.Kind {
		case llm.DeltaText:
			shown = shown || d.Text != ""
			l.Live(event.TextDelta{Text: d.Text})
		case llm.DeltaReasoning:
			shown = shown || d.Text != ""
			l.Live(event.ReasoningDelta{Text: d.Text})
		case llm.DeltaCall:
			l.Live(event.CallDelta{Index: d.Index, Name: d.Name, Text: d.Text})
		case llm.Done:
			reply = *d.Reply
			if empty(reply) {
				return llm.Reply{}, shown, fault.NewLLM("%s gave an empty reply", l.Model.Info().Ref())
			}
			unique(&reply.Message)
			return reply, shown, nil
		}
	}
	if ctx.Err() != nil {
		return llm.Reply{}, shown, context.Cause(ctx)
	}
	return llm.Reply{}, shown, fault.NewLLM("%s ended its reply without finishing it", l.Model.Info().Ref())
}

// empty says that a reply has nothing in it that a turn could end on. Thinking
// that leads to nothing is nothing, unless the output limit cut it: then the
// model is asked to go on.
func empty(r llm.Reply) bool {
	if r.Stop == llm.StopPaused || r.Stop == llm.StopRefusal || r.Refusal != "" {
		return false
	}
	for _, p := range r.Message.Parts {
		switch {
		case p.Kind == llm.CallPart, p.Kind == llm.Opaque, p.Kind == llm.Image:
			return false
		case p.Kind == llm.Text && strings.TrimSpace(p.Text) != "":
			return false
		case p.Kind == llm.Reasoning && r.Stop == llm.StopLength:
			return false
		}
	}
	return true
}

// unique gives calls that came without an id, or with one that another call of
// the reply has, an id of their own: results are matched by it.
func unique(m *llm.Message) {
	seen := map[string]bool{}
	n := 0
	for i, p := range m.Parts {
		if p.Kind != llm.CallPart || p.Call == nil {
			continue
		}
		id := p.Call.ID
		for id == "" || seen[id] {
			n++
			id = "call_" + p.Call.ID + string(rune('a'+n%26)) + itoa(n)
		}
		seen[id] = true
		if id != p.Call.ID {
			c := *p.Call
			c.ID = id
			m.Parts[i].Call = &c
			m.Parts[i].Raw = nil // the raw form names the old id
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// Describe gives an error as events carry it.
func Describe(err error) event.Fault {
	return event.Fault{Category: string(fault.CategoryOf(err)), Retryable: fault.Retryable(err), Message: err.Error()}
}
