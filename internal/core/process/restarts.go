package process

import "time"

// Restarts decides when a server that failed may be started again (SPEC 12.3):
// at most three times in a row, each time after a longer wait. The zero value is
// ready. It is not safe for concurrent use: the code that starts the server
// guards it.
type Restarts struct {
	failures int       // starts that failed and early exits, in a row
	next     time.Time // not before
}

// waits are how long each restart in a row waits.
var waits = [...]time.Duration{500 * time.Millisecond, 2 * time.Second, 8 * time.Second}

// steady is how long a server must run before its earlier failures are
// forgotten.
const steady = 5 * time.Minute

// Failed records a start that failed, or an unexpected exit.
func (r *Restarts) Failed(now time.Time) {
	r.failures++
	r.next = now.Add(waits[min(r.failures, len(waits))-1])
}

// Lived records how long a server ran that has now ended. A long run clears the
// failures before it.
func (r *Restarts) Lived(d time.Duration) {
	if d >= steady {
		r.Reset()
	}
}

// Wait returns how long the next start has to wait. ok is false after too many
// failures in a row: then only Reset permits a start.
func (r *Restarts) Wait(now time.Time) (d time.Duration, ok bool) {
	return max(r.next.Sub(now), 0), r.failures <= len(waits)
}

// Failures returns the number of failures in a row.
func (r *Restarts) Failures() int { return r.failures }

// Reset forgets all failures: a person asked for a new start, or the cause may
// have been removed meanwhile.
func (r *Restarts) Reset() { *r = Restarts{} }
