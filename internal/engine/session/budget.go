package session

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Payer is where a child session's money comes from: a *Session.
type Payer interface {
	// Reserve sets aside what a request may spend. It waits while other
	// requests hold what is left; errors are why there is nothing left.
	Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error)
	// Settle gives a reservation back and charges what the request cost.
	Settle(ctx context.Context, grant int, cs ...event.Charged) error
}

// purse is what a session has set aside for requests in flight: its own and
// those of its children. The log's lock guards it, as it guards the meter.
type purse struct {
	pool  budget.Pool
	freed chan struct{} // closed when a reservation is given back

	// settle ends the own request in flight; input and most are what it was
	// taken for: tokens of input, and USD.
	settle settle
	input  int64
	most   *float64

	asking chan struct{} // holds a token while a person is asked
}

// pay sets aside what a request may cost. maxTokens is the longest reply that
// is paid for, 0 where nothing limits it.
func (s *Session) pay(r *llm.Request) (maxTokens int, usd *float64, err error) {
	ctx, size := s.turnContext(), int64(0)
	for _, p := range r.Body {
		size += int64(len(p))
	}
	var a budget.Ask
	s.log.View(func() {
		info := s.model.Info()
		a = budget.Ask{Price: info.Price, Input: s.meter.Input(size), MaxOutput: info.MaxOutput}
	})
	if err := s.warn(ctx); err != nil {
		return 0, nil, err
	}
	g, settle, err := s.hold(ctx, a)
	if err != nil {
		return 0, nil, err
	}
	s.log.View(func() { s.purse.settle, s.purse.input, s.purse.most = settle, a.Input, g.USD })
	return g.MaxTokens, g.USD, nil
}

// settle gives back what hold set aside. What the request cost is recorded in
// this session by then; cs say it to the parent.
type settle func(ctx context.Context, cs ...event.Charged) error

// hold sets aside what a request may cost, here and with the parent.
func (s *Session) hold(ctx context.Context, a budget.Ask) (budget.Grant, settle, error) {
	g, err := s.reserve(ctx, a)
	if err != nil || s.cfg.Payer == nil {
		return g, func(context.Context, ...event.Charged) error {
			s.release(g.ID)
			return nil
		}, err
	}
	a.Child = true
	if g.MaxTokens > 0 {
		a.MaxOutput = g.MaxTokens
	}
	up, err := s.cfg.Payer.Reserve(ctx, a)
	if err != nil {
		s.release(g.ID)
		return g, nil, err
	}
	own := g.ID
	g.USD = up.USD
	if up.MaxTokens > 0 {
		g.MaxTokens = up.MaxTokens
	}
	return g, func(ctx context.Context, cs ...event.Charged) error {
		defer s.release(own)
		for i := range cs {
			cs[i].By = s.cfg.ID
		}
		return s.cfg.Payer.Settle(ctx, up.ID, cs...)
	}, nil
}

// Reserve is part of Payer.
func (s *Session) Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error) {
	return s.reserve(ctx, a)
}

// reserve waits for room among the requests in flight, and asks the person,
// where one is there, to raise a limit that is reached.
func (s *Session) reserve(ctx context.Context, a budget.Ask) (budget.Grant, error) {
	for {
		var g budget.Grant
		var err error
		var freed chan struct{}
		s.log.View(func() {
			g, err = s.purse.pool.Reserve(&s.meter, s.cfg.Limits, a)
			if s.purse.freed == nil {
				s.purse.freed = make(chan struct{})
			}
			freed = s.purse.freed
		})
		switch {
		case err == nil:
			return g, nil
		case !errors.Is(err, budget.ErrWait):
			if err := s.extend(ctx, err); err != nil {
				return budget.Grant{}, err
			}
		default:
			select {
			case <-freed:
			case <-ctx.Done():
				return budget.Grant{}, context.Cause(ctx)
			}
		}
	}
}

// release gives a reservation back and wakes those who wait for it.
func (s *Session) release(grant int) {
	s.log.View(func() {
		s.purse.pool.Release(grant)
		if s.purse.freed != nil {
			close(s.purse.freed)
			s.purse.freed = nil
		}
	})
}

// take gives the settlement of the own request, once.
func (s *Session) take() (settle settle, input int64, most *float64, info llm.Info) {
	s.log.View(func() {
		settle, s.purse.settle = s.purse.settle, nil
		input, most, info = s.purse.input, s.purse.most, s.model.Info()
	})
	return settle, input, most, info
}

// refund gives back what was set aside for a request that did not go out.
func (s *Session) refund() {
	if settle, _, _, _ := s.take(); settle != nil {
		_ = settle(context.Background()) // nothing is charged: nothing can fail
	}
}

