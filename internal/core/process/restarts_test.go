package process

import (
	"testing"
	"testing/synctest"
	"time"
)

// SPEC 12.3: crash → restart with backoff, at most 3 in a row; a long life and
// a person begin anew.
func TestRestarts(t *testing.T) {
	for _, c := range []struct {
		name  string
		lives []time.Duration // each ends by a failure; below 0: a person asks for a new start
		want  []time.Duration // the wait before each start; below 0: there is none
	}{
		{"never failed", nil, []time.Duration{0}},
		{"dies at once", []time.Duration{0, 0, 0, 0}, []time.Duration{0, waits[0], waits[1], waits[2], -1}},
		{"dies early", []time.Duration{steady - 1, time.Minute, time.Second, time.Hour - steady}, []time.Duration{0, waits[0], waits[1], waits[2], waits[0]}},
		{"lives long, dies each time", []time.Duration{steady, steady, steady, steady, steady}, []time.Duration{0, waits[0], waits[0], waits[0], waits[0], waits[0]}},
		{"a long life between", []time.Duration{0, 0, steady, 0}, []time.Duration{0, waits[0], waits[1], waits[0], waits[1]}},
		{"a person", []time.Duration{0, 0, 0, 0, -1, 0}, []time.Duration{0, waits[0], waits[1], waits[2], 0, waits[0]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r Restarts
				starts := 0
				start := func() {
					d, ok := r.Wait(time.Now())
					if want := c.want[min(starts, len(c.want)-1)]; ok != (want >= 0) || ok && d != want {
						t.Errorf("start %d waits %s, %v; want %s", starts, d, ok, want)
					}
					time.Sleep(d)
					if d, _ := r.Wait(time.Now()); d != 0 {
						t.Errorf("after the wait %s are left", d)
					}
					starts++
				}
				start()
				for i, d := range c.lives {
					if d < 0 {
						r.Reset()
						if r.Failures() != 0 {
							t.Error("failures are kept")
						}
					} else {
						time.Sleep(d)
						r.Lived(d)
						r.Failed(time.Now())
					}
					if i+1 < len(c.lives) && c.lives[i+1] < 0 {
						if _, ok := r.Wait(time.Now()); ok {
							t.Error("it may be started a fifth time")
						}
						continue
					}
					start()
				}
			})
		})
	}
}

// A wait that has passed already, because nobody asked meanwhile, costs nothing.
func TestRestartsAfterALongWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Restarts
		r.Failed(time.Now())
		time.Sleep(time.Hour)
		if d, ok := r.Wait(time.Now()); d != 0 || !ok || r.Failures() != 1 {
			t.Errorf("%s, %v, %d failures", d, ok, r.Failures())
		}
	})
}
