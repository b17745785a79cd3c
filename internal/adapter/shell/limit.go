package shell

import (
	"context"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// limit is the time limit of a command. It stands still while the command is held and
// somebody decides about it.
type limit struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time
	held  int
	timer *time.Timer // nil: it has not begun

	heldSince time.Time
	waits     time.Duration // how long it was held before
}

// begin starts the limit. over is called at its end.
func (l *limit) begin(d time.Duration, over func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.since = d, time.Now()
	l.timer = time.AfterFunc(d, over)
	if l.held > 0 {
		l.timer.Stop()
	}
}

// around returns hold as a decision whose time the limit does not count.
func (l *limit) around(hold process.Hold) process.Hold {
	if hold == nil {
		return nil
	}
	return func(ctx context.Context, r process.Refusal) (string, process.Answer) {
		l.pause()
		defer l.resume()
		return hold(ctx, r)
	}
}

func (l *limit) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held++; l.held > 1 {
		return
	}
	l.heldSince = time.Now()
	if l.timer != nil && l.timer.Stop() {
		l.left -= time.Since(l.since)
	}
}

func (l *limit) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held--; l.held > 0 {
		return
	}
	l.waits += time.Since(l.heldSince)
	if l.timer != nil {
		l.since = time.Now()
		l.timer.Reset(max(l.left, 0))
	}
}

// isHeld reports whether the command is held now.
func (l *limit) isHeld() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held > 0
}

// waited returns how long the command was held.
func (l *limit) waited() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held > 0 {
		return l.waits + time.Since(l.heldSince)
	}
	return l.waits
}

func (l *limit) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

// untilGone returns hold for a command that is ended when run ends, or where hold lets it run
// again as the person, by end: until it has ended, the call waits. A refusal would let the
// rest of the command line run.
func untilGone(run context.Context, hold process.Hold, end func()) process.Hold {
	if hold == nil {
		return nil
	}
	return func(ctx context.Context, r process.Refusal) (string, process.Answer) {
		opened, a := hold(ctx, r)
		switch {
		case a == process.AsPerson:
			end()
			<-ctx.Done()
		case a != process.Allowed && run.Err() != nil:
			<-ctx.Done()
		}
		return opened, a
	}
}
