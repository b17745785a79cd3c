// Package stats counts what sessions did: per tool, per model, per session and
// per day. It is a fold over the events of one session, or of several, one
// after the other.
//
// It promises that unknown costs are not counted as zero: a cost is a lower
// bound if Unknown is above zero. It does not judge.
package stats

import (
	"cmp"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Tool is the counts of one tool's calls (SPEC 4.12). Times are of calls that
// ran; Tokens is a cautious estimate of what the model was shown.
type Tool struct {
	Name   string        `json:"tool"`
	Calls  int           `json:"calls"`
	OK     int           `json:"ok"`
	Failed int           `json:"failed"` // ran, and failed or was stopped
	NotRun int           `json:"not_run"`
	Total  time.Duration `json:"total_ns"`
	Min    time.Duration `json:"min_ns"`
	Max    time.Duration `json:"max_ns"`
	Bytes  int64         `json:"result_bytes"`
	Tokens int64         `json:"result_tokens"`
}

// Avg returns the mean time of a call that ran.
func (t Tool) Avg() time.Duration {
	if n := t.OK + t.Failed; n > 0 {
		return t.Total / time.Duration(n)
	}
	return 0
}

// Spent is what models used and what it cost, in USD.
type Spent struct {
	Replies int     `json:"replies"`
	Input   int64   `json:"input"` // neither read from nor written to a cache
	Cached  int64   `json:"cache_read"`
	Written int64   `json:"cache_write"`
	Output  int64   `json:"output"`
	USD     float64 `json:"usd"`
	Unknown int     `json:"unknown"` // replies of unknown cost, also those that broke off: USD is then a lower bound
}

func (s Spent) Tokens() int64 { return s.Input + s.Cached + s.Written + s.Output }

// SpendingKinds are the kinds of the events that change Report.All.Spent.
func SpendingKinds() []string { return []string{event.Replied{}.Kind(), event.Charged{}.Kind()} }

func (s *Spent) add(u llm.Usage, cost *float64) {
	s.Replies++
	s.Input += u.Input
	s.Cached += u.CacheRead
	s.Written += u.CacheWrite
	s.Output += u.Output
	if cost != nil {
		s.USD += *cost
	} else {
		s.Unknown++
	}
}

// Model is the use of one model.
type Model struct {
	Ref      string `json:"model"`
	Requests int    `json:"requests"`
	Retries  int    `json:"retries"`
	Spent
	Took time.Duration `json:"took_ns"` // of whole replies
}

// Work is the counts of a session or a day.
type Work struct {
	Name    string `json:"name"` // the session's id, or the date
	Turns   int    `json:"turns"`
	Calls   int    `json:"calls"`
	Denials int    `json:"denials"`
	Added   int    `json:"lines_added"`
	Removed int    `json:"lines_removed"`
	Spent
}

// Report is all counts. Tools are sorted by calls, models by cost, days and
// sessions by their first event.
type Report struct {
	Tools    []Tool  `json:"tools"`
	Models   []Model `json:"models"`
	Sessions []Work  `json:"sessions"`
	Days     []Work  `json:"days"`
	All      Work    `json:"all"`
	// Course is set where somebody wants to see it.
	Course *Course `json:"course,omitempty"`
}

// Fold counts. The zero value is ready; Zone is the time zone of the days, UTC
// by default.
type Fold struct {
	Zone *time.Location
	// Apart, if set, are the sessions that are counted: what other children of theirs spent,
	// such as workers on other machines, counts as their own. nil: no child's counts.
	Apart map[string]bool

	tools    map[string]*Tool
	models   map[string]*Model
	sessions list
	days     list
	all      Work
	model    map[string]string // the model of the request in flight, by session
	running  map[string]bool   // sessions in which a turn runs
}

// list is works by name, in the order of their first events.
type list struct {
	at map[string]int
	ws []Work
}

func (l *list) get(name string) *Work {
	i, ok := l.at[name]
	if !ok {
		if l.at == nil {
			l.at = map[string]int{}
		}
		i = len(l.ws)
		l.at[name] = i
		l.ws = append(l.ws, Work{Name: name})
	}
	return &l.ws[i]
}

func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Prompted:
		if !f.running[e.Session] && b.Source != event.Autofix { // otherwise it joins the turn
			f.each(e, func(w *Work) { w.Turns++ })
		}
		if f.running == nil {
			f.running = map[string]bool{}
		}
		f.running[e.Session] = true
	case event.Ended:
		delete(f.running, e.Session)
	case event.Requested:
		if f.model == nil {
			f.model = map[string]string{}
		}
		f.model[e.Session] = b.Model
		f.of(b.Model).Requests++
	case event.Retried:
		f.of(f.model[e.Session]).Retries++
	case event.Replied:
		m := f.of(f.model[e.Session])
		m.add(b.Reply.Usage, b.Cost)
		m.Took += b.Took
		f.each(e, func(w *Work) { w.add(b.Reply.Usage, b.Cost) })
	case event.Charged:
		// The spending of children is counted in their own sessions; what was not
		// reported is not known.
		if b.Child && (f.Apart == nil || f.Apart[b.By] || b.Requests == 0) {
			return
		}
		if b.Guess && (b.USD == nil || *b.USD > 0) {
			f.of(b.Model).Unknown++
			f.each(e, func(w *Work) { w.Unknown++ })
		}
		if !b.Guess {
			m := f.of(b.Model)
			m.Requests += b.Requests
			m.add(b.Usage, b.USD)
			f.each(e, func(w *Work) { w.add(b.Usage, b.USD) })
		}
	case event.CallDone:
		f.call(b)
		f.each(e, func(w *Work) { w.Calls++ })
	case event.Blocked:
		if !b.Ran {
			f.each(e, func(w *Work) { w.Denials++ })
		}
	case event.FileChanged:
		if b.Tool == "command" || b.Child != nil { // the person's own, or counted in an agent's session
			return
		}
		f.each(e, func(w *Work) { w.Added += b.Added; w.Removed += b.Removed })
	}
}

