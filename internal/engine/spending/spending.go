// Package spending is what one session spends: the cost of a request is
// reserved before it is sent and settled after it, here and with the parent
// session (SPEC 8.1).
//
// It promises that requests in flight together never reserve more than is left
// of a limit, that a reservation is released whatever happens to its request,
// and that each limit asks a person only one question at a time. It knows the
// session's log, but not the session: spending is folded from events.
package spending

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

// Parent is where a child session's money comes from: an *Account.
type Parent interface {
	// Reserve reserves what a request may spend. It waits while other requests
	// hold what is left; an error is why nothing is left.
	Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error)
	// Settle releases a reservation and charges what the request cost.
	Settle(ctx context.Context, grant int, cs ...event.Charged) error
}

// Log is what an account needs of the session's log.
type Log interface {
	event.Appender
	View(func())
}

// Config is the configuration of an account.
type Config struct {
	Session string // its id
	Limits  budget.Limits
	Parent  Parent // nil: none
	Person  bool   // somebody is there who may raise a limit
	// Timeout is when the caller ends a turn, 0 for never.
	Timeout time.Duration
	Now     func() time.Time
	Sleep   func(context.Context, time.Duration) error
	Log     Log           // its View guards the account
	Meter   *budget.Meter // one of Log's folds
	Ask     func(context.Context, event.Asked) (event.Answered, error)
}

// Account is what a session spent, and its reservations for requests in flight:
// its own and those of its children. Its methods are safe for concurrent use.
type Account struct {
	cfg Config
	log Log

	meter *budget.Meter
	pool  budget.Pool
	freed chan struct{} // closed when a reservation is released

	// settle ends the session's own request in flight; info, input and most are
	// its estimate: the model, tokens of input, and USD.
	settle SettleFunc
	info   llm.Info
	input  int64
	most   *float64

	asking chan struct{} // holds a token while a person is asked
}

func New(cfg Config) *Account { return &Account{cfg: cfg, log: cfg.Log, meter: cfg.Meter} }

// Spent returns what the session and its running or last turn spent.
func (acc *Account) Spent() (session, turn budget.Spent) {
	acc.log.View(func() { session, turn = acc.meter.Session(), acc.meter.Turn() })
	return session, turn
}

// Limits returns the hard limits in force.
func (acc *Account) Limits() budget.Limits {
	return eventlog.Query(acc.log, func() budget.Limits { return acc.meter.Limits(acc.cfg.Limits) })
}

// Begin reserves the cost of the session's own next request. maxTokens is the
// longest reply that is paid for, 0 if nothing limits it.
func (acc *Account) Begin(ctx context.Context, info llm.Info, r *llm.Request) (maxTokens int, usd *float64, err error) {
	size := int64(0)
	for _, p := range r.Body {
		size += int64(len(p))
	}
	var a budget.Ask
	acc.log.View(func() {
		a = budget.Ask{Price: info.Price, Input: acc.meter.Input(size), MaxOutput: info.MaxOutput}
	})
	if err := acc.Warn(ctx); err != nil {
		return 0, nil, err
	}
	g, settle, err := acc.ReserveWithParent(ctx, a)
	if err != nil {
		return 0, nil, err
	}
	acc.log.View(func() { acc.settle, acc.info, acc.input, acc.most = settle, info, a.Input, g.USD })
	return g.MaxTokens, g.USD, nil
}

// SettleFunc releases a reservation made by ReserveWithParent. By then this session has recorded
// what the request cost; cs report it to the parent.
type SettleFunc func(ctx context.Context, cs ...event.Charged) error

// ReserveWithParent reserves the cost of a request, here and with the parent.
func (acc *Account) ReserveWithParent(ctx context.Context, a budget.Ask) (budget.Grant, SettleFunc, error) {
	g, err := acc.Reserve(ctx, a)
	if err != nil || acc.cfg.Parent == nil {
		return g, func(context.Context, ...event.Charged) error {
			acc.release(g.ID)
			return nil
		}, err
	}
	a.Child = true
	if g.MaxTokens > 0 {
		a.MaxOutput = g.MaxTokens
	}
	up, err := acc.cfg.Parent.Reserve(ctx, a)
	if err != nil {
		acc.release(g.ID)
		return g, nil, err
	}
	own := g.ID
	g.USD = up.USD
	if up.MaxTokens > 0 {
		g.MaxTokens = up.MaxTokens
	}
	return g, func(ctx context.Context, cs ...event.Charged) error {
		defer acc.release(own)
		for i := range cs {
			cs[i].By, cs[i].Request = acc.cfg.Session, "" // the parent has requests of its own
		}
		return acc.cfg.Parent.Settle(ctx, up.ID, cs...)
	}, nil
}

