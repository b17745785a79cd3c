// Package window turns a session's events into the next request: a fold that
// keeps the conversation as messages, and a builder that encodes each part once
// and appends it, so that every request is a prefix of the next (SPEC 9.4).
//
// It promises that every call in a request is followed by exactly one result,
// and that the same events produce the same bytes. It reads nothing but events,
// so a resumed session and a live one produce the same requests.
package window

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// Conversation folds events into messages. The zero value is an empty one.
type Conversation struct {
	head    llm.Head
	info    llm.Info
	rebases int
	past    packedMessages // the messages
	// tail is the message under construction: results of the running step and
	// what was appended after them. It is added to past when the next
	// request is sent, so that all of a step is one message.
	tail      llm.Message
	tailAbout about
	open      []llm.Call          // calls without a result, in order
	ids       map[uint64]struct{} // hashes of those of all calls so far

	conf Config
	// asked is the number of messages in each of the last two different
	// requests of this prefix; 0 none.
	asked [2]int

	counter  Counter // nil: Estimate
	headN    int     // tokens of the head, by the counter
	bodyN    int     // tokens of all messages, by the counter
	calib    calibration
	ledger   ledger
	compact  compactions
	clean    cleanups
	lastTier Tier      // the tier in the last status message since the last compaction
	results  [2]int    // the number of results, and their tokens by the counter
	now      time.Time // of the last event
	sent     time.Time // when the last request was sent
	paused   bool      // there was a pause that only a long cache outlives

	media []llm.MediaKind // the kinds that there are, each once
}

// about is what the fold knows of a message besides its text.
type about struct {
	tokens int // as counted
	kind   kind
	more   *results // nil: it has no results
}

// results is what the fold knows of the results at a message's beginning.
type results struct {
	seen    []tool.Span // what they showed of files
	numbers []int       // 0 for a dropped one
	reads   []bool      // of each: it is what files hold, and nothing else
}

// shown returns what is known of a message's results, which may be nothing.
func (a *about) shown() results {
	if a.more == nil {
		return results{}
	}
	return *a.more
}

// learn returns what is known of a message's results, to add to it. Only of the
// message under construction: nothing shares it.
func (a *about) learn() *results {
	if a.more == nil {
		a.more = &results{}
	}
	return a.more
}

// kind is the origin of a message.
type kind uint8

const (
	plain  kind = iota // replies, results, notes
	prompt             // by a person, or in place of one
	start              // replaces what was compacted
)

// Configure sets the configuration. It must be called before the first event.
func (c *Conversation) Configure(conf Config) { c.conf = conf }

func (c *Conversation) count() Counter {
	if c.counter == nil {
		return Estimate{}
	}
	return c.counter
}

func (c *Conversation) Apply(e event.Event) {
	if _, ok := e.Body.(event.Requested); ok {
		c.paused, c.sent = c.Pauses(), e.Time
	}
	if e.Time.After(c.now) {
		c.now = e.Time
	}
	c.ledger.apply(e.Body)
	c.compact.apply(e.Body)
	c.noteMedia(e.Body)
	switch b := e.Body.(type) {
	case event.Rebased:
		c.rebased(b)
	case event.Compacted:
		c.compacted(b)
	case event.FileSeen:
		if b.Call != "" {
			r := c.tailAbout.learn()
			r.seen = append(r.seen, b.Spans...)
		}
	case event.FileChanged:
		if b.Whole && b.Call != "" && b.After != "" && b.Child == nil { // a file that it wrote as a whole counts as shown
			r := c.tailAbout.learn()
			r.seen = append(r.seen, tool.Span{Path: b.Path, Hash: b.After})
		}
	case event.Prompted:
		c.close()
		m := llm.Message{Role: llm.User}
		for _, i := range b.Images {
			m.Parts = append(m.Parts, i.Part())
		}
		m.Parts = append(m.Parts, llm.TextPart(b.Text))
		if b.Attached != "" {
			m.Parts = append(m.Parts, llm.TextPart(b.Attached))
		}
		c.push(m, about{tokens: countMessage(c.count(), m), kind: prompt})
	case event.Noted:
		c.note(b.Text)
		if t, ok := strings.CutPrefix(string(b.Why), WhyStatus); ok {
			c.lastTier = Tier(t)
		}
	case event.Cleaned:
		c.cleaned(b)
	case event.Stuck:
		if b.Level != "halt" {
			c.note("[" + b.Text + "]")
		}
	case event.Interrupted:
		c.note(b.Marker())
	case event.PersonRan:
		c.note(personRan(b))
	case event.Requested:
		c.close()
		c.calib.sent = c.headN + c.bodyN
		if n := c.past.len(); n != c.asked[0] {
			c.asked = [2]int{n, c.asked[0]}
		}
	case event.Replied:
		c.close()
		c.calib.replied(b.Reply.Usage)
		m := c.Unique(b.Reply.Message) // old logs have an id more than once
		c.push(m, about{tokens: countMessage(c.count(), m)})
		for _, call := range m.Calls() {
			c.open = append(c.open, call)
			if c.ids == nil {
				c.ids = map[uint64]struct{}{}
			}
			c.ids[hash(call.ID)] = struct{}{}
		}
	case event.Recalled:
		c.close()
		m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(b.Text)}}
		c.push(m, about{tokens: countMessage(c.count(), m)})
	case event.CallDone:
		if len(c.open) > 0 {
			c.ledger.done(c.open[0], b)
		}
		c.result(b)
	}
}

