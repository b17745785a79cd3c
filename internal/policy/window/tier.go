package window

// Tier is how full the window is, by the names of the lifecycle's table.
type Tier string

// The tiers (SPEC 9.2). A border belongs to the tier above it.
const (
	Normal     Tier = "normal"
	Moderate   Tier = "moderate"
	Aggressive Tier = "aggressive"
	Critical   Tier = "critical"
)

const (
	capWindow     = 16_384  // the window that the caps were made for
	minCap        = 50      // the least of a result that is of any use
	unknownWindow = 128_000 // what caps assume of a model of unknown window
)

// reserved is what of a window is kept free for the reply: the longest one,
// but at most an eighth of the window. The longest reply that is asked for
// shrinks to what is left (Room).
func reserved(window, maxOutput int) int {
	if maxOutput <= 0 {
		maxOutput = 8192
	}
	return min(maxOutput, window/8)
}

// Limit is how many tokens a request may have: the window without the reserved
// reply, and no more than what a provider refused. 0: not known.
func (c *Conversation) Limit() int {
	limit := 0
	if c.info.Window > 0 {
		limit = c.info.Window - reserved(c.info.Window, c.info.MaxOutput)
	}
	if l := c.compact.learned; l > 0 && (limit == 0 || l < limit) {
		limit = l
	}
	return limit
}

// Tokens is how many tokens the next request has: as counted, by what reported
// usage tells about the counts.
func (c *Conversation) Tokens() int { return c.calib.of(c.headN + c.bodyN) }

// Percent is how full the window is, 0 where its size is not known. It may be
// over 100.
func (c *Conversation) Percent() float64 {
	limit := c.Limit()
	if limit <= 0 {
		return 0
	}
	return 100 * float64(c.Tokens()) / float64(limit)
}

// Tier is the tier of Percent.
func (c *Conversation) Tier() Tier { return c.conf.Tier(c.Percent()) }

// Room is how long a reply may be for request and reply to fit the window, in
// tokens; 0 where that is not known.
func (c *Conversation) Room() int {
	if c.info.Window <= 0 {
		return 0
	}
	return max(c.info.Window-c.Tokens()*102/100-64, 256)
}

// Urgency returns how pressing a compaction is, in C's words (SPEC 9.8): none,
// low, medium, high, critical. A border belongs to the one below it.
func Urgency(percent float64) string {
	switch {
	case percent <= 70:
		return "none"
	case percent <= 85:
		return "low"
	case percent <= 90:
		return "medium"
	case percent <= 95:
		return "high"
	}
	return "critical"
}

// CallsLeft guesses how many calls the window has room for, a tenth of it kept
// free, by the results so far; at most 50 (SPEC 9.3).
func (c *Conversation) CallsLeft() int {
	limit, average := c.Limit(), 400 // C's size of an unknown result
	most := c.conf.filled().CallsMost
	if limit <= 0 {
		return most
	}
	if c.results[0] > 0 {
		average = max(1, c.calib.of(c.results[1])/c.results[0])
	}
	return min(most, max(0, limit*9/10-c.Tokens())/average)
}

// ResultCap is how many tokens, as Estimate counts, of the next result are
// shown: the tier's cap, and no more than the call's share of what is left, so
// that the results of one step do not overfill the window.
func (c *Conversation) ResultCap() int {
	n := c.conf.Cap(c.Tier(), c.info.Window)
	if limit := c.Limit(); limit > 0 {
		share := (limit - c.Tokens()) / max(1, len(c.open))
		n = min(n, share)
	}
	return max(minCap, c.calib.to(n))
}

// ResultCapOf is ResultCap for a text that is at hand: one that the counter
// finds more in than Estimate does (hashes, base64) gets less of it shown.
func (c *Conversation) ResultCapOf(text string) int {
	n := c.ResultCap()
	sample := text[:min(len(text), capSample)]
	estimate := Estimate{}.Count(sample)
	if c.counter == nil || estimate == 0 || Fits(text, n/2) {
		return n
	}
	return max(minCap, n*estimate/max(estimate, c.counter.Count(sample)))
}

// capSample is how many bytes of a text say what it is made of.
const capSample = 8 << 10

// Bytes is how long a text of so many tokens is at least, in code or prose.
func Bytes(tokens int) int { return tokens * 3 }
