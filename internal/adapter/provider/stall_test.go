package provider

import (
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// alarm is a timer whose time is moved by hand.
type alarm struct {
	left  time.Duration
	fire  func()
	fired bool
}

func (a *alarm) Reset(d time.Duration) bool { a.left = d; return true }
func (a *alarm) Stop() bool                 { a.left = 0; return true }

func (a *alarm) pass(d time.Duration) {
	if a.left > 0 && d >= a.left && !a.fired {
		a.fired = true
		a.fire()
	}
	a.left -= d
}

// SPEC 3.4: 90 s are between bytes and not for the whole reply: every byte
// starts them anew, however long the stream gets; so do the 600 s hold only
// until the first.
func TestEachByteStartsTheWaitAnew(t *testing.T) {
	const first, between, linger = 600 * time.Second, 90 * time.Second, 2 * time.Second
	for name, c := range map[string]struct {
		before time.Duration   // the first byte
		gaps   []time.Duration // between the others
		stall  bool
	}{
		"ten minutes of bytes":      {599 * time.Second, []time.Duration{80e9, 80e9, 80e9, 80e9, 80e9, 80e9, 80e9, 80e9}, false},
		"the first byte is late":    {600 * time.Second, nil, true},
		"a late one between others": {time.Second, []time.Duration{80e9, 91e9, 1e9}, true},
		"late at the end":           {time.Second, []time.Duration{1e9, 1e9, 1e9, 1e9, 90e9}, true},
	} {
		a := &alarm{}
		stalled := false
		w := newStallTimer(func(d time.Duration, f func()) Timer {
			a.left, a.fire = d, f
			return a
		}, first, between, linger, func() { stalled = true })
		body := watched{iotest.OneByteReader(strings.NewReader(strings.Repeat("x", len(c.gaps)+1))), w}
		for _, gap := range append([]time.Duration{c.before}, c.gaps...) {
			a.pass(gap)
			if n, err := body.Read(make([]byte, 8)); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if stalled != c.stall {
			t.Errorf("%s: stalled %v", name, stalled)
		}
	}
}
