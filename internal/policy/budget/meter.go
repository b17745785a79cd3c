package budget

import (
	"fmt"
	"math"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// agentTool is the tool whose calls start child sessions.
const agentTool = "agent"

// Meter computes a session's spending. The zero value is ready.
type Meter struct {
	all  Spent
	turn Spent // the total when the turn began

	open *event.Requested // the request in flight

	extended map[Kind]float64 // the limits that a person raised; 0: none
	set      map[Kind]bool    // those that a person set, also where there was no limit
	old      map[Kind]bool    // extensions by an earlier process
	warned   map[Kind]bool

	// longest is the longest reply of a child of late, in tokens: each shorter one lowers
	// it by a quarter.
	longest int64

	running bool // a turn is running
	clock   clock
	size    size
}

func (m *Meter) Apply(e event.Event) {
	m.all.active += m.clock.apply(e)
	m.size.apply(e)
	switch b := e.Body.(type) {
	case event.Prompted:
		if !m.running && b.Source != event.Autofix { // otherwise it joins the turn
			m.turn = m.all
		}
		m.running = true
	case event.Resumed:
		m.warned = nil
		m.old = map[Kind]bool{}
		for k := range m.extended {
			m.old[k] = true
		}
	case event.Requested:
		m.requestDone()
		m.open = &b
	case event.Retried:
		m.requestDone()
	case event.Ended:
		m.running = false
		m.requestDone()
	case event.Replied:
		m.replied(b)
		m.requestDone()
	case event.Charged:
		m.charged(b)
	case event.CallAsked:
		m.all.Calls++
		if b.Tool == agentTool {
			m.all.Agents++
		}
	case event.AgentCalled:
		if b.Done.Tool == agentTool { // an agent started a child session
			m.all.Agents++
		}
	case event.Warned:
		if k := Kind(b.What); known(k) {
			if m.warned == nil {
				m.warned = map[Kind]bool{}
			}
			m.warned[k] = true
		}
	case event.Extended:
		m.extend(Kind(b.What), b.To)
	case event.LimitSet:
		if k := Kind(b.What); m.extend(k, b.To) {
			if m.set == nil {
				m.set = map[Kind]bool{}
			}
			m.set[k] = true
		}
	}
}

// extend changes a limit from here on, and reports whether there is such a limit.
func (m *Meter) extend(k Kind, to float64) bool {
	if !known(k) {
		return false
	}
	if m.extended == nil {
		m.extended = map[Kind]float64{}
	}
	m.extended[k] = to
	delete(m.warned, k)
	delete(m.old, k)
	return true
}

// requestDone counts the request in flight as a request; until it is over, it is only
// a reservation.
func (m *Meter) requestDone() {
	if m.open != nil {
		m.all.Requests++
		m.open = nil
	}
}

func (m *Meter) replied(b event.Replied) {
	m.all.Replies++
	m.add(b.Reply.Usage, m.all.Replies == 1)
	if b.Cost != nil {
		m.all.USD += *b.Cost
	} else {
		m.all.Unknown++
		if m.open != nil && m.open.Reserved != nil {
			m.all.Guessed += *m.open.Reserved
		} else {
			m.all.unbounded++
		}
	}
	if !b.Reply.Usage.Known && m.open != nil {
		m.all.guessed += Guess(m.open.Bytes) + Guess(int64(len(b.Reply.Message.Text())))
	}
}

func (m *Meter) add(u llm.Usage, first bool) {
	sofar := first || m.all.Usage.Known
	m.all.Usage = m.all.Usage.Add(u)
	m.all.Usage.Known = sofar && u.Known
	m.all.Usage.CostUSD = nil
}

func (m *Meter) charged(b event.Charged) {
	m.all.Requests += b.Requests
	m.all.Calls += b.Calls
	if b.Guess {
		u := b.Usage
		m.all.guessed += u.Input + u.CacheRead + u.CacheWrite + u.Output
		if b.USD != nil {
			m.all.Guessed += *b.USD
		}
		// Without a usage there was no reply, and nothing is charged.
		used := b.Unknown || u.Known
		if used && (b.Unknown || b.USD == nil) {
			m.all.Unknown++
		}
		if used && b.USD == nil {
			m.all.unbounded++
		}
		return
	}
	if b.Child && b.Requests == 1 && b.Usage.Known {
		m.longest = max(b.Usage.Output, m.longest*3/4)
	}
	m.add(b.Usage, m.all.Usage == llm.Usage{})
	if b.USD != nil {
		m.all.USD += *b.USD
	} else {
		m.all.Unknown++
		m.all.unbounded++
	}
}

// Session returns what the whole session spent.
func (m *Meter) Session() Spent { return m.all }

// Turn returns what the running or last turn spent.
func (m *Meter) Turn() Spent { return m.all.minus(m.turn) }

// TurnTime returns the running time of the turn until now.
func (m *Meter) TurnTime(now time.Time) time.Duration {
	return m.Turn().active + m.clock.since(now)
}

// Input estimates the tokens of a request of this size: those of the last one,
// and a cautious estimate for what was added since.
func (m *Meter) Input(bytes int64) int64 { return m.size.input(bytes) }

// Limit returns the hard limit of a kind in force, 0 for none. An extension
// ends with the process, except that of the default: the next process sets its
// own limits.
func (m *Meter) Limit(l Limits, k Kind) float64 {
	v := l.of(k)
	to, ok := m.extended[k]
	if !ok || v <= 0 && !m.set[k] || m.old[k] && !(k == USD && l.Assumed) {
		return v
	}
	return to
}

// Limits returns the hard limits in force.
func (m *Meter) Limits(l Limits) Limits {
	v := func(k Kind) float64 { return max(0, m.Limit(l, k)) }
	return Limits{
		USD: v(USD), Assumed: l.Assumed && v(USD) == l.USD, Tokens: int64(v(Tokens)), Wall: time.Duration(v(Wall) * float64(time.Second)),
		Requests: int(v(Requests)), Calls: int(v(Calls)), Agents: int(v(Agents)), Steps: l.Steps,
	}
}

// Left returns what remains of each limit. A child session gets at most that. A
// used-up limit is returned as the smallest value, never as none.
func (m *Meter) Left(l Limits) Limits {
	left := func(k Kind, least float64) float64 {
		v := m.Limit(l, k)
		if v <= 0 {
			return 0
		}
		return math.Max(least, v-m.all.of(k))
	}
	return Limits{
		USD: left(USD, 1e-9), Assumed: l.Assumed, Tokens: int64(left(Tokens, 1)),
		Wall: time.Duration(left(Wall, 1e-3) * float64(time.Second)), Requests: int(left(Requests, 1)),
		Calls: int(left(Calls, 1)), Agents: int(left(Agents, 1)),
	}
}

// Check returns a *LimitError if a step's calls may not run. The calls were
// counted when they were asked for.
func (m *Meter) Check(l Limits) error {
	for _, k := range []Kind{Calls, Agents} {
		if v := m.Limit(l, k); v > 0 && m.all.of(k) > v {
			return &LimitError{Kind: k, Limit: v, Used: m.all.of(k), Need: m.all.of(k) - v}
		}
	}
	return m.checkWall(l)
}

func (m *Meter) checkWall(l Limits) error {
	if left, ok := m.WallLeft(l); ok && left <= 0 {
		return &LimitError{Kind: Wall, Limit: m.Limit(l, Wall), Used: m.all.active.Seconds(), Need: 1 - left.Seconds()}
	}
	return nil
}

// WallLeft returns the running time that is left; ok is false if it has no limit.
func (m *Meter) WallLeft(l Limits) (left time.Duration, ok bool) {
	v := m.Limit(l, Wall)
	if v <= 0 {
		return 0, false
	}
	return time.Duration(v*float64(time.Second)) - m.all.active, true
}

// Warnings returns the soft limits that were passed and not warned of yet.
func (m *Meter) Warnings(l Limits) []event.Warned {
	var out []event.Warned
	for _, k := range kinds() {
		v, used := m.Limit(l, k), m.all.of(k)
		if v <= 0 || used < soft*v || m.warned[k] {
			continue
		}
		out = append(out, event.Warned{What: event.WarnedWhat(k), Text: fmt.Sprintf(
			"%.0f %% of the budget of %s is used: %s", math.Floor(100*used/v), k.format(v), k.format(used),
		)})
	}
	return out
}

// clock computes running time from the times of events.
type clock struct {
	running bool
	asked   map[string]bool // open questions: the person's time does not count
	mark    time.Time
	cut     bool // an interruption was recorded since the turn began
}

func (c *clock) apply(e event.Event) (ran time.Duration) {
	if c.running && len(c.asked) == 0 && !c.crash(e.Body) {
		ran = max(0, e.Time.Sub(c.mark))
	}
	c.mark = e.Time
	switch b := e.Body.(type) {
	case event.Prompted:
		c.running, c.cut = true, false
	case event.Ended:
		c.running, c.asked = false, nil
	case event.Interrupted:
		c.cut = true
	case event.Asked:
		if c.asked == nil {
			c.asked = map[string]bool{}
		}
		c.asked[b.ID] = true
	case event.Answered:
		delete(c.asked, b.ID)
	}
	return ran
}

// since returns the running time after the last event.
func (c *clock) since(now time.Time) time.Duration {
	if !c.running || len(c.asked) > 0 {
		return 0
	}
	return max(0, now.Sub(c.mark))
}

// crash reports whether an event closes something that a dead process left
// open: nothing ran between it and the event before it.
func (c *clock) crash(b event.Body) bool {
	switch b := b.(type) {
	case event.CallDone:
		return b.Outcome == event.UnknownDone
	case event.Ended:
		return b.End == event.EndInterrupted && !c.cut
	}
	return false
}

// For estimates of a request's size, before the provider has reported it.
const (
	bytesPerToken  = 3    // text has three to five
	tokensPerImage = 3000 // the most that any provider counts for one
)

// Guess returns a cautious estimate of the tokens of a text of this size.
func Guess(bytes int64) int64 { return bytes / bytesPerToken }

// size learns from each reply how many tokens the request's bytes were.
type size struct {
	sent   int64 // bytes of the request in flight
	bytes  int64 // of the last one with a reply
	tokens int64 // and what the provider counted

	all, fresh, flying pictures // of the conversation, since that answer, before the request in flight
}

// pictures are media as a request carries them.
type pictures struct{ bytes, tokens int64 }

func (p pictures) plus(q pictures) pictures  { return pictures{p.bytes + q.bytes, p.tokens + q.tokens} }
func (p pictures) minus(q pictures) pictures { return pictures{p.bytes - q.bytes, p.tokens - q.tokens} }

func (s *size) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Rebased:
		s.bytes, s.tokens, s.fresh = 0, 0, s.all
	case event.Compacted:
		s.all = pictures{} // remaining ones count as bytes until the next reply
	case event.Prompted:
		s.add(b.Images)
	case event.CallDone:
		s.add(b.Result.Images)
	case event.Requested:
		s.sent, s.flying = b.Bytes, s.fresh
	case event.Replied:
		if u := b.Reply.Usage; u.Known && s.sent > 0 {
			s.bytes, s.tokens = s.sent, u.Input+u.CacheRead+u.CacheWrite
			s.fresh = s.fresh.minus(s.flying)
		}
	}
}

func (s *size) add(ms []llm.Media) {
	for _, m := range ms {
		one := pictures{int64(len(m.Data)) * 4 / 3, max(int64(m.Tokens()), tokensPerImage)}
		s.fresh, s.all = s.fresh.plus(one), s.all.plus(one)
	}
}

func (s *size) input(bytes int64) int64 {
	added := max(0, bytes-s.bytes-s.fresh.bytes)
	return s.tokens + Guess(added) + s.fresh.tokens
}
