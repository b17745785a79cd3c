package window

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// What remains after a compaction, in percent of the window without its head.
const (
	partKept    = 25 // the newest steps, unchanged
	partSaid    = 12 // the user's prompts
	partLedger  = 12
	partSummary = 10
	partRecord  = 25 // of the older messages, as input of the summary
	goal        = 60 // above it, results in the kept steps are dropped too
)

// Plan is a compaction without its summary.
type Plan struct {
	Why   event.CompactedWhy
	Focus string
	// Summarise is false where only results are dropped: no model is asked.
	Summarise bool
	// Ask is the one request for the summary: no tools, and a reply of at most
	// Ask.Tail.MaxTokens. Input is its number of tokens.
	Ask   *llm.Request
	Input int64

	older    int
	intro    string // the beginning of the message that replaces the older ones
	ledger   string
	images   []llm.Media
	fallback string   // the summary without a model
	about    string   // what the request for the summary says before its record
	room     int      // counted tokens of that record
	facts    []string // words of what was done, some of which a summary names
	size     int      // counted tokens of the messages that the summary replaces
	space    int      // the most counted tokens that summary may have
	target   int      // the most counted tokens that the messages may have afterwards
	before   int64
	conv     unpacked
}

// Plan makes the plan of a compaction: which steps are kept, what replaces the
// older ones, and the request for the summary. It changes nothing. The
// conversation must not change before Compacted is called.
func (c *Conversation) Plan(why event.CompactedWhy, focus string) Plan {
	u := c.unpacked()
	if c.info.Bound {
		c.unthought(u.messages, u.about) // it goes with the compaction
	}
	limit := c.Limit()
	if why == event.CompactedLength && (limit == 0 || c.Tokens() < limit) {
		limit = c.Tokens() * 9 / 10 // the provider's window is smaller than expected
	}
	limit = cmp.Or(limit, unknownWindow)
	if at := c.conf.Defaults().CompactAt; why == event.CompactedFull && at < 90 {
		limit = int(float64(limit) * at / 90) // an earlier compaction leaves less
	}
	body := max(c.calib.to(limit)-c.headN, c.calib.to(limit)/4, 400)
	p := Plan{Why: why, Focus: focus, conv: u, before: int64(c.Tokens()), space: body * partSummary / 100, target: body * goal / 100}
	keep := body * partKept / 100
	if why == event.CompactedPerson {
		keep = min(keep, c.bodyN*partKept/100) // even if the window is not full at all
	}
	older, kept := u.boundary(keep)
	size := 0
	for _, a := range u.about[:older] {
		size += a.tokens
	}
	p.intro = c.ledger.said(kept, body*partSaid/100)
	p.ledger = c.ledger.text(body*partLedger/100, u.texts(older))
	_, n := head(p.intro+p.ledger, -1)
	freed := size - n - p.space
	if older == 0 || float64(freed) < c.minFreed() && why != event.CompactedPerson || freed <= 0 {
		return p // the oldest results are dropped instead
	}
	p.Summarise, p.older, p.size, p.facts = true, older, size, u.facts(older)
	if kept < c.ledger.prompts.len() {
		if is := c.ledger.images; llm.TokensOf(is) <= body/10 {
			p.images = is
		}
	}
	p.fallback, _ = Cut(c.compact.summary, p.space*4/10, func() string { return "cut to make room" })
	p.ask(body)
	return p
}

// boundary returns how many of the oldest messages must go so that the rest has
// at most this number of tokens, and how many prompts are in the rest. Steps
// stay whole, and the newest one stays.
func (c unpacked) boundary(tokens int) (older, prompts int) {
	older = len(c.messages)
	sum, n := c.tailAbout.tokens, 0
	tailed := c.tail.Role == llm.Tool
	for i := len(c.messages) - 1; i >= 0; i-- {
		sum += c.about[i].tokens
		if sum > tokens && older < len(c.messages) {
			break
		}
		if c.about[i].kind == start {
			break // the replacement of older ones is built anew
		}
		if c.about[i].kind == prompt {
			n++
		}
		if c.messages[i].Role == llm.Tool {
			continue // not without its calls
		}
		older, prompts = i, n
		if sum > tokens {
			break // already more than that, but it is the newest
		}
	}
	if older == len(c.messages) && tailed {
		return 0, n // there can be no results without their calls: nothing may go
	}
	return older, prompts
}

