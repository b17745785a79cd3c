// Package side sends requests to the model outside of the conversation: for a summary,
// to classify a prompt, or to search the web by the model's provider.
//
// It promises that the cost of each request is reserved and recorded before it is sent,
// and that the real cost is recorded and settled, even if the request fails. Several may
// be in flight. Each that was in flight when pawl died is charged with at most its
// reservation (Fold).
package side

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Request is a request outside of the conversation.
type Request struct {
	By       string // Charged.By
	Body     llm.Request
	Input    int64         // its tokens, as pawl counts
	Limit    time.Duration // of the request after its cost is reserved; 0: none
	Searches int           // that the provider may run for it
	// Cached: its beginning is that of the conversation's requests, which the provider
	// may have in its cache.
	Cached bool
}

// thinkingRoom is how many tokens a reply may have for thinking, besides those that are
// asked for: many models think whether asked or not, and what is known of others may be
// wrong.
const thinkingRoom = 2048

// OnlyThought reports whether a reply has thinking and no text.
func OnlyThought(r *llm.Reply) bool {
	return strings.TrimSpace(r.Message.Text()) == "" && slices.ContainsFunc(r.Message.Parts, func(p llm.Part) bool { return p.Kind == llm.Reasoning })
}

// Requests sends them.
type Requests struct {
	Model    func() llm.Model // in use
	Spending *spending.Account
	Log      event.Appender

	sent atomic.Int64 // the number of the last request
}

// open records that a request is sent, before it is: a process that dies meanwhile has
// spent it. It returns the request's ID.
func (s *Requests) open(ctx context.Context, r event.SideRequest) (string, error) {
	r.ID = strconv.FormatInt(s.sent.Add(1), 10)
	return r.ID, s.Log.Append(ctx, event.Draft{Body: r})
}

// Complete reserves what a request may cost, records it, sends it, records what it
// cost, and settles the reservation. No step is left out after an error. With an error
// the reply is nil. If ctx ended, the error is its cause.
func (s *Requests) Complete(ctx context.Context, q Request) (*llm.Reply, error) {
	model := s.Model()
	info := model.Info()
	if !q.Cached {
		q.Body.Head.Effort = info.SideEffort
	}
	q.Body.Tail.MaxTokens += thinkingRoom
	if info.MaxOutput > 0 {
		q.Body.Tail.MaxTokens = min(q.Body.Tail.MaxTokens, info.MaxOutput)
	}
	ask := budget.Ask{Price: info.Price, Input: q.Input, MaxOutput: q.Body.Tail.MaxTokens, Child: true}
	if info.Price != nil {
		ask.Fixed = float64(q.Searches) * info.Price.Search
	}
	g, settle, err := s.Spending.ReserveWithParent(ctx, ask)
	if err != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	done := context.WithoutCancel(ctx)
	if g.MaxTokens > 0 {
		q.Body.Tail.MaxTokens = min(g.MaxTokens, q.Body.Tail.MaxTokens)
	}
	var codec llm.Codec
	if m, ok := model.(llm.Encoded); ok {
		codec = m.Codec()
	}
	if err := window.Encode(codec, &q.Body, q.Cached); err != nil {
		return nil, errors.Join(err, settle(done))
	}
	id, err := s.open(ctx, event.SideRequest{By: q.By, Model: info.Ref(), Input: q.Input, Reserved: g.USD})
	if err != nil {
		return nil, errors.Join(err, settle(done))
	}
	rctx, cancel := ctx, context.CancelFunc(func() {})
	if q.Limit > 0 {
		rctx, cancel = context.WithTimeout(ctx, q.Limit)
	}
	reply, got, err := turn.Complete(rctx, model, &q.Body)
	cut := err != nil && rctx.Err() != nil // the provider may have read it
	cancel()
	// A refused request cost nothing, but it counts as a request (SPEC 8.1).
	charged := event.Charged{By: q.By, Request: id, Model: info.Ref(), Usage: llm.Usage{Known: true}, USD: new(float64), Requests: 1}
	var cost []event.Charged // the parent is charged for what was spent
	if reply != nil || got > 0 || cut {
		if charged.Guess = reply == nil || !reply.Usage.Known; charged.Guess {
			charged.Usage = llm.Usage{Known: true, Input: q.Input, Output: budget.Guess(got)}
		} else {
			charged.Usage = reply.Usage
		}
		charged.USD = llm.Cost(info.Price, charged.Usage)
		cost = append(cost, charged)
	}
	ends := []event.Draft{{Body: charged}}
	if reply != nil {
		ends = append(ends, turn.Notice(reply)...)
	}
	if rerr := errors.Join(s.Log.Append(done, ends...), settle(done, cost...)); rerr != nil {
		return nil, rerr
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return reply, err
}

// Fold holds the requests in flight. The zero value is ready.
type Fold struct{ open []event.SideRequest }

func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.SideRequest:
		f.open = append(f.open, b)
	case event.Charged:
		f.close(func(r event.SideRequest) bool { return r.ID == b.Request && (r.ID != "" || r.By == b.By) })
	case event.Compacted: // in old logs
		f.close(func(r event.SideRequest) bool { return r.ID == "" && r.By == event.ChargedCompaction })
	}
}

// close removes the first request in flight that is meant.
func (f *Fold) close(meant func(event.SideRequest) bool) {
	if i := slices.IndexFunc(f.open, meant); i >= 0 {
		f.open = slices.Delete(f.open, i, i+1)
	}
}

// Lost returns the costs of the requests that were in flight when the process died: at
// most their reservations.
func (f *Fold) Lost() []event.Draft {
	var ds []event.Draft
	for _, r := range f.open {
		ds = append(ds, event.Draft{Body: event.Charged{
			By: r.By, Request: r.ID, Model: r.Model, Usage: llm.Usage{Known: true, Input: r.Input}, USD: r.Reserved,
			Guess: true, Unknown: true, Requests: 1,
		}})
	}
	return ds
}
