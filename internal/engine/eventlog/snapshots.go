package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/freeze"
)

// Snapshots configures how snapshots of the folds are kept, in a store that is an
// event.Snapshots. A snapshot is made of separate folds (Fresh) that saw only stored
// events, never of the folds in use. It is read only by the program that wrote it,
// into folds with the same configuration.
type Snapshots struct {
	// Name distinguishes these folds from others of the same log, "" for those of a
	// session.
	Name string
	// Program identifies this build of the program; "": no snapshots are kept.
	Program string
	// Fresh returns folds as those of Open were before their first event.
	Fresh func() []event.Fold
	// Known are the program's tables that folds point to, and the types that their
	// interfaces hold: see freeze.New.
	Known []any
	// Kinds are the kinds of events that change these folds; nil: any may. Only Fold
	// uses them, to read less.
	Kinds []string
	// Shared: no fold depends on Event.Session, so a fork may begin with a snapshot of
	// the session that it shares events with.
	Shared bool
	// ReadOnly: snapshots are read and not taken.
	ReadOnly bool
	// Every is the number of events between two snapshots, 0 for the default. At the
	// end of a turn, or after opening the log, a quarter of it is enough.
	Every int64
}

// snapshotName is the name of the snapshots of a session's folds.
const snapshotName = "folds"

// snapshotEvery events are folded in about 130 ms. A smaller number would cost
// memory within turns: folds that are made for a snapshot are a few MB.
const snapshotEvery = 8000

// turnsPause is how long after a turn's end the log must stay open for a
// snapshot: what runs one prompt and ends takes none.
const turnsPause = 500 * time.Millisecond

// Rooted is a fold whose state is another value than the fold.
type Rooted interface {
	// Root returns a pointer to its state, nil if it has none.
	Root() any
}

func roots(folds []event.Fold) []any {
	out := make([]any, 0, len(folds))
	for _, f := range folds {
		r, ok := f.(Rooted)
		switch {
		case !ok:
			out = append(out, f)
		case r.Root() != nil:
			out = append(out, r.Root())
		}
	}
	return out
}

// snapshots takes and reads those of one log. A nil one does nothing.
type snapshots struct {
	Snapshots
	session string
	log     event.Log
	store   event.Snapshots

	ctx  context.Context
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	at      int64 // of the newest one
	size    int   // of its data
	busy    bool
	stopped bool // nothing is taken any more
}