// ask builds the request for the summary: the older messages as a record, cut
// to a size that fits any window.
func (p *Plan) ask(body int) {
	c := p.conv
	p.room = min(body*partRecord/100, 32_000)
	var b strings.Builder
	if p.Focus != "" {
		fmt.Fprintf(&b, "The user wants this to be kept above all: %s\n\n", p.Focus)
	}
	if c.compact.summary != "" {
		fmt.Fprintf(&b, "The notes so far; what in them still holds must be in yours:\n<notes>\n%s\n</notes>\n\n", c.compact.summary)
	}
	fmt.Fprintf(&b, "What the user asked:\n%s\n", p.intro)
	p.about = b.String()
	r, n := p.request(fmt.Sprintf("%sWhat the log keeps besides:\n<lists>\n%s</lists>\n\nThe record:\n<record>\n%s</record>\n\nWrite the notes now.", p.about, p.ledger, p.recorded(p.room, record)))
	p.Ask, p.Input = &r, n
}

// request returns a request for a summary, and its tokens.
func (p Plan) request(text string) (llm.Request, int64) {
	c := p.conv
	r := llm.Request{
		Head:     llm.Head{Model: c.head.Model, System: strings.TrimSpace(summarySystem)},
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart(text)}}},
		Tail:     llm.Tail{MaxTokens: max(256, min(c.calib.of(p.space), 4096))},
	}
	return r, int64(c.calib.of(countHead(Estimate{}, r.Head) + countMessage(Estimate{}, r.Messages[0])))
}

// recorded returns the older messages as a record with room for so many tokens: the newest
// that fit.
func (p Plan) recorded(room int, record func(llm.Message, int) string) string {
	c := p.conv
	var lines []string
	for i := p.older - 1; i >= 0 && room > 0; i-- {
		if c.about[i].kind == start {
			continue // its summary is included whole
		}
		s := record(c.summaryMessage(i), max(room/4, 60))
		_, n := head(s, -1)
		if room -= n; room < 0 {
			lines = append(lines, "[… what came before was too long …]\n")
			break
		}
		lines = append(lines, s)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// record returns a message in the form of the summary's request.
func record(m llm.Message, most int) string {
	var b strings.Builder
	short := func(s string, tokens int) string {
		t, _ := Cut(s, min(tokens, most), func() string { return "not shown here" })
		return strings.TrimRight(t, "\n")
	}
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.Text && m.Role == llm.Assistant:
			fmt.Fprintf(&b, "agent: %s\n", short(p.Text, 600))
		case p.Kind == llm.Text:
			fmt.Fprintf(&b, "to the agent: %s\n", short(p.Text, 600))
		case p.Kind == llm.CallPart && p.Call != nil:
			fmt.Fprintf(&b, "call: %s %s\n", p.Call.Name, short(string(p.Call.Args), 200))
		case p.Kind == llm.Output && p.Result != nil:
			failed := ""
			if p.Result.Error {
				failed = " (failed)"
			}
			fmt.Fprintf(&b, "result%s: %s\n", failed, short(p.Result.Text, 300))
		case p.Kind == llm.Image:
			b.WriteString("[" + llm.CountMedia(mediaOf(p)) + "]\n")
		}
	}
	return b.String()
}

