package window

import "github.com/pawl-agent/pawl/internal/core/llm"

// Recount counts a conversation with another counter while the conversation goes on. Each
// counter still counts each part once.
type Recount struct {
	with    Counter
	rebases int
	head    llm.Head
	past    packedMessages
	headN   int
	counts  []int
}

// Recount prepares counting with another counter: Run counts, and ApplyRecount
// replaces the counts.
func (c *Conversation) Recount(with Counter) *Recount {
	return &Recount{with: with, rebases: c.rebases, head: c.head, past: c.past.copied()}
}

// Run counts. The conversation may change meanwhile.
func (w *Recount) Run() {
	w.headN = countHead(w.with, w.head)
	w.counts = make([]int, 0, w.past.len())
	for m := range w.past.from(0) {
		w.counts = append(w.counts, countMessage(w.with, m))
	}
}

// ApplyRecount takes the counts of Run and counts what was added since. After a rebase
// it returns false and changes nothing: count again then.
//
// The calibration is kept: its factor is converted to the new counts of the
// same tokens.
func (c *Conversation) ApplyRecount(w *Recount) bool {
	if w.rebases != c.rebases {
		return false
	}
	was := c.headN + c.bodyN
	c.counter, c.headN = w.with, w.headN
	c.tailAbout.tokens = 0
	if len(c.tail.Parts) > 0 {
		c.tailAbout.tokens = countMessage(w.with, c.tail)
	}
	ms, as := c.past.all()
	for i, m := range ms {
		if i < len(w.counts) {
			as[i].tokens = w.counts[i]
		} else {
			as[i].tokens = countMessage(w.with, m)
		}
	}
	c.replace(ms, as)
	now := c.headN + c.bodyN
	if was <= 0 || now <= 0 {
		return true
	}
	ratio := float64(now) / float64(was)
	scale := func(n int) int { return int(float64(n)*ratio + 0.5) }
	c.calib.sent, c.compact.dedupAt, c.results[1] = scale(c.calib.sent), scale(c.compact.dedupAt), scale(c.results[1])
	if c.calib.factor != 0 {
		c.calib.factor /= ratio
	}
	return true
}
