package provider

import (
	"context"
	"io"
	"sync"
	"time"
)

// Timer is the part of *time.Timer that a stall timer needs.
type Timer interface {
	Reset(time.Duration) bool
	Stop() bool
}

// stallTimer ends an exchange with a silent server. It starts with the wait for the
// first byte; then every byte starts the wait for the next one.
type stallTimer struct {
	between, linger time.Duration

	mu    sync.Mutex
	timer Timer
	phase phase
}

type phase int

const (
	waiting  phase = iota // no byte yet
	reading               // bytes are coming
	finished              // the last event was seen, only the end of the body is missing
	over                  // stopped, or fired
)

// newStallTimer starts a timer that calls cancel once when a wait is too long.
func newStallTimer(after func(time.Duration, func()) Timer, first, between, linger time.Duration, cancel context.CancelFunc) *stallTimer {
	w := &stallTimer{between: between, linger: linger}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = after(first, func() {
		w.mu.Lock()
		live := w.phase != over
		w.mu.Unlock()
		if live {
			cancel()
		}
	})
	return w
}

// saw records that bytes arrived.
func (w *stallTimer) saw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.phase {
	case waiting, reading:
		w.phase = reading
		w.timer.Reset(w.between)
	}
}

// finish records that the last event arrived.
func (w *stallTimer) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase == reading || w.phase == waiting {
		w.phase = finished
		w.timer.Reset(w.linger)
	}
}

func (w *stallTimer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = over
	w.timer.Stop()
}

// read returns the current phase, for a message.
func (w *stallTimer) read() phase {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phase
}

// watched is a body whose bytes are reported to a stallTimer.
type watched struct {
	r io.Reader
	w *stallTimer
}

func (b watched) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 {
		b.w.saw()
	}
	return n, err
}
