package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// recording makes up what a session records, in the orders in which
// internal/engine/session and turn do: any number of turns, cut short anywhere
// by a person, a limit or the death of the process.
type recording struct {
	rand *rand.Rand
	es   []event.Event
	asks int
	// batches are the places between atomic appends: where a process may die.
	batches []int
}

// over ends a turn's making up: it was interrupted.
type over struct{ end event.End }

func (r *recording) chance(percent int) bool { return r.rand.IntN(100) < percent }

func (r *recording) pick(n int) int { return r.rand.IntN(n) }

// rec appends events that are stored in one go, now and then with something
// ephemeral between, which a fold must not notice.
func (r *recording) rec(bs ...event.Body) {
	if r.chance(10) {
		r.es = append(r.es, event.Event{Body: event.TextDelta{Text: "…"}})
	}
	for _, b := range bs {
		r.es = append(r.es, event.Event{Seq: int64(len(r.es) + 1), Body: b})
	}
	r.batches = append(r.batches, len(r.es))
}

// record makes up a whole session: the same for the same seed.
func record(seed uint64) *recording {
	r := &recording{rand: rand.New(rand.NewPCG(seed, 0))}
	r.rec(event.Opened{Mode: "ask"}, event.Rebased{Why: "start"})
	for range 1 + r.pick(4) {
		r.between()
		r.turn()
		if r.chance(25) {
			r.crash()
		}
	}
	return r
}

// between is what may happen while no turn runs.
func (r *recording) between() {
	for _, b := range []event.Body{
		event.PersonRan{Command: "ls"},
		event.ModeSet{Mode: "plan"},
		event.Rebased{Why: "model"},
		event.Resumed{},
		event.FileChanged{Tool: "undo"},
		event.Undone{},
		event.Noted{Why: "rules"},
		event.Ticked{},
		event.Unknown{Name: "from_the_future"},
		event.Warned{},
		event.Charged{},
		event.Extended{},
		event.Planned{Items: []tool.Item{{Text: "by the person", Status: "in_progress"}}},
		event.Phased{Number: 1, Text: "by a file", By: "plan", Plan: []event.PhaseStep{{Text: "by a file"}}},
		event.Phased{By: "person"},
	} {
		if r.chance(8) {
			r.rec(b)
		}
	}
}

// turn makes up one, until it ends.
func (r *recording) turn() {
	defer func() {
		o, ok := recover().(over)
		if !ok {
			panic("a turn without an end")
		}
		switch o.end {
		case event.EndInterrupted, event.EndTimeout:
			r.rec(event.Interrupted{By: "person"}, event.Ended{End: o.end})
		case event.EndPermission:
			r.rec(event.Interrupted{By: "permission"})
			r.rec(event.Ended{End: o.end})
		default:
			r.rec(event.Ended{End: o.end})
		}
	}()
	r.rec(event.Prompted{Source: event.Person, Text: "go"})
	for range 8 {
		if calls := r.reply(); len(calls) > 0 {
			r.step(calls)
		}
	}
	panic(over{event.EndTurns})
}

// interruptible is a moment at which a person or a limit may cut in.
func (r *recording) interruptible(percent int) {
	if r.chance(percent) {
		panic(over{[]event.End{event.EndInterrupted, event.EndTimeout}[r.pick(2)]})
	}
}

// question asks something that is about no call, such as for more budget.
func (r *recording) question() {
	id := r.ask(event.Asked{Text: "more?"})
	r.interruptible(20)
	r.rec(event.Answered{ID: id})
	if r.chance(30) {
		panic(over{event.EndBudget})
	}
}

func (r *recording) ask(q event.Asked) string {
	r.asks++
	q.ID = fmt.Sprint("q", r.asks)
	r.rec(q)
	return q.ID
}

