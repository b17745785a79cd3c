package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// This file has what a live session adds to the fold: replies that were cut off
// for repeating one passage, and answers that are not comments on the run.

type running struct {
	loops int      // replies cut off for repeating themselves, in a row
	said  []string // the evidence of the newest one
	asks  map[string][]string
	asked int // how many repetitions the person asked for
}

// haltLoops is how many replies in a row may be cut off for repetition before
// the run is halted.
const haltLoops = 3

func (l *running) apply(f *Fold, e event.Event) {
	switch b := e.Body.(type) {
	case event.Replied:
		l.loops = 0
	case event.Retried:
		if b.Loop != "" {
			l.looped(f, b.Loop)
		}
	case event.Asked:
		if b.Why == event.AskedPause || b.Why == event.AskedBudget || b.Why == event.AskedWait {
			l.asks = map[string][]string{b.ID: b.Options}
		}
	case event.Ended:
		l.asks = nil
	}
}

// option reports whether an answer only lets the run continue, so that it is
// not a person's comment on the run.
func (l *running) option(b event.Answered) bool { return slices.Contains(l.asks[b.ID], b.Text) }

// looped judges a reply that was cut off. Several such replies in a row are a
// loop, whatever the passages are.
func (l *running) looped(f *Fold, passage string) {
	l.loops++
	// The cut may be anywhere; quote a sentence from its start.
	for _, end := range []string{"\n", ". ", "! ", "? "} {
		if i := strings.LastIndex(passage, end); i >= 0 {
			passage = strings.TrimSpace(passage[i+len(end):] + passage[:i+len(end)])
			break
		}
	}
	quoted := normalize.OneLine(strings.Join(strings.Fields(passage), " "), 160)
	l.said = []string{"the reply says over and over: " + quoted}
	level := Warn
	if l.loops >= haltLoops {
		level = Halt
	}
	text := "one reply repeated the same passage over and over and was cut off"
	if l.loops > 1 {
		text = fmt.Sprintf("%d replies in a row repeated one passage over and over and were cut off", l.loops)
	}
	f.now = Finding{}
	f.judged(Finding{Level: level, Rule: streamRule, Fingerprint: streamRule + ":" + normalize.Digest(period(passage)), Steps: []int{}, Text: text})
}

// period returns a form of a passage that does not depend on where the cut was:
// the least of its rotations by words.
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

// CutsLoops reports whether a reply that repeats one passage is cut off: not if
// the rule is off, and not if the person asked for repetition.
func (f *Fold) CutsLoops() bool { return f.d.c.enabled(streamRule) && f.live.asked == 0 }

// News returns the number of news so far: new contents and new results.
func (f *Fold) News() int { return f.d.progress }

// News returns the number of news so far: new contents and new results.
func (d *Detector) News() int { return d.progress }