// Compacted returns the event: with a model's summary, or without one; then failed is the
// reason (nil: none was asked for).
func (p Plan) Compacted(summary string, failed *event.Fault) event.Compacted {
	c := p.conv
	e := event.Compacted{Why: p.Why, Focus: p.Focus, By: event.ByPointers, Before: p.before, Error: failed}
	if p.Summarise {
		e.Older, e.By = p.older, event.ByModel
		if strings.TrimSpace(summary) == "" {
			summary = p.fallback
			e.By = event.ByLedger
		}
		if cut, ok := Cut(summary, p.space*3/2, func() string { return "too long" }); ok {
			summary = cut
		}
		e.Summary = summary
		m := llm.Message{Role: llm.User}
		for _, i := range p.images {
			m.Parts = append(m.Parts, i.Part())
		}
		m.Parts = append(m.Parts, llm.TextPart(p.text(summary)))
		e.Start = []llm.Message{m}
	}
	after := c.after(e)
	// Released results are dropped first.
	cleaned, freed := c.pointers(e.Older)
	for _, x := range cleaned {
		x.Message += len(e.Start) - e.Older
		e.Pointers = append(e.Pointers, x)
	}
	after -= freed
	// If that is not enough, results are dropped: the oldest first, and those
	// of the newest step only if nothing else helps.
	after = p.drop(&e, after, p.target, false)
	if limit := c.calib.to(c.Limit()) - c.headN; limit > 0 && after > limit*9/10 {
		after = p.drop(&e, after, limit*8/10, true)
	}
	e.After = int64(c.calib.of(c.headN + after))
	return e
}

func (p Plan) text(summary string) string {
	var b strings.Builder
	b.WriteString("[The conversation was made shorter to fit the context window. This stands for what was left out; what came last follows as it was. Files that are not shown below must be read again before they are changed.]\n\n# What the user asked, word for word\n")
	b.WriteString(p.intro)
	if p.ledger != "" {
		fmt.Fprintf(&b, "\n# From the log\n%s", p.ledger)
	}
	if s := strings.TrimRight(summary, "\n"); s != "" {
		fmt.Fprintf(&b, "\n# Notes\n%s\n", s)
	}
	b.WriteString("\n[Go on from here.]")
	return b.String()
}

// after returns the count of the messages after e is applied.
func (c unpacked) after(e event.Compacted) int {
	n := c.tailAbout.tokens
	for _, m := range e.Start {
		n += countMessage(c.count(), m)
	}
	for _, a := range c.about[e.Older:] {
		n += a.tokens
	}
	return n
}

// drop adds pointers until the messages count no more than target. newest
// permits dropping results of the newest step too.
func (p Plan) drop(e *event.Compacted, after, target int, newest bool) int {
	c := p.conv
	last := len(c.messages)
	if !newest {
		for last > e.Older && c.messages[last-1].Role != llm.Assistant {
			last--
		}
	}
	had := map[[2]int]bool{}
	for _, x := range e.Pointers {
		had[[2]int{x.Message, x.Part}] = true
	}
	for i := e.Older; i <= len(c.messages) && after > target; i++ {
		m := c.tail
		if i < len(c.messages) {
			m = c.messages[i]
		}
		if i >= last && !newest {
			break
		}
		for k, part := range m.Parts {
			at := [2]int{i - e.Older + len(e.Start), k}
			if part.Kind != llm.Output || part.Result == nil || had[at] || after <= target {
				continue
			}
			text := pointer(part.Result)
			if won := c.freedBy(part, text); won > 0 {
				after -= won
				e.Pointers = append(e.Pointers, event.Pointer{Message: at[0], Part: at[1], Text: text})
			}
		}
	}
	return after
}

// pointer returns the text that replaces a dropped result.
func pointer(r *llm.Result) string {
	s := fmt.Sprintf("[This result was dropped to make room: %d bytes. Call %s again if you need it.]", len(r.Text), clip(r.Name, 60))
	// Name the file with the whole result, if the result was cut.
	if i := strings.Index(r.Text, "the whole is in "); i >= 0 {
		if end := strings.Index(r.Text[i:], " …]"); end > 0 && end < 1000 {
			s += " [" + r.Text[i:i+end] + "]"
		}
	}
	if r.Error {
		s += " [It failed: " + clip(r.Text, 120) + "]"
	}
	return s
}