func newSnapshots(cfg Config) *snapshots {
	store, ok := cfg.Store.(event.Snapshots)
	if !ok || cfg.Snapshots == nil || cfg.Snapshots.Program == "" {
		return nil
	}
	s := &snapshots{Snapshots: *cfg.Snapshots, session: cfg.Session, log: cfg.Store, store: store}
	s.Every = cmp.Or(s.Every, snapshotEvery)
	s.Name = cmp.Or(s.Name, snapshotName)
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Fold folds the events of a session, starting after the newest snapshot of these
// folds. If many events came since, it takes a new snapshot. Of a damaged log it folds
// the readable part and returns an error.
func Fold(ctx context.Context, log event.Log, session string, how Snapshots, folds ...event.Fold) error {
	return FoldTo(ctx, log, session, math.MaxInt64, how, folds...)
}

// FoldTo is Fold up to and including the sequence number until.
func FoldTo(ctx context.Context, log event.Log, session string, until int64, how Snapshots, folds ...event.Fold) error {
	s := newSnapshots(Config{Store: log, Session: session, Snapshots: &how})
	defer s.close()
	last := s.restore(ctx, until, folds)
	events := log.Read(ctx, session, last)
	if c, ok := log.(event.Chooser); ok && len(how.Kinds) > 0 {
		events = c.ReadKinds(ctx, session, last, how.Kinds...)
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		if e.Seq > until {
			break
		}
		for _, f := range folds {
			f.Apply(e)
		}
		last = e.Seq
	}
	s.afterOpen(last, folds)
	s.wait()
	return nil
}

// wait waits for what is being taken.
func (s *snapshots) wait() {
	if s != nil {
		s.done.Wait()
	}
}

// codec returns that of folds into which nothing was folded, and what a snapshot
// for them begins with.
func (s *snapshots) codec(fresh []event.Fold) (*freeze.Codec, []byte, error) {
	c, err := freeze.New(roots(fresh), s.Known...)
	if err != nil {
		return nil, nil, err
	}
	shape := c.Shape()
	key := sha256.Sum256(append([]byte(s.Program+"\x00"), shape[:]...))
	return c, key[:len(key):len(key)], nil
}

// restore reads the newest snapshot into empty folds and returns the sequence number of
// its last event. It returns 0 if no snapshot can be used, for example if the newest one
// has events after until.
func (s *snapshots) restore(ctx context.Context, until int64, folds []event.Fold) int64 {
	if s == nil {
		return 0
	}
	at, data, err := s.newest(ctx)
	if err != nil || at > until {
		return 0
	}
	c, key, err := s.codec(folds)
	if err != nil {
		return 0
	}
	return s.read(c, key, at, data, folds)
}

// maxForks bounds the search for a snapshot: a fork, the session it was forked from,
// and so on.
const maxForks = 8

// newest returns the newest snapshot. For a fork without a snapshot it returns that of
// the session it was forked from, if all events of that snapshot are shared.
func (s *snapshots) newest(ctx context.Context) (at int64, data []byte, err error) {
	session, shared := s.session, int64(math.MaxInt64)
	rows, ok := s.store.(interface {
		Session(ctx context.Context, id string) (event.Row, error)
	})
	for range maxForks {
		at, data, err = s.store.Snapshot(ctx, session, s.Name)
		if err == nil && at <= shared {
			return at, data, nil
		}
		if !s.Shared || !ok {
			break
		}
		row, failed := rows.Session(ctx, session)
		if failed != nil || row.ID != session || row.Origin == nil {
			break
		}
		session, shared = row.Origin.Session, min(shared, row.Origin.At)
	}
	return 0, nil, event.ErrNoSnapshot
}

func (s *snapshots) read(c *freeze.Codec, key []byte, at int64, data []byte, folds []event.Fold) int64 {
	state, ok := bytes.CutPrefix(data, key)
	if !ok || c.Read(state, roots(folds)) != nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.size = at, len(state)
	return at
}

// write returns the data of a snapshot. It allocates a quarter more than the last one
// had at once, since growing step by step would copy the data several times.
func (s *snapshots) write(c *freeze.Codec, key []byte, folds []event.Fold) ([]byte, error) {
	s.mu.Lock()
	size := s.size
	s.mu.Unlock()
	data, err := c.Append(slices.Grow(key, size+size/4), roots(folds))
	if err == nil {
		s.mu.Lock()
		s.size = len(data)
		s.mu.Unlock()
	}
	return data, err
}

// afterOpen takes a snapshot of folds that a long log was read into.
func (s *snapshots) afterOpen(last int64, folds []event.Fold) {
	if s == nil || s.ReadOnly || last-s.at < s.Every/4 {
		return
	}
	c, key, err := s.codec(s.Fresh())
	if err != nil {
		s.stopped = true
		return
	}
	data, err := s.write(c, key, folds) // now: from here on they are in use
	if err != nil {
		s.stopped = true
		return
	}
	s.busy = true
	s.done.Go(func() { s.taken(s.save(last, data)) })
}

// afterEvent is called after each event of the log, under its lock.
func (s *snapshots) afterEvent(e event.Event) {
	if s == nil || s.ReadOnly {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	enough, pause := s.Every, time.Duration(0)
	if _, ended := e.Body.(event.Ended); ended {
		enough, pause = s.Every/4, turnsPause
	}
	if s.busy || s.stopped || e.Seq-s.at < enough {
		return
	}
	s.busy = true
	s.done.Go(func() {
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
		}
		s.taken(s.take(e.Seq))
	})
}

// take folds the log up to an event once more, from the newest snapshot on, and
// saves what comes of it. It never blocks the log.
func (s *snapshots) take(last int64) (int64, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	folds := s.Fresh()
	c, key, err := s.codec(folds)
	if err != nil {
		return 0, err
	}
	at := int64(0)
	if was, data, err := s.newest(s.ctx); err == nil && was <= last {
		at = s.read(c, key, was, data, folds)
	}
	for e, err := range s.log.Read(s.ctx, s.session, at) {
		if err != nil {
			return 0, err
		}
		for _, f := range folds {
			f.Apply(e)
		}
		if at = e.Seq; at >= last {
			break
		}
	}
	data, err := s.write(c, key, folds)
	if err != nil {
		return 0, err
	}
	return s.save(at, data)
}

func (s *snapshots) save(at int64, data []byte) (int64, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return at, s.store.SaveSnapshot(s.ctx, s.session, s.Name, at, data)
}

// taken notes how it went. After an error no other one is taken: the session is
// then folded as a whole when it is opened.
func (s *snapshots) taken(at int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	if err != nil {
		s.stopped = true
		return
	}
	s.at = at
}

// close ends what is being taken.
func (s *snapshots) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.stop()
	s.done.Wait()
}