// Settle is part of Payer.
func (s *Session) Settle(ctx context.Context, grant int, cs ...event.Charged) error {
	defer s.release(grant)
	var ds []event.Draft
	for _, c := range cs {
		c.Child = true
		ds = append(ds, event.Draft{Body: c})
	}
	if err := s.record(ctx, ds...); err != nil {
		return err
	}
	return s.warn(ctx)
}

// requestDone settles the own request. A reply that broke off is paid for as well:
// what came of it is charged by what pawl counted, as a guess.
func (s *Session) requestDone(ctx context.Context, o turn.RequestResult) error {
	settle, input, most, info := s.take()
	if settle == nil {
		return nil
	}
	c := event.Charged{By: "broken_reply", Model: info.Ref(), Usage: o.Usage, Guess: true}
	switch {
	case o.Replied != nil:
		c.Usage, c.USD, c.Guess = o.Replied.Reply.Usage, o.Replied.Cost, false
		c.Calls = len(o.Replied.Reply.Message.Calls())
		if c.USD == nil {
			c.Guess, c.Unknown, c.USD = true, true, most // no more than was set aside
		}
	case o.Got > 0 || o.Cut || o.Usage.Known:
		if c.Guess = !o.Usage.Known; c.Guess {
			c.Usage = llm.Usage{Known: true, Input: input, Output: budget.Guess(o.Got)}
		}
		c.USD = llm.Cost(info.Price, c.Usage)
		if err := s.record(ctx, event.Draft{Body: c}); err != nil {
			return errors.Join(err, settle(ctx))
		}
	}
	c.Requests = 1
	return settle(ctx, c)
}

// warn tells of soft limits that were passed, once each.
func (s *Session) warn(ctx context.Context) error {
	var ds []event.Draft
	s.log.View(func() {
		for _, w := range s.meter.Warnings(s.cfg.Limits) {
			ds = append(ds, event.Draft{Body: w})
		}
	})
	return s.record(ctx, ds...)
}

// extend asks the person to raise the limit that err is about. It returns nil
// where the limit is another one now, and else err or why nobody answered.
func (s *Session) extend(ctx context.Context, err error) error {
	limit := (*budget.LimitError)(nil)
	if !errors.As(err, &limit) || !s.cfg.Person {
		return err
	}
	// One question at a time: children reach the limit together.
	var asking chan struct{}
	s.log.View(func() {
		if s.purse.asking == nil {
			s.purse.asking = make(chan struct{}, 1)
		}
		asking = s.purse.asking
	})
	select {
	case asking <- struct{}{}:
		defer func() { <-asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if now := eventlog.Look(s.log, func() float64 { return s.meter.Limit(s.cfg.Limits, limit.Kind) }); now != limit.Limit {
		return nil
	}
	text, options := limit.Question()
	a, aerr := s.ask(ctx, event.Asked{Why: "budget", Text: text, Options: options})
	if aerr != nil {
		return aerr
	}
	to, ok := limit.Answer(a.Text)
	if !ok {
		return err
	}
	return s.record(ctx, event.Draft{Body: event.Extended{What: string(limit.Kind), To: to}})
}

// budgetGate stops a step whose calls pass a limit. They were counted as they
// were asked for.
type budgetGate struct{ s *Session }

// Check is part of turn.Gate.
func (g budgetGate) Check(ctx context.Context, _ []*turn.Pending) error {
	for {
		err := eventlog.Look(g.s.log, func() error { return g.s.meter.Check(g.s.cfg.Limits) })
		if err == nil {
			return nil
		}
		if err := g.s.extend(ctx, err); err != nil {
			return err
		}
	}
}

// watchWall ends a turn whose running time is used up, also in the middle of a
// request or a call. Where a person is there, they are asked before the next
// one instead.
func (s *Session) watchWall(r *run) (stop func()) {
	var left time.Duration
	var ok bool
	s.log.View(func() { left, ok = s.meter.WallLeft(s.cfg.Limits) })
	if !ok || s.cfg.Person {
		return func() {}
	}
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if left > 0 && s.cfg.Sleep(ctx, left) != nil {
				return
			}
			// The folds learn the time from events.
			if s.record(ctx, event.Draft{Body: event.Ticked{}}) != nil {
				return
			}
			var err error
			s.log.View(func() {
				err = s.meter.Check(s.cfg.Limits)
				left, _ = s.meter.WallLeft(s.cfg.Limits)
			})
			if left <= 0 {
				r.cancel(err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
