package window

import "time"

// A provider's cache lives for some minutes after each use. Who came back later than that, and
// within the hour, may do so again: from then on the cache is asked to last for an hour. At
// that moment the whole prefix must be written in any case. This write costs three quarters of
// its input more, and each later pause of this kind saves more than the whole of it.
const (
	shortLife = 5 * time.Minute
	longLife  = time.Hour
)

// Pauses reports whether the cache of the next request is to last for an hour. It is known from
// the log alone, so a session that is resumed, or played again, asks for the same.
func (c *Conversation) Pauses() bool {
	pause := c.now.Sub(c.sent)
	return c.paused || !c.sent.IsZero() && pause > shortLife && pause < longLife
}