// reply is what is asked of a model until it says something.
func (r *recording) reply() []string {
	for try := 1; ; try++ {
		if r.chance(10) {
			r.rec(event.Prompted{Source: event.Person, Text: "and this"})
		}
		if r.chance(4) {
			panic(over{[]event.End{event.EndBudget, event.EndFailed}[r.pick(2)]})
		}
		if r.chance(4) {
			r.question()
		}
		if r.chance(5) { // a person pauses the turn, between steps or tries
			r.rec(event.Phased{Number: r.pick(3), Text: "typed meanwhile", By: "person"}, event.Noted{Why: "phase"})
			r.rec(event.Answered{ID: r.ask(event.Asked{Why: "pause", Text: "go on?"}), Text: "go on"})
		}
		r.interruptible(1)
		r.rec(event.Requested{Attempt: try})
		r.interruptible(3)
		if !r.chance(15) {
			break
		}
		if try > 4 || r.chance(20) {
			panic(over{[]event.End{event.EndProvider, event.EndConfig, event.EndFailed}[r.pick(3)]})
		}
		r.rec(event.Retried{Attempt: try})
		r.interruptible(5)
	}
	calls := []string{}
	if r.chance(75) {
		for i := range 1 + r.pick(4) {
			calls = append(calls, fmt.Sprint("call_", i)) // some models count from 0 in each reply
		}
	}
	said := event.Replied{Reply: llm.Reply{Stop: llm.StopEnd}}
	bs := []event.Body{event.Body(said)}
	for _, c := range calls {
		bs = append(bs, event.CallAsked{ID: c, Tool: "x"})
	}
	r.rec(bs...)
	if len(calls) > 0 {
		return calls
	}
	switch r.pick(6) {
	case 0:
		r.rec(event.Noted{Why: "length"})
	case 1: // paused by the provider: asked again at once
	case 2:
		panic(over{event.EndRefused})
	default:
		r.checks()
	}
	return nil
}

// checks are what the session runs when the model has ended its turn: it goes
// on where one fails.
func (r *recording) checks() {
	if r.chance(50) {
		panic(over{event.EndDone})
	}
	for range r.pick(4) {
		done := event.Checked{Name: "test", Command: "go test ./..."}
		if r.chance(20) {
			id := r.ask(event.Asked{Questions: []event.Question{{Call: "check"}}})
			r.interruptible(15)
			v := event.Verdict{Call: "check", Scope: event.Once}
			if r.chance(40) {
				v.Scope = event.No
			}
			r.rec(event.Answered{ID: id, Verdicts: []event.Verdict{v}})
			if v.Scope == event.No {
				r.rec(done)
				continue
			}
		}
		r.rec(event.Checking{Name: "test", Command: "go test ./..."})
		if r.chance(15) {
			r.rec(done)
			panic(over{event.EndInterrupted})
		}
		r.rec(done)
	}
	if r.chance(40) {
		panic(over{event.EndDone})
	}
	r.rec(event.Prompted{Source: event.Autofix, Text: "it failed"})
}

// step checks and runs calls.
func (r *recording) step(calls []string) {
	refused := map[string]bool{}
	for _, c := range calls {
		refused[c] = r.chance(15)
	}
	end := r.consent(calls, refused)
	if end != "" {
		for _, c := range calls {
			r.done(c, event.Cancelled)
		}
		panic(over{end})
	}
	r.run(calls, refused)
	switch r.pick(30) {
	case 0, 1:
		r.rec(event.Stuck{Level: "recovery"})
	case 2:
		r.rec(event.Stuck{Level: "block"})
	case 3:
		r.rec(event.Stuck{Level: "halt"})
		r.question()
		r.rec(event.Noted{Why: "stuck"})
	case 4:
		r.rec(event.Stuck{Level: "halt"})
		panic(over{event.EndStuck})
	case 5:
		r.rec(event.Warned{What: "window"})
		r.rec(event.Charged{}, event.Compacted{}, event.Rebased{Why: "compaction"})
	}
}

// consent asks a person about some calls, once. It returns how that ended the
// turn, if it did.
func (r *recording) consent(calls []string, refused map[string]bool) event.End {
	if !r.chance(30) {
		return ""
	}
	q := event.Asked{}
	for _, c := range calls {
		if !refused[c] && r.chance(60) {
			q.Questions = append(q.Questions, event.Question{Call: c})
		}
	}
	if len(q.Questions) == 0 {
		if r.chance(50) { // a gate asks about something else, such as the budget
			r.rec(event.Answered{ID: r.ask(event.Asked{Why: "budget"})})
		}
		return ""
	}
	id := r.ask(q)
	if r.chance(15) {
		return event.EndInterrupted
	}
	a := event.Answered{ID: id}
	no := false
	for _, about := range q.Questions {
		v := event.Verdict{Call: about.Call, Scope: event.Once}
		switch r.pick(6) {
		case 0:
			v.Scope, no = event.No, true
		case 1:
			v.Scope, v.Why = event.No, "because"
			refused[about.Call] = true
		}
		a.Verdicts = append(a.Verdicts, v)
	}
	r.rec(a)
	if no {
		return event.EndPermission
	}
	if r.chance(30) {
		r.rec(event.Granted{Rule: "x"})
	}
	return ""
}

