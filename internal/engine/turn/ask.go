package turn

import (
	"context"
	"errors"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// ask gets the next reply and records it together with the calls that it asks
// for. A failed request is retried, then sent to the next model of the fallback
// chain (SPEC 3.3).
func (l *Loop) ask(ctx context.Context) (llm.Reply, error) {
	shortened := false
	p := l.newRetryState()
	for attempt := 1; ; attempt++ {
		if err := l.compactIfDue(ctx); err != nil {
			return llm.Reply{}, err
		}
		reply, shown, err := l.try(ctx, attempt)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return llm.Reply{}, context.Cause(ctx)
		}
		if !shortened {
			ok, cerr := l.tooLong(ctx, attempt, err, shown)
			if cerr != nil {
				return llm.Reply{}, cerr
			}
			if ok {
				shortened = true
				continue
			}
		}
		if !fault.Retryable(err) {
			return llm.Reply{}, err
		}
		if loop := (*loopError)(nil); errors.As(err, &loop) {
			if err := l.onLoop(ctx, attempt, loop, shown); err != nil {
				return llm.Reply{}, err
			}
			continue
		}
		next, err := l.retry(ctx, p, event.Retried{Attempt: attempt, Error: Describe(err), Shown: shown}, err)
		if err != nil {
			return llm.Reply{}, err
		}
		if next != nil {
			l.Model, attempt, p = next, 0, l.newRetryState()
		}
	}
}

// try sends one request and records its result.
func (l *Loop) try(ctx context.Context, attempt int) (reply llm.Reply, shown bool, err error) {
	r, reserved, err := l.Requests.Build(ctx)
	if err != nil {
		return llm.Reply{}, false, err
	}
	var came RequestResult
	defer func() {
		if derr := l.Requests.Done(context.WithoutCancel(ctx), came); err == nil {
			err = derr
		}
	}()
	size := int64(0)
	for _, p := range r.Body {
		size += int64(len(p))
	}
	n := l.Requests.Size()
	sent := event.Requested{
		Attempt: attempt, Bytes: size, Model: l.Model.Info().Ref(), Reserved: reserved, Messages: n.Messages, Tools: n.Tools, Tokens: n.Tokens,
	}
	if err := l.Log.Append(ctx, event.Draft{Body: sent}); err != nil {
		return llm.Reply{}, false, err
	}
	start := l.Clock.Now()
	reply, came.Got, shown, err = l.stream(ctx, r)
	if err != nil {
		came.Usage, came.Cut = reply.Usage, ctx.Err() != nil
		return llm.Reply{}, shown, err
	}
	whole := event.Replied{Reply: reply, Cost: l.Requests.Cost(reply.Usage), Took: l.Clock.Now().Sub(start)}
	drafts := append(Notice(&whole.Reply), event.Draft{Body: whole})
	for _, c := range reply.Message.Calls() {
		drafts = append(drafts, event.Draft{Body: l.asked(c)})
	}
	if err := l.Log.Append(context.WithoutCancel(ctx), drafts...); err != nil {
		return llm.Reply{}, shown, err
	}
	came.Replied = &whole
	return reply, shown, nil
}

// Notice takes the notice out of a reply, as an event.
func Notice(r *llm.Reply) (ds []event.Draft) {
	if r.Notice != "" {
		ds = append(ds, event.Draft{Body: event.Warned{What: event.WarnedModel, Text: r.Notice}})
		r.Notice = ""
	}
	return ds
}

// maxReply is the size limit of a reply, in bytes: far more than a model
// writes, and small enough to be kept several times.
const maxReply = 32 << 20

func tooLarge(m llm.Model) error {
	f := fault.NewLLM("%s sent more than %d MB in one reply, which was cut off", m.Info().Ref(), maxReply>>20)
	f.Retryable = false
	return f
}

// asked returns a call as it is recorded: with its tool's facts, so that
// readers of the log need not know the tool.
func (l *Loop) asked(c llm.Call) event.CallAsked {
	about := tool.AboutCall(c.Name, c.Args)
	if t, args, ok := l.Tools.Meant(c.Name, c.Args); ok {
		args, _ = t.Accept(args)
		about = t.About(args)
	}
	return event.CallAsked{
		ID: c.ID, Tool: c.Name, Args: c.Args, Sent: c.Sent, Does: about.Kind, Target: about.Target, Title: about.Title,
	}
}

// stream shows a reply while it arrives. got is the size received in bytes;
// shown reports whether any text was on the screen, which a retry must retract.
// A reply that comes with an error is not used: only its usage counts.
func (l *Loop) stream(ctx context.Context, r *llm.Request) (reply llm.Reply, got int64, shown bool, err error) {
	guard := l.guard()
	for d, err := range l.Model.Stream(ctx, r) {
		if err != nil {
			return llm.Reply{}, got, shown, err
		}
		if got += int64(len(d.Text)); got > maxReply {
			return llm.Reply{}, got, shown, tooLarge(l.Model)
		}
		if err := guard.see(l.Model.Info().Ref(), d); err != nil {
			return llm.Reply{}, got, true, err // no more is read: that ends the request
		}
		switch d.Kind {
		case llm.DeltaText:
			shown = shown || d.Text != ""
			l.Log.Publish(event.TextDelta{Text: d.Text})
		case llm.DeltaReasoning:
			shown = shown || d.Text != ""
			l.Log.Publish(event.ReasoningDelta{Text: d.Text})
		case llm.DeltaCall:
			l.Log.Publish(event.CallDelta{Index: d.Index, Name: d.Name, Text: d.Text})
		case llm.Done:
			reply = *d.Reply
			if empty(reply) {
				return reply, got, shown, fault.NewLLM("%s sent an empty reply", l.Model.Info().Ref())
			}
			reply.Message = l.Requests.Unique(reply.Message)
			return reply, got, shown, nil
		}
	}
	if ctx.Err() != nil {
		return llm.Reply{}, got, shown, context.Cause(ctx)
	}
	return llm.Reply{}, got, shown, fault.NewLLM("%s ended its reply without finishing it", l.Model.Info().Ref())
}

// empty reports whether a reply has nothing that a turn could end on. Thinking
// alone does not count, unless the output limit cut it: then the model is asked
// to continue.
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

func Describe(err error) event.Fault {
	return event.Fault{Category: string(fault.CategoryOf(err)), Retryable: fault.Retryable(err), Message: err.Error()}
}

// Complete gets a reply that nobody watches while it arrives. got is the size
// received in bytes, also with an error.
func Complete(ctx context.Context, m llm.Model, r *llm.Request) (reply *llm.Reply, got int64, err error) {
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			return nil, got, err
		}
		if got += int64(len(d.Text)); got > maxReply {
			return nil, got, tooLarge(m)
		}
		if d.Kind == llm.Done {
			return d.Reply, got, nil
		}
	}
	return nil, got, fault.NewLLM("%s ended its reply without finishing it", m.Info().Ref())
}
