package process

import "time"

// Restarts decides when a server that failed may be started again (SPEC 12.3):
// three times in a row, each after a longer wait than the one before. The zero
// value is ready. It is not safe for concurrent use: who starts the server
// guards it.
type Restarts struct {
	failures int       // starts that failed and lives that ended early, in a row
	next     time.Time // not before
}

// waits are how long each restart in a row waits.
var waits = [...]time.Duration{500 * time.Millisecond, 2 * time.Second, 8 * time.Second}

// steady is how long a server must live for what went wrong before to be
// forgotten.
const steady = 5 * time.Minute

// Failed notes a start that failed, or the end of a life that nobody asked for.
func (r *Restarts) Failed(now time.Time) {
	r.failures++
	r.next = now.Add(waits[min(r.failures, len(waits))-1])
}

// Lived notes how long a server lived that ended now. A long life clears the
// failures before it.
func (r *Restarts) Lived(d time.Duration) {
	if d >= steady {
		r.Reset()
	}
}

// Wait returns how long the next start has to wait. ok is false where there
// were too many failures in a row: only Reset lets it be started again.
func (r *Restarts) Wait(now time.Time) (d time.Duration, ok bool) {
	return max(r.next.Sub(now), 0), r.failures <= len(waits)
}

// Failures is how many there were in a row.
func (r *Restarts) Failures() int { return r.failures }

// Reset forgets all failures: a person asked for a new start, or what was
// missing may be there at any time.
func (r *Restarts) Reset() { *r = Restarts{} }