// run runs calls side by side; results are recorded in the order asked.
func (r *recording) run(calls []string, refused map[string]bool) {
	started, finished := []string{}, map[string]bool{}
	asking, ask := "", ""
	next, cut := 0, false
	for next < len(calls) {
		cut = cut || r.chance(2)
		running := slices.DeleteFunc(slices.Clone(started), func(c string) bool { return finished[c] })
		switch c := calls[r.pick(len(calls))]; {
		case cut:
			for _, c := range calls {
				finished[c] = true
			}
		case refused[c] || finished[c]:
			finished[c] = true
		case !slices.Contains(started, c):
			if r.chance(5) {
				finished[c], refused[c] = true, true
				break
			}
			r.rec(event.CallStarted{ID: c})
			started = append(started, c)
		case c == asking:
			if r.chance(80) {
				r.rec(event.Answered{ID: ask, Text: "yes"})
			} // else its time is over
			asking, finished[c] = "", true
		case asking == "" && r.chance(10):
			asking, ask = c, r.ask(event.Asked{Text: "which?"})
		default:
			r.inside(running)
			finished[c] = r.chance(60)
		}
		for next < len(calls) && finished[calls[next]] {
			outcome := event.OK
			if !slices.Contains(started, calls[next]) {
				outcome = []event.Outcome{event.Denied, event.Invalid}[r.pick(2)]
			} else if n := r.pick(6); cut || n < 3 {
				outcome = []event.Outcome{event.Failed, event.TimedOut, event.Cancelled}[n%3]
			}
			r.done(calls[next], outcome)
			next++
		}
	}
	if cut {
		panic(over{event.EndInterrupted})
	}
}

// inside is what running calls record.
func (r *recording) inside(running []string) {
	if len(running) == 0 {
		return
	}
	switch r.pick(6) {
	case 0:
		r.rec(event.FileChanged{Call: running[0], Path: "a"})
	case 1:
		r.rec(event.Planned{Items: []tool.Item{
			{Text: "first", Status: "done"}, {Text: fmt.Sprint("item ", r.pick(3)), Status: "in_progress"},
		}})
	case 2:
		r.rec(event.Planned{Items: []tool.Item{{Text: "first", Status: "done"}}})
	case 3:
		r.rec(event.Remembered{Text: "x"})
	case 4:
		r.rec(event.Phased{Number: 1 + r.pick(3), Text: fmt.Sprint("phase ", r.pick(3)), By: "person"})
	}
}

func (r *recording) done(id string, o event.Outcome) {
	var bs []event.Body
	if o == event.Denied {
		bs = append(bs, event.Blocked{Call: id}, event.FileSeen{Call: id})
	}
	r.rec(append(bs, event.CallDone{ID: id, Tool: "x", Outcome: o})...)
}

// crash forgets what was recorded after some moment of the last turn and takes
// the session up again, as session.Open does.
func (r *recording) crash() {
	begin := 0
	for i, e := range r.es {
		if p, ok := e.Body.(event.Prompted); ok && p.Text == "go" {
			begin = i
		}
	}
	places := slices.DeleteFunc(slices.Clone(r.batches), func(n int) bool { return n <= begin })
	n := places[r.pick(len(places))]
	r.es = r.es[:n]
	r.batches = slices.DeleteFunc(r.batches, func(m int) bool { return m > n })
	var open []string
	turn := false
	for _, e := range r.es[begin:] {
		switch b := e.Body.(type) {
		case event.Prompted:
			turn = true
		case event.Ended:
			turn = false
		case event.CallAsked:
			open = append(open, b.ID)
		case event.CallDone:
			open = open[1:]
		}
	}
	var bs []event.Body
	for _, id := range open {
		bs = append(bs, event.CallDone{ID: id, Outcome: event.UnknownDone})
	}
	if turn {
		bs = append(bs, event.Ended{End: event.EndInterrupted})
	}
	r.rec(append(bs, event.Resumed{})...)
}
