package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file is what a live session adds to the fold: phases that a person or a
// plan file opens, replies that were cut off for saying one passage over and
// over, and what a screen says of progress.

type running struct {
	at    time.Time // of the newest event
	steps []event.PhaseStep
	base  int      // the number of the phase before the plan file's first
	loops int      // replies cut off for repeating themselves, in a row
	said  []string // what shows the newest one
	asks  map[string][]string
	asked int // how often the person wants things repeated
}

// haltLoops is how many replies in a row may be cut off for repeating
// themselves before the ladder is at its end.
const haltLoops = 3

func (l *running) apply(f *Fold, e event.Event) {
	if e.Time.After(l.at) {
		l.at = e.Time
	}
	switch b := e.Body.(type) {
	case event.Replied:
		l.loops = 0
	case event.Retried:
		if b.Loop != "" {
			l.looped(f, b.Loop)
		}
	case event.Phased:
		f.phased(b, e.Time)
	case event.Warned:
		if o := f.phases.open; b.What == OverduePhase && o != nil {
			o.warned = true
		}
	case event.Blocked:
		if b.By != BlockedBy {
			f.phases.Blocker("not allowed: " + oneLine(b.What, 120))
		}
	case event.Stuck:
		if b.Level != Recover.String() {
			f.phases.Blocker(oneLine(fmt.Sprintf("%s (%s): %s", b.Level, b.Rule, Loop(b)), 160))
		}
	case event.Asked:
		if b.Why == "pause" || b.Why == "budget" || b.Why == "wait" {
			l.asks = map[string][]string{b.ID: b.Options}
		}
	case event.Ended:
		l.asks = nil
	}
}

// option says that an answer only lets the run go on: it is no word of a person
// on what the run does.
func (l *running) option(b event.Answered) bool { return slices.Contains(l.asks[b.ID], b.Text) }

// looped judges a reply that was cut off. That it happens again and again is a
// loop, whatever the passage is.
func (l *running) looped(f *Fold, passage string) {
	l.loops++
	// The cut came anywhere: a sentence is quoted from its start.
	for _, end := range []string{"\n", ". ", "! ", "? "} {
		if i := strings.LastIndex(passage, end); i >= 0 {
			passage = strings.TrimSpace(passage[i+len(end):] + passage[:i+len(end)])
			break
		}
	}
	quoted := oneLine(strings.Join(strings.Fields(passage), " "), 160)
	l.said = []string{"the reply says over and over: " + quoted}
	level := Warn
	if l.loops >= haltLoops {
		level = Halt
	}
	text := "one reply says the same passage over and over and was cut off"
	if l.loops > 1 {
		text = fmt.Sprintf("%d replies in a row say one passage over and over and were cut off", l.loops)
	}
	f.now = Verdict{}
	f.judged(Verdict{Level: level, Rule: streamRule, Fingerprint: streamRule + ":" + Digest(period(passage)), Steps: []int{}, Text: text})
}

// period is a passage wherever in it the cut came: the least of its rotations
// by words.
func period(passage string) string {
	ws := strings.Fields(passage)
	if len(ws) > 400 {
		return strings.Join(ws[:400], " ")
	}
	least := ""
	for i := range ws {
		if s := strings.Join(ws[i:], " ") + " " + strings.Join(ws[:i], " "); least == "" || s < least {
			least = s
		}
	}
	return least
}

// CutsLoops says whether a reply that says one passage over and over is cut
// off: not where the rule is off, nor where the person wants things repeated.
func (f *Fold) CutsLoops() bool { return f.d.c.on(streamRule) && f.live.asked == 0 }

// News counts what was new so far: contents and results never seen before.
func (f *Fold) News() int { return f.d.progress }

// OverduePhase is event.Warned.What of a phase that takes longer than expected.
const OverduePhase = "phase"

// Overdue gives the warning that the open phase takes longer than was expected
// of it, once for each phase. It is for the person and stops nothing.
func (f *Fold) Overdue() (event.Warned, bool) {
	o := f.phases.open
	if o == nil || o.warned {
		return event.Warned{}, false
	}
	over := o.Over(f.live.at)
	if over <= 0 {
		return event.Warned{}, false
	}
	took := f.live.at.Sub(o.Started).Round(time.Second)
	return event.Warned{What: OverduePhase, Text: fmt.Sprintf("phase %d (%s) takes longer than expected: %v so far, %v were expected", o.Number, oneLine(o.Description, 80), took, o.Expected)}, true
}

// At is the time of the newest event: policy has no clock.
func (f *Fold) At() time.Time { return f.live.at }

// PhaseName is what the open phase is called, "" where none is open.
func (f *Fold) PhaseName() string {
	if f.phases.open == nil {
		return ""
	}
	return f.phases.open.Description
}

// CheckPhase says why a phase can not be opened now; nil where it can.
func (f *Fold) CheckPhase(n int, expected time.Duration) error { return f.phases.Check(n, expected) }

// NextPhase gives the number that comes next. ok is false where the plan file's
// last phase was opened.
func (f *Fold) NextPhase() (n int, ok bool) {
	n = f.phase + 1
	return n, len(f.live.steps) == 0 || n <= f.live.base+len(f.live.steps)
}

// PlanFile lists the phases of the plan file in force, and the number of the
// first of them.
func (f *Fold) PlanFile() (steps []event.PhaseStep, first int) {
	return slices.Clone(f.live.steps), f.live.base + 1
}

// phased takes a phase as a person or a plan file opens or closes it. Streaks
// of errors begin anew with a phase never seen before.
func (f *Fold) phased(b event.Phased, at time.Time) {
	if b.Number == 0 {
		f.phases.Complete(!b.Failed, at)
		return
	}
	if f.Phase(b.Number, b.Text, at, b.Expected) != nil {
		return // validated when it was recorded: another was faster
	}
	f.d.Phase()
	if len(b.Plan) > 0 {
		f.live.steps, f.live.base = b.Plan, b.Number-1
		f.phases.Expect(b.Number - 1 + len(b.Plan))
	}
}

// stepped takes the model's plan where a plan file says what the phases are:
// an item that is named like one of them is it, and others are steps within.
func (f *Fold) stepped(items []tool.Item, at time.Time) {
	for _, it := range items {
		i := slices.IndexFunc(f.live.steps, func(s event.PhaseStep) bool { return phaseName(s.Text) == phaseName(it.Text) })
		if i < 0 {
			continue
		}
		n := f.live.base + 1 + i
		switch o := f.phases.open; {
		case it.Status == "in_progress":
			if f.Phase(n, f.live.steps[i].Text, at, f.live.steps[i].Expected) == nil {
				f.d.Phase()
			}
		case it.Status == "done" && o != nil && o.Number == n:
			f.phases.Complete(true, at)
		}
	}
}

// phaseName is what counts of a phase's name: its letters and digits, without its
// number.
func phaseName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(unnumbered(s)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}
