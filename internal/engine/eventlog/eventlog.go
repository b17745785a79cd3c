// Package eventlog is one session's open log: events are appended, published
// and read only here.
//
// It promises that an event is stored before a fold or a reader sees it, that
// folds see every event once and in order, that a slow reader misses no stored
// event, and that no secret passes: everything that is appended or published is
// masked here, so a new kind of event is masked automatically (SPEC 16.7).
// After a failed write it refuses to continue: what could not be stored did not
// happen.
package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Config is what a log is made of.
type Config struct {
	Store   event.Log
	Session string
	Mask    *secrets.Masker // nil: nothing is masked
	Now     func() time.Time
	// Lost, if set, is called when the log cannot be written any more. It is
	// called while the folds are locked, like a fold's Apply.
	Lost func()
	// Snapshots, if set, is how snapshots of the folds are kept.
	Snapshots *Snapshots
}

// Log is an open log. Its methods are safe for concurrent use.
type Log struct {
	cfg   Config
	began int64

	// appending is held while events are stored, so that they are folded in the
	// order of the store. Views do not wait for it: the disk does not block
	// readers.
	appending sync.Mutex
	cause     atomic.Int64

	mu     sync.Mutex // guards the folds and what follows
	folds  []event.Fold
	last   int64
	subs   map[*subscriber]struct{}
	closed bool
	broken error         // why the log cannot be written any more
	fresh  []event.Event // all after began, while these are few
	live   streamMasker

	snapshots *snapshots // nil: none are kept
}

// Commenter is a fold that has something to show to readers after an event. It
// is called after all folds saw the event.
type Commenter interface {
	Comment(event.Event) (event.Body, bool)
}

// Reader is a fold whose Apply reads other folds, which must have applied the event by
// then.
type Reader interface {
	Reads() []event.Fold
}

// checkOrder returns an error if a fold comes before one that it reads.
func checkOrder(folds []event.Fold) error {
	for i, f := range folds {
		r, ok := f.(Reader)
		if !ok {
			continue
		}
		for _, read := range r.Reads() {
			if !slices.Contains(folds[:i], read) {
				return fault.NewInternal(nil, "the fold %T reads %T, which is not before it in the list of folds", f, read)
			}
		}
	}
	return nil
}

// Open reads a log into the folds: from its beginning, or from where a snapshot
// of them ends. A new session has an empty log.
func Open(ctx context.Context, cfg Config, folds ...event.Fold) (*Log, error) {
	if err := checkOrder(folds); err != nil {
		return nil, err
	}
	l := &Log{cfg: cfg, folds: folds, subs: map[*subscriber]struct{}{}}
	l.live.mask = cfg.Mask
	l.snapshots = newSnapshots(cfg)
	l.last = l.snapshots.restore(ctx, math.MaxInt64, folds)
	for e, err := range cfg.Store.Read(ctx, cfg.Session, l.last) {
		if errors.Is(err, event.ErrNoSession) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("open session %s: %w", cfg.Session, err)
		}
		l.apply(e)
	}
	l.began = l.last
	l.snapshots.afterOpen(l.last, folds)
	return l, nil
}

func (l *Log) apply(e event.Event) {
	l.last = max(l.last, e.Seq)
	for _, f := range l.folds {
		f.Apply(e)
	}
}

// SetCause sets the cause of what is appended from now on without one: the sequence
// number of what the running operation began with, 0 for none.
func (l *Log) SetCause(seq int64) { l.cause.Store(seq) }