// each applies count to the session, the day and the total.
func (f *Fold) each(e event.Event, count func(*Work)) {
	zone := f.Zone
	if zone == nil {
		zone = time.UTC
	}
	count(f.sessions.get(e.Session))
	count(f.days.get(e.Time.In(zone).Format(time.DateOnly)))
	count(&f.all)
}

func (f *Fold) of(ref string) *Model {
	m, ok := f.models[ref]
	if !ok {
		if f.models == nil {
			f.models = map[string]*Model{}
		}
		m = &Model{Ref: ref}
		f.models[ref] = m
	}
	return m
}

func (f *Fold) call(d event.CallDone) {
	t, ok := f.tools[d.Tool]
	if !ok {
		if f.tools == nil {
			f.tools = map[string]*Tool{}
		}
		t = &Tool{Name: d.Tool}
		f.tools[d.Tool] = t
	}
	t.Calls++
	t.Bytes += d.Bytes
	t.Tokens += budget.Guess(int64(len(d.Result.Text)))
	switch d.Outcome {
	case event.OK:
		t.OK++
	case event.Failed, event.TimedOut, event.UnknownDone:
		t.Failed++
	case event.Cancelled:
		if d.Took == 0 {
			t.NotRun++
			return
		}
		t.Failed++
	default:
		t.NotRun++
		return
	}
	if t.OK+t.Failed == 1 {
		t.Min = d.Took
	}
	t.Total += d.Took
	t.Min, t.Max = min(t.Min, d.Took), max(t.Max, d.Took)
}

// Report returns the counts so far.
func (f *Fold) Report() Report {
	r := Report{Tools: []Tool{}, Models: []Model{}, Sessions: append([]Work{}, f.sessions.ws...), Days: append([]Work{}, f.days.ws...), All: f.all}
	for _, t := range f.tools {
		r.Tools = append(r.Tools, *t)
	}
	for _, m := range f.models {
		r.Models = append(r.Models, *m)
	}
	sorting.By(r.Tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) })
	sorting.By(r.Models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Replies, a.Replies), cmp.Compare(a.Ref, b.Ref))
	})
	sorting.By(r.Days, func(a, b Work) int { return cmp.Compare(a.Name, b.Name) })
	return r
}
