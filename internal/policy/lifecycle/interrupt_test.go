package lifecycle

import (
	"testing"
	"time"
)

// SPEC 10.3
func TestLadder(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	type press struct {
		ms   int
		s    Situation
		want Action
	}
	run, text, empty := Situation{Running: true}, Situation{Input: true}, Situation{}
	for name, presses := range map[string][]press{
		"running":               {{0, run, Cancel}, {5000, run, Cancel}},
		"text then empty":       {{0, text, Clear}, {1000, empty, Confirm}, {2000, empty, Exit}},
		"three at once":         {{0, run, Cancel}, {200, run, Cancel}, {500, run, Abort}},
		"three not fast enough": {{0, run, Cancel}, {200, run, Cancel}, {501, run, Cancel}},
		"in a view":             {{0, Situation{View: true, Running: true}, CloseView}, {1000, run, Cancel}},
		"three, one in a view":  {{0, Situation{View: true}, CloseView}, {200, run, Cancel}, {400, text, Abort}},
		"a view opens between":  {{0, run, Cancel}, {200, text, Clear}, {400, Situation{View: true}, Abort}},
		"text asks anew":        {{0, empty, Confirm}, {1000, text, Clear}, {2000, empty, Confirm}},
	} {
		var l InterruptPolicy
		for i, p := range presses {
			if got := l.Press(at(p.ms), p.s); got != p.want {
				t.Errorf("%s: press %d gives %v, want %v", name, i+1, got, p.want)
			}
		}
	}
	var l InterruptPolicy
	l.Press(at(0), empty)
	l.Typed()
	if got := l.Press(at(1000), empty); got != Confirm {
		t.Errorf("after typing, an interrupt gives %v, want to be asked again", got)
	}
}