// Append masks drafts, stores them, folds them and only then shows them. After
// one failed write nothing more is accepted, so that nothing is done that the
// log does not know.
func (l *Log) Append(ctx context.Context, ds ...event.Draft) error {
	if len(ds) == 0 {
		return nil
	}
	masked, cause := make([]event.Draft, len(ds)), l.cause.Load()
	for i, d := range ds {
		masked[i] = event.Draft{Cause: cmp.Or(d.Cause, cause), Body: l.Masked(d.Body)}
	}
	l.appending.Lock()
	defer l.appending.Unlock()
	after, err := l.end()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// From here on the append is not cancelled: a stored event that is not
	// known would leave the session behind its own log.
	es, err := l.cfg.Store.Append(context.WithoutCancel(ctx), l.cfg.Session, after, masked...)
	if errors.Is(err, event.ErrStale) {
		err = &fault.Error{
			Category: fault.Configuration, Err: err,
			Message: fmt.Sprintf("session %s is in use by another pawl", l.cfg.Session), Hint: "close it there, or fork it with --fork-session",
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.broken = err
		if l.cfg.Lost != nil {
			l.cfg.Lost()
		}
		return err
	}
	l.foldAndShow(es...)
	return nil
}

// end returns the log's last sequence number, or why nothing can be appended.
func (l *Log) end() (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.broken
}

// foldAndShow folds stored events and shows them. Callers hold mu.
func (l *Log) foldAndShow(es ...event.Event) {
	if n := len(l.fresh); n < maxFresh && l.began+int64(n) == l.last {
		l.fresh = append(l.fresh, es...)
	} else {
		l.fresh = nil
	}
	for _, e := range es {
		for _, b := range l.live.before(e.Body) {
			l.show(event.Event{Session: l.cfg.Session, Time: e.Time, Body: b})
		}
		l.apply(e)
		l.snapshots.afterEvent(e)
		l.show(e)
		for _, f := range l.folds {
			if c, ok := f.(Commenter); ok {
				if b, ok := c.Comment(e); ok {
					l.show(event.Event{Session: l.cfg.Session, Time: e.Time, Body: b})
				}
			}
		}
	}
}

// Mirror folds and shows an event that another process stored, or showed. An
// event that was read from the store already is skipped.
func (l *Log) Mirror(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Seq != 0 {
		if e.Seq <= l.last {
			return
		}
		l.apply(e)
	}
	l.show(e)
}

func (l *Log) show(e event.Event) {
	for sub := range l.subs {
		sub.put(e, l.last)
	}
}

// CatchUp reads what another process, such as `pawl undo`, appended while this
// one was idle.
func (l *Log) CatchUp(ctx context.Context) error {
	l.appending.Lock()
	defer l.appending.Unlock()
	var es []event.Event
	for e, err := range l.cfg.Store.Read(ctx, l.cfg.Session, l.Last()) {
		if err != nil {
			return err
		}
		es = append(es, e)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foldAndShow(es...)
	return nil
}

// Publish shows an event that is not stored.
func (l *Log) Publish(b event.Body) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.cfg.Now()
	for _, b := range l.live.masked(b) {
		l.show(event.Event{Session: l.cfg.Session, Time: now, Body: b})
	}
}

// View runs read while no event is folded, so that everything it reads from the
// folds is consistent. It must be fast and append nothing.
func (l *Log) View(read func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	read()
}

// Query returns the result of read, which runs in a View.
func Query[T any](l interface{ View(func()) }, read func() T) (v T) {
	l.View(func() { v = read() })
	return v
}

// Masked returns a body as the log would store it.
func (l *Log) Masked(b event.Body) event.Body { return maskBody(l.cfg.Mask, b) }

// Last returns the sequence number of the last stored event.
func (l *Log) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Began returns the sequence number of the last event when the log was opened:
// 0 for a new one.
func (l *Log) Began() int64 { return l.began }

// Broken returns why the log cannot be written any more, nil if it can.
func (l *Log) Broken() error {
	_, err := l.end()
	return err
}

// Close ends what runs in the background. It does not end readers.
func (l *Log) Close() { l.snapshots.close() }

// EndReaders ends all readers after they have all stored events. If closed is set, or
// the log can no longer be written, it ends later readers too, so that none waits for
// an event that cannot come.
func (l *Log) EndReaders(closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = l.closed || closed || l.broken != nil
	for sub := range l.subs {
		sub.end()
	}
}
