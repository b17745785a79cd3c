package session

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// sideRequest asks the model in use something beside the conversation: for a
// summary, or what a prompt is.
type sideRequest struct {
	by    string // Charged.By
	ask   llm.Request
	input int64         // its tokens, as pawl counts
	limit time.Duration // of the request once it is paid for; 0: none
}

// sideRequests sends requests beside the conversation.
type sideRequests struct {
	*state
	spending *spending.Account
}

// complete reserves what a request beside the conversation may cost, records
// that it goes out, sends it, records what it cost, and settles that: always
// all of it. The reply is nil with an error. Where ctx ended, the error is why.
func (s *sideRequests) complete(ctx context.Context, q sideRequest) (*llm.Reply, error) {
	model := s.inUse()
	info := model.Info()
	g, settle, err := s.spending.Hold(ctx, budget.Ask{Price: info.Price, Input: q.input, MaxOutput: q.ask.Tail.MaxTokens, Child: true})
	if err != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	done := context.WithoutCancel(ctx)
	if g.MaxTokens > 0 {
		q.ask.Tail.MaxTokens = min(g.MaxTokens, q.ask.Tail.MaxTokens)
	}
	var codec llm.Codec
	if m, ok := model.(llm.Encoded); ok {
		codec = m.Codec()
	}
	if err := window.Encode(codec, &q.ask); err != nil {
		return nil, errors.Join(err, settle(done))
	}
	// Before it goes out: a process that dies meanwhile has spent it.
	aside := event.SideRequest{By: q.by, Model: info.Ref(), Input: q.input, Reserved: g.USD}
	if err := s.record(ctx, event.Draft{Body: aside}); err != nil {
		return nil, errors.Join(err, settle(done))
	}
	rctx, cancel := ctx, context.CancelFunc(func() {})
	if q.limit > 0 {
		rctx, cancel = context.WithTimeout(ctx, q.limit)
	}
	reply, got, err := turn.Complete(rctx, model, &q.ask)
	cut := err != nil && rctx.Err() != nil // the provider may have read it
	cancel()
	// One that was refused cost nothing, and counts as a request all the same
	// (SPEC 8.1).
	charged := event.Charged{By: q.by, Model: info.Ref(), Usage: llm.Usage{Known: true}, USD: new(float64), Requests: 1}
	var cost []event.Charged // the parent is charged for what was spent
	if reply != nil || got > 0 || cut {
		if charged.Guess = reply == nil || !reply.Usage.Known; charged.Guess {
			charged.Usage = llm.Usage{Known: true, Input: q.input, Output: budget.Guess(got)}
		} else {
			charged.Usage = reply.Usage
		}
		charged.USD = llm.Cost(info.Price, charged.Usage)
		cost = append(cost, charged)
	}
	if rerr := errors.Join(s.record(done, event.Draft{Body: charged}), settle(done, cost...)); rerr != nil {
		return nil, rerr
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return reply, err
}