// Reserve implements Parent: it waits for room among the requests in flight,
// and asks the person, if one is there, to raise a limit that is reached.
func (acc *Account) Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error) {
	for {
		var g budget.Grant
		var err error
		var freed chan struct{}
		acc.log.View(func() {
			g, err = acc.pool.Reserve(acc.meter, acc.cfg.Limits, a)
			if acc.freed == nil {
				acc.freed = make(chan struct{})
			}
			freed = acc.freed
		})
		switch {
		case err == nil:
			return g, nil
		case !errors.Is(err, budget.ErrWait):
			if err := acc.extend(ctx, err); err != nil {
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

// release releases a reservation and wakes those who wait for it.
func (acc *Account) release(grant int) {
	acc.log.View(func() {
		acc.pool.Release(grant)
		if acc.freed != nil {
			close(acc.freed)
			acc.freed = nil
		}
	})
}

// takeSettlement returns the settlement of the own request, once.
func (acc *Account) takeSettlement() (settle SettleFunc) {
	acc.log.View(func() { settle, acc.settle = acc.settle, nil })
	return settle
}

func (acc *Account) Settle(ctx context.Context, grant int, cs ...event.Charged) error {
	defer acc.release(grant)
	var ds []event.Draft
	for _, c := range cs {
		c.Child = true
		ds = append(ds, event.Draft{Body: c})
	}
	if err := acc.log.Append(ctx, ds...); err != nil {
		return err
	}
	return acc.Warn(ctx)
}

// Done settles the own request. A reply that broke off is paid for as well: its
// received part is charged by pawl's own count, as a guess.
func (acc *Account) Done(ctx context.Context, o turn.RequestResult) error {
	settle := acc.takeSettlement()
	if settle == nil {
		return nil
	}
	var info llm.Info
	var input int64
	var most *float64
	acc.log.View(func() { info, input, most = acc.info, acc.input, acc.most })
	c := event.Charged{By: event.ChargedBroken, Model: info.Ref(), Usage: o.Usage, Guess: true}
	switch {
	case o.Replied != nil:
		c.Usage, c.USD, c.Guess = o.Replied.Reply.Usage, o.Replied.Cost, false
		c.Calls = len(o.Replied.Reply.Message.Calls())
		if c.USD == nil {
			c.Guess, c.Unknown, c.USD = true, true, most // no more than was reserved
		}
	case o.Got > 0 || o.Cut || o.Usage.Known:
		if c.Guess = !o.Usage.Known; c.Guess {
			c.Usage = llm.Usage{Known: true, Input: input, Output: budget.Guess(o.Got)}
		}
		c.USD = llm.Cost(info.Price, c.Usage)
		if err := acc.log.Append(ctx, event.Draft{Body: c}); err != nil {
			return errors.Join(err, settle(ctx))
		}
	}
	c.Requests = 1
	return settle(ctx, c)
}

// AgentsLeft returns how many child sessions may still be started, 0 for any number.
func (acc *Account) AgentsLeft() int {
	return eventlog.Query(acc.log, func() int { return acc.meter.Left(acc.cfg.Limits).Agents })
}

// Warn reports soft limits that were passed, once each.
func (acc *Account) Warn(ctx context.Context) error {
	var ds []event.Draft
	acc.log.View(func() {
		for _, w := range acc.meter.Warnings(acc.cfg.Limits) {
			ds = append(ds, event.Draft{Body: w})
		}
	})
	return acc.log.Append(ctx, ds...)
}

// extend asks the person to raise the limit of err. It returns nil if the limit was
// changed, otherwise err or the error of the question.
func (acc *Account) extend(ctx context.Context, err error) error {
	limit := (*budget.LimitError)(nil)
	if !errors.As(err, &limit) || !acc.cfg.Person {
		return err
	}
	// Ask one question at a time: children may reach the limit together.
	var asking chan struct{}
	acc.log.View(func() {
		if acc.asking == nil {
			acc.asking = make(chan struct{}, 1)
		}
		asking = acc.asking
	})
	select {
	case asking <- struct{}{}:
		defer func() { <-asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if now := eventlog.Query(acc.log, func() float64 { return acc.meter.Limit(acc.cfg.Limits, limit.Kind) }); now != limit.Limit {
		return nil
	}
	text, options := limit.Question()
	a, aerr := acc.cfg.Ask(ctx, event.Asked{Why: event.AskedBudget, Text: text, Options: options})
	if aerr != nil {
		return aerr
	}
	to, ok := limit.Answer(a.Text)
	if !ok {
		return err
	}
	return acc.log.Append(ctx, event.Draft{Body: event.Extended{What: string(limit.Kind), To: to}})
}

// Check implements turn.Gate: it stops a step whose calls pass a limit. They
// were counted when they were asked for.
func (acc *Account) Check(ctx context.Context, _ []*turn.Pending) error {
	for {
		err := eventlog.Query(acc.log, func() error { return acc.meter.Check(acc.cfg.Limits) })
		if err == nil {
			return nil
		}
		if err := acc.extend(ctx, err); err != nil {
			return err
		}
	}
}

// LimitTime calls end when the running time of a turn is used up, also in the
// middle of a request or a call. If a person is there, they are asked before
// the next one instead.
func (acc *Account) LimitTime(ctx context.Context, end func(error)) (stop func()) {
	var left time.Duration
	var ok bool
	acc.log.View(func() { left, ok = acc.meter.WallLeft(acc.cfg.Limits) })
	if !ok || acc.cfg.Person {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if left > 0 && acc.cfg.Sleep(ctx, left) != nil {
				return
			}
			// The folds learn the time from events.
			if acc.log.Append(ctx, event.Draft{Body: event.Ticked{}}) != nil {
				return
			}
			var err error
			acc.log.View(func() {
				err = acc.meter.Check(acc.cfg.Limits)
				left, _ = acc.meter.WallLeft(acc.cfg.Limits)
			})
			if left <= 0 {
				end(err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// TimeLeft returns how long the turn may still take, if something limits it and
// nobody is there to extend it.
func (acc *Account) TimeLeft() (left time.Duration, ok bool) {
	if acc.cfg.Person {
		return 0, false
	}
	var ran time.Duration
	acc.log.View(func() {
		ran = acc.meter.TurnTime(acc.cfg.Now())
		if left, ok = acc.meter.WallLeft(acc.cfg.Limits); ok {
			left -= ran - acc.meter.Turn().Active() // since the last event
		}
	})
	if rest := acc.cfg.Timeout - ran; acc.cfg.Timeout > 0 && (!ok || rest < left) {
		left, ok = rest, true
	}
	return left, ok
}