// Unique gives an id of its own to each call of a reply that has none, that of another call
// of the conversation, or one of pawl's own: results and output are matched by id, some
// models count from 0 in each reply, and some APIs refuse an id that comes twice.
func (c *Conversation) Unique(m llm.Message) llm.Message {
	copied := false
	mine := map[string]bool{}
	for i, p := range m.Parts {
		if p.Kind != llm.CallPart || p.Call == nil {
			continue
		}
		call := *p.Call
		base := call.ID
		if pawls(base) {
			base = strings.TrimSuffix("call_"+base, "_")
		}
		for n := len(c.ids) + len(mine); mine[call.ID] || c.taken(call.ID); n++ {
			call.ID = fmt.Sprintf("%s_%d", base, n)
		}
		mine[call.ID] = true
		if call.ID == p.Call.ID {
			continue
		}
		if !copied {
			m.Parts, copied = slices.Clone(m.Parts), true
		}
		m.Parts[i].Call = &call
	}
	return m
}

// taken reports whether a call of the conversation has this id, or pawl itself.
func (c *Conversation) taken(id string) bool {
	_, taken := c.ids[hash(id)]
	return taken || pawls(id)
}

// pawls reports whether pawl gives this id to what it runs by itself: a command of the
// person (""), a check, or the hooks of an event.
func pawls(id string) bool {
	return id == "" || id == event.CheckCall || strings.HasPrefix(id, event.CheckCall+"-") || slices.Contains(hook.Events, hook.Event(id))
}

func (c *Conversation) rebased(b event.Rebased) {
	other := c.info.Ref() != b.Info.Ref()
	if other {
		// Another model counts differently and has another window.
		c.calib, c.compact.refusedSize = calibration{}, 0
	}
	if other || b.Info.Bound {
		c.dropThinking()
	}
	c.head, c.info = b.Head, b.Info
	c.headN = countHead(c.count(), b.Head)
	c.clean.offered = !b.Info.Planner() && slices.ContainsFunc(b.Head.Tools, func(t llm.ToolSpec) bool { return t.Name == CleanTool })
	c.rebases++
	c.asked = [2]int{}
}

// endBefore returns the last message of the request before the one that ends in
// last, -1 if there is none in this prefix.
func (c *Conversation) endBefore(last int) int {
	if c.asked[0] <= last {
		return c.asked[0] - 1
	}
	return c.asked[1] - 1
}

// push adds a message. Its tokens are added if they are not counted yet; those
// of the tail are.
func (c *Conversation) push(m llm.Message, a about) {
	if len(m.Parts) == 0 {
		return
	}
	c.past.add(m, a)
	c.bodyN += a.tokens
}

// addToTail adds a part to the tail's count, and returns the part's tokens.
func (c *Conversation) addToTail(p llm.Part) int {
	n := countPart(c.count(), p)
	if len(c.tail.Parts) == 0 {
		n += messageTokens
	}
	c.tailAbout.tokens += n
	c.bodyN += n
	return n
}

// note appends a text to the step under construction, or after the last message
// if there is none.
func (c *Conversation) note(text string) {
	c.tail.Role = cmp.Or(c.tail.Role, llm.User)
	c.addToTail(llm.TextPart(text))
	c.tail.Parts = append(c.tail.Parts, llm.TextPart(text))
}

func (c *Conversation) result(d event.CallDone) {
	if len(c.open) == 0 {
		return // a result for a call of no reply here: it is never sent
	}
	r := d.Result
	r.ID = c.open[0].ID
	c.open = c.open[1:]
	c.tail.Role = llm.Tool
	c.results[0]++
	r.Text = c.withHandle(c.results[0], d)
	p := llm.Part{Kind: llm.Output, Result: &r}
	of := c.tailAbout.learn()
	of.numbers = append(of.numbers, c.results[0])
	of.reads = append(of.reads, d.Does == tool.Read && d.Repeatable && !d.Listing)
	c.results[1] += c.addToTail(p)
	// Results come before notes: providers require them right after the calls.
	i := 0
	for i < len(c.tail.Parts) && c.tail.Parts[i].Kind == llm.Output {
		i++
	}
	c.tail.Parts = append(c.tail.Parts[:i:i], append([]llm.Part{p}, c.tail.Parts[i:]...)...)
}

func (c *Conversation) close() {
	m, a := c.tail, c.tailAbout
	if len(m.Parts) == 0 {
		return
	}
	c.tail, c.tailAbout = llm.Message{}, about{}
	c.bodyN -= a.tokens // push adds them again
	c.push(m, a)
}

// Head returns the frozen head.
func (c *Conversation) Head() llm.Head { return c.head }

// Info is the model of the last rebase.
func (c *Conversation) Info() llm.Info { return c.info }

// Rebased reports whether there is a head yet.
func (c *Conversation) Rebased() bool { return c.rebases > 0 }

// Messages returns the conversation for the next request, including the step under
// construction.
func (c *Conversation) Messages() []llm.Message {
	ms, _ := c.past.all()
	if len(c.tail.Parts) > 0 {
		ms = append(ms, c.tail)
	}
	return ms
}

func (c *Conversation) message(i int) llm.Message {
	if i < c.past.len() {
		m, _ := c.past.at(i)
		return m
	}
	return c.tail
}

// size returns the number of Messages.
func (c *Conversation) size() int {
	if len(c.tail.Parts) > 0 {
		return c.past.len() + 1
	}
	return c.past.len()
}

func personRan(b event.PersonRan) string {
	var s strings.Builder
	fmt.Fprintf(&s, "The user ran this command:\n$ %s\n", b.Command)
	s.WriteString(b.Output)
	if !strings.HasSuffix(b.Output, "\n") && b.Output != "" {
		s.WriteByte('\n')
	}
	if b.Exit != nil {
		fmt.Fprintf(&s, "exit code %d", *b.Exit)
	}
	return s.String()
}
