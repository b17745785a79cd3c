package stats

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// Course is how it went over time: what frontends draw. Replies are in the order of their
// times, with sums; of very many only some are kept, always the first and the last.
type Course struct {
	Replies []Moment `json:"replies"`
	Signals []Signal `json:"signals"`
	Checks  []Check  `json:"checks"`
}

// Moment is a model's reply, and what was spent until then. Window is how much of the
// model's window it used, in tokens.
type Moment struct {
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Reply   int       `json:"reply"` // counted from 1, in all sessions
	USD     float64   `json:"usd"`
	Tokens  int64     `json:"tokens"`
	Window  int64     `json:"window"`
}

// Signal is where a run went in circles: after which reply, and the calls that show it.
type Signal struct {
	Time     time.Time `json:"time"`
	Session  string    `json:"session"`
	Reply    int       `json:"reply"`
	Level    string    `json:"level"` // recovery, block, halt
	Rule     string    `json:"rule"`
	Text     string    `json:"text"`
	Evidence []string  `json:"evidence"`
}

// Check is a run of the project's checks. Failures is how many its output tells of.
type Check struct {
	Time     time.Time     `json:"time"`
	Session  string        `json:"session"`
	Reply    int           `json:"reply"`
	Name     string        `json:"check"`
	OK       bool          `json:"ok"`
	Ended    bool          `json:"ended"` // else it proves nothing
	Failures int           `json:"failures"`
	Tests    int           `json:"tests"`
	Took     time.Duration `json:"took_ns"`
}

// mostMoments is how many replies a course has, mostSignals how many signals and checks.
const mostMoments, mostSignals = 400, 200

// CourseFold folds a Course. The zero value is ready. Unlike Fold it keeps something of
// each reply.
type CourseFold struct {
	replies []Moment // with what each spent itself
	signals []Signal
	checks  []Check
}

func (c *CourseFold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Replied:
		m := Moment{Time: e.Time, Session: e.Session}
		u := b.Reply.Usage
		m.Tokens = u.Input + u.CacheRead + u.CacheWrite + u.Output
		m.Window = m.Tokens
		if b.Cost != nil {
			m.USD = *b.Cost
		}
		c.replies = append(c.replies, m)
	case event.Charged: // without a place in the window: it is added to what came before
		if n := len(c.replies); n > 0 && !b.Child && !b.Guess {
			m := &c.replies[n-1]
			m.Tokens += b.Usage.Input + b.Usage.CacheRead + b.Usage.CacheWrite + b.Usage.Output
			if b.USD != nil {
				m.USD += *b.USD
			}
		}
	case event.Stuck:
		c.signals = append(c.signals, Signal{Time: e.Time, Session: e.Session, Level: b.Level, Rule: b.Rule, Text: progress.Loop(b), Evidence: append([]string{}, b.Evidence...)})
	case event.Checked:
		if strings.TrimSpace(b.Command) == "" {
			return
		}
		c.checks = append(c.checks, Check{
			Time: e.Time, Session: e.Session, Name: b.Name, OK: b.Exit != nil && *b.Exit == 0, Ended: b.Exit != nil,
			Failures: b.Failures, Tests: b.Tests, Took: b.Took,
		})
	}
}

// Course returns how it went so far. Sessions that ran beside each other are mixed by time.
func (c *CourseFold) Course() Course {
	out := Course{Replies: slices.Clone(c.replies), Signals: slices.Clone(c.signals), Checks: slices.Clone(c.checks)}
	sorting.By(out.Replies, func(a, b Moment) int { return a.Time.Compare(b.Time) })
	sorting.By(out.Signals, func(a, b Signal) int { return a.Time.Compare(b.Time) })
	sorting.By(out.Checks, func(a, b Check) int { return a.Time.Compare(b.Time) })
	all := Moment{}
	for i := range out.Replies {
		m := &out.Replies[i]
		all.USD, all.Tokens = all.USD+m.USD, all.Tokens+m.Tokens
		m.Reply, m.USD, m.Tokens = i+1, all.USD, all.Tokens
	}
	for i := range out.Signals {
		out.Signals[i].Reply = before(out.Replies, out.Signals[i].Time)
	}
	for i := range out.Checks {
		out.Checks[i].Reply = before(out.Replies, out.Checks[i].Time)
	}
	out.Replies = thin(out.Replies)
	out.Signals = out.Signals[max(0, len(out.Signals)-mostSignals):]
	out.Checks = out.Checks[max(0, len(out.Checks)-mostSignals):]
	return out
}

// before returns how many replies there were at a time.
func before(all []Moment, at time.Time) int {
	n, _ := slices.BinarySearchFunc(all, at, func(m Moment, t time.Time) int {
		if m.Time.After(t) {
			return 1
		}
		return -1
	})
	return n
}

// thin keeps some of very many, at equal distances, and the last one.
func thin(all []Moment) []Moment {
	n := len(all)
	if n <= mostMoments {
		return append([]Moment{}, all...)
	}
	out := make([]Moment, mostMoments)
	for i := range out {
		out[i] = all[i*(n-1)/(mostMoments-1)]
	}
	return out
}
