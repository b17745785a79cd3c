package window

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// maxIdle compactions in a row with nothing new in between count as a spiral.
const maxIdle = 3

// compactions folds the compactions, and what happened since the last one.
type compactions struct {
	count       int
	at          time.Time
	grown       bool // messages were added since the last one
	news        bool // something new was found or done
	idle        int  // compactions in a row without news before them
	refusedSize int  // the size of a request that a provider refused as too long, in tokens; 0 none
	stuck       bool // after the last one the window was still critical
	unhelpful   bool // or still so full that another one would be due
	dedupAt     int  // the count when reads were last examined
	summary     string
	failed      string // why the model wrote no summary
	// repeated: the last result had been seen before, and no file changed since.
	repeated bool
	changes  int            // of files
	hashes   map[uint64]int // of results, to recognize repeated ones: changes at the newest
}

func (k *compactions) apply(b event.Body) {
	switch b := b.(type) {
	case event.Prompted:
		k.grown = true
		if b.Source == event.Person || b.Source == "" {
			k.news, k.idle = true, 0
		}
	case event.Replied:
		k.grown = true
	case event.FileChanged:
		k.changes++
		k.fresh(b.Path + "\x00" + string(b.After))
	case event.CallDone:
		if k.repeated = false; b.Outcome == event.OK {
			k.repeated = k.fresh(b.Tool+"\x00"+b.Result.Text) == k.changes
		}
	case event.Compacted:
		k.dedupAt = 0
		if b.Why == event.CompactedDedup || b.Why == event.CompactedCleanup {
			return
		}
		k.count++
		k.grown = false
		if k.failed = ""; b.Error != nil {
			k.failed = b.Error.Message
		}
		if k.news {
			k.idle = 0
		}
		k.idle++
		k.news = false
		if b.By != event.ByPointers {
			k.summary = b.Summary
		}
		if b.Why == event.CompactedLength && b.Before > 0 && (k.refusedSize == 0 || int(b.Before) < k.refusedSize) {
			k.refusedSize = int(b.Before)
		}
	}
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// fresh remembers a result or a content. It returns how often files had changed when it
// was last seen, -1 if it never was.
func (k *compactions) fresh(s string) (at int) {
	h := hash(s)
	at, known := k.hashes[h]
	if k.hashes == nil {
		k.hashes = map[uint64]int{}
	}
	k.hashes[h] = k.changes
	if !known {
		k.news = true
		return -1
	}
	return at
}

// compacted applies a compaction: Start replaces the oldest messages, and
// pointers replace results.
func (c *Conversation) compacted(b event.Compacted) {
	if b.Why != event.CompactedDedup && b.Why != event.CompactedCleanup {
		c.compact.at = c.now
	}
	c.lastTier = ""
	oldMs, oldAs := c.past.all()
	older := min(max(b.Older, 0), len(oldMs))
	var ms []llm.Message
	var as []about
	for _, m := range b.Start {
		ms, as = append(ms, m), append(as, about{tokens: countMessage(c.count(), m), kind: start})
	}
	ms, as = append(ms, oldMs[older:]...), append(as, oldAs[older:]...)
	for _, p := range b.Pointers {
		c.drop(p, ms, as)
	}
	if c.info.Bound {
		c.unthought(ms, as)
	}
	c.replace(ms, as)
	c.clean.waiting = nil // they are dropped, or it is not worth it
	c.rebases++
	c.asked = [2]int{}
	c.compact.dedupAt = c.bodyN
	c.compact.stuck = c.Tier() == Critical
	c.compact.unhelpful = c.Percent() >= c.conf.Defaults().CompactAt
}

// drop replaces a result in one of these messages, or in the step under construction, by a
// pointer. The message is copied, since earlier requests share it.
func (c *Conversation) drop(p event.Pointer, ms []llm.Message, as []about) {
	m, a := &c.tail, &c.tailAbout
	if p.Message >= 0 && p.Message < len(ms) {
		m, a = &ms[p.Message], &as[p.Message]
	}
	if p.Part < 0 || p.Part >= len(m.Parts) || m.Parts[p.Part].Result == nil {
		return
	}
	was := m.Parts[p.Part]
	r := *was.Result
	r.Text, r.Images = p.Text, nil
	now := llm.Part{Kind: llm.Output, Result: &r}
	m.Parts = append([]llm.Part(nil), m.Parts...)
	m.Parts[p.Part] = now
	a.tokens += countPart(c.count(), now) - countPart(c.count(), was)
	of := a.shown()
	of.seen = nil // the model no longer sees these lines
	if p.Part < len(of.numbers) {
		of.numbers = slices.Clone(of.numbers)
		of.numbers[p.Part] = 0
	}
	a.more = &of
}

// StillSeen lists the spans that the remaining messages show, with the hashes
// of that time: a compaction clears the rest (SPEC 4.6).
func (c *Conversation) StillSeen() []tool.Span {
	last := map[string]tool.Hash{}
	var all []tool.Span
	take := func(a about) {
		for _, s := range a.shown().seen {
			last[s.Path] = s.Hash
			all = append(all, s)
		}
	}
	for _, a := range c.past.from(0) {
		take(a)
	}
	take(c.tailAbout)
	var out []tool.Span
	for _, s := range all {
		if f := c.ledger.files[s.Path]; s.Hash == last[s.Path] && (f == nil || f.hash == s.Hash) {
			out = append(out, s)
		}
	}
	return out
}

// Due returns why a compaction is due before the next request: event.CompactedFull, or "" if none is.
func (c *Conversation) Due() event.CompactedWhy {
	p, d := c.Percent(), c.conf.Defaults()
	switch {
	case c.conf.off(), p < d.CompactAt, !c.compact.grown:
		return ""
	case p < d.Critical && c.compact.count > 0 && c.now.Sub(c.compact.at) < c.conf.minInterval():
		return ""
	}
	return event.CompactedFull
}

// Spiral reports whether compaction does not help: the window was filled again
// and again with nothing new (SPEC 6.7).
func (c *Conversation) Spiral() bool { return c.compact.idle >= maxIdle && !c.compact.news }

// Blocked reports whether calls must not run: the window is critical, and
// compaction is off or could not help (SPEC 4.2).
func (c *Conversation) Blocked() bool {
	return (c.compact.stuck || c.conf.off()) && c.Tier() == Critical
}

// BlockedText is the result of a blocked call.
func (c *Conversation) BlockedText() string {
	return fmt.Sprintf("[CRITICAL: %.0f %% of the context window is used, and nothing more can be left out of it. STOP TOOL USE NOW. Sum up what was done and what is open, and end your reply. Calls are blocked: this one did not run.]", c.Percent())
}

//go:embed summary.txt
var summarySystem string
