package window

// Tier is how full the window is, with the names of the lifecycle's table.
type Tier string

// The tiers (SPEC 9.2). A limit belongs to the tier above it.
const (
	Normal     Tier = "normal"
	Moderate   Tier = "moderate"
	Aggressive Tier = "aggressive"
	Critical   Tier = "critical"
)

const (
	capWindow     = 16_384  // the window that the caps were made for
	minCap        = 50      // the smallest useful part of a result
	unknownWindow = 128_000 // assumed for a model whose window is not known
)

// reserved is the part of a window that is kept free for the reply: the longest
// reply, but at most an eighth of the window. Requests ask for no longer reply
// than what is left (Room).
func reserved(window, maxOutput int) int {
	if maxOutput <= 0 {
		maxOutput = 8192
	}
	return min(maxOutput, window/8)
}

// Limit is the largest request in tokens: the window without the reserved
// reply, and less than a request that a provider refused. 0: not known.
func (c *Conversation) Limit() int {
	limit := 0
	if c.info.Window > 0 {
		limit = c.info.Window - reserved(c.info.Window, c.info.MaxOutput)
	}
	if l := c.compact.refusedSize; l > 0 && (limit == 0 || l < limit) {
		limit = l
	}
	return limit
}

// Tokens returns the tokens of the next request: the count, corrected by the calibration.
func (c *Conversation) Tokens() int { return c.calib.of(c.headN + c.bodyN) }

// Percent returns how full the window is, 0 if its size is not known. It may exceed 100.
func (c *Conversation) Percent() float64 {
	limit := c.Limit()
	if limit <= 0 {
		return 0
	}
	return 100 * float64(c.Tokens()) / float64(limit)
}

// CountsMatter reports whether a better counter than Estimate is needed: if the model
// always gets the status, or once the window is half as full as the first tier that
// has an effect. Below that, no decision would change even if Estimate were wrong by
// half, and a vocabulary would only cost memory.
func (c *Conversation) CountsMatter() bool {
	d := c.conf.Defaults()
	return d.Status == "always" || 2*c.Percent() >= min(d.Moderate, d.CompactAt, d.DedupAt)
}

func (c *Conversation) Tier() Tier { return c.conf.tier(c.Percent()) }

// MaxReplyTokens returns the longest reply, in tokens, with which request and reply fit
// the window; 0 if that is not known.
func (c *Conversation) MaxReplyTokens() int {
	if c.info.Window <= 0 {
		return 0
	}
	return c.maxReply(c.Tokens())
}

func (c *Conversation) maxReply(request int) int { return max(c.info.Window-request*102/100-64, 256) }

// leastText is what a reply that may think has for the rest, where the window has it.
const leastText = 4096

// ThinkingTokens returns how much of each reply may be thinking until the window is
// compacted, 0 if that is not known.
func (c *Conversation) ThinkingTokens() int {
	limit := c.Limit()
	if c.info.Window <= 0 || limit <= 0 {
		return 0
	}
	least := c.maxReply(int(float64(limit) * min(c.conf.Defaults().CompactAt, 100) / 100))
	if c.info.MaxOutput > 0 {
		least = min(least, c.info.MaxOutput)
	}
	return max(least/2, least-leastText)
}

// Urgency returns how urgent a compaction is (SPEC 9.8): none, low, medium,
// high, critical. A limit belongs to the level below it.
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

// CallsLeft estimates how many more calls fit into the window, with a tenth of
// it kept free, from the results so far; at most 50 (SPEC 9.3).
func (c *Conversation) CallsLeft() int {
	limit, average := c.Limit(), 400 // the specification's size of an unknown result
	most := c.conf.Defaults().CallsMost
	if limit <= 0 {
		return most
	}
	if c.results[0] > 0 {
		average = max(1, c.calib.of(c.results[1])/c.results[0])
	}
	return min(most, max(0, limit*9/10-c.Tokens())/average)
}

// ResultCap returns how many tokens, by Estimate, of the next result are shown:
// the tier's cap, and at most the call's share of what is left, so that the
// results of one step do not overfill the window.
func (c *Conversation) ResultCap() int {
	n := c.conf.resultCap(c.Tier(), c.info.Window)
	if limit := c.Limit(); limit > 0 {
		share := (limit - c.Tokens()) / max(1, len(c.open))
		n = min(n, share)
	}
	return max(minCap, c.calib.to(n))
}

// ResultCapOf is ResultCap for a given text: if the counter finds more tokens in it than
// Estimate does (hashes, base64), less of it is shown.
func (c *Conversation) ResultCapOf(text string) int {
	n := c.ResultCap()
	sample := text[:min(len(text), capSample)]
	estimate := Estimate{}.Count(sample)
	if c.counter == nil || estimate == 0 || Fits(text, n/2) {
		return n
	}
	return max(minCap, n*estimate/max(estimate, c.counter.Count(sample)))
}

// PromptCap returns how many tokens of a prompt the model gets: a quarter of the free
// window, but at least as many as of a result. A person's text is cut later than a
// tool's output.
func (c *Conversation) PromptCap() int {
	n := promptCap
	if limit := c.Limit(); limit > 0 {
		n = c.calib.to((limit - c.Tokens()) / 4)
	}
	return max(c.ResultCap(), n)
}

// promptCap is PromptCap in a window of unknown size.
const promptCap = 8000

// capSample is how many bytes of a text are counted for that.
const capSample = 8 << 10

// Bytes returns the least size in bytes of this number of tokens, in code or prose.
func Bytes(tokens int) int { return tokens * 3 }
