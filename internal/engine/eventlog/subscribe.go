package eventlog

import (
	"context"
	"iter"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// What a reader may fall behind before it loses ephemeral events, and before
// it is sent back to the log for the stored ones.
const (
	maxEphemeral = 1024
	maxPieces    = 4 << 20 // bytes of them: what a command prints comes in large ones
	maxQueued    = 8192
)

// maxFresh is how many events a log keeps for readers that begin when it was just opened.
const maxFresh = 64

// queued is an event for a reader; at is the sequence number of the last stored
// event when it was put there.
type queued struct {
	event.Event
	at int64
}

// subscriber is one reader's queue.
type subscriber struct {
	mu    sync.Mutex
	queue []queued
	bytes int  // of the ephemeral events in queue
	lag   bool // stored events were dropped: read them from the log
	ended bool
	wake  chan struct{} // capacity 1
}

func (q *subscriber) put(e event.Event, at int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := 0
	if e.Seq == 0 {
		size = pieceSize(e.Body)
	}
	switch {
	case e.Seq == 0 && (len(q.queue) >= maxEphemeral || q.bytes+size > maxPieces):
		return
	case len(q.queue) >= maxQueued:
		q.queue, q.bytes, q.lag = nil, 0, true
	default:
		q.queue = append(q.queue, queued{e, at})
		q.bytes += size
	}
	q.signal()
}

// pieceSize is how much text an ephemeral event carries.
func pieceSize(b event.Body) int {
	switch d := b.(type) {
	case event.TextDelta:
		return len(d.Text)
	case event.ReasoningDelta:
		return len(d.Text)
	case event.CallDelta:
		return len(d.Text)
	case event.OutputDelta:
		return len(d.Text)
	}
	return 0
}

func (q *subscriber) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.signal()
}

func (q *subscriber) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *subscriber) take() (es []queued, lag, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	es, lag = q.queue, q.lag
	q.queue, q.bytes, q.lag = nil, 0, false
	return es, lag, q.ended
}

// Events yields the stored events after a sequence number and then everything as it
// happens, until ctx ends or the log is closed. A slow reader loses
// ephemeral events, never stored ones.
func (l *Log) Events(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	// The subscription starts now and not at the first step of the loop: what
	// is submitted after this call returns is seen.
	q := &subscriber{wake: make(chan struct{}, 1)}
	l.mu.Lock()
	l.subs[q] = struct{}{}
	lag := after < l.last
	if lag && after >= l.began && l.began+int64(len(l.fresh)) == l.last {
		lag = false
		for _, e := range l.fresh[after-l.began:] {
			q.put(e, e.Seq)
		}
	}
	q.ended = l.closed
	l.mu.Unlock()
	return func(yield func(event.Event, error) bool) {
		defer func() {
			l.mu.Lock()
			delete(l.subs, q)
			l.mu.Unlock()
		}()
		last := after
		for {
			if lag {
				folded := l.Last() // another process may have stored more
				for e, err := range l.cfg.Store.Read(ctx, l.cfg.Session, last) {
					if err == nil && e.Seq > folded {
						break
					}
					if !yield(e, err) || err != nil {
						return
					}
					last = e.Seq
				}
			}
			es, behind, ended := q.take()
			if lag = behind; lag {
				continue // stored events are missing before these: the log has them all
			}
			for _, e := range es {
				if e.Seq != 0 && e.Seq <= last {
					continue
				}
				if e.Seq == 0 && e.at < last {
					continue // a piece of something that was read from the log whole
				}
				if !yield(e.Event, nil) {
					return
				}
				last = max(last, e.Seq)
			}
			if len(es) > 0 {
				continue
			}
			if ended {
				return
			}
			select {
			case <-q.wake:
			case <-ctx.Done():
				return
			}
		}
	}
}
