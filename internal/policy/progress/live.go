package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// This file is what a live session adds to the fold: replies that were cut off
// for saying one passage over and over, and answers that do not comment on what
// the run does.

type running struct {
	loops int      // replies cut off for repeating themselves, in a row
	said  []string // what shows the newest one
	asks  map[string][]string
	asked int // how often the person wants things repeated
}

// haltLoops is how many replies in a row may be cut off for repeating
// themselves before the ladder is at its end.
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
		if b.Why == "pause" || b.Why == "budget" || b.Why == "wait" {
			l.asks = map[string][]string{b.ID: b.Options}
		}
	case event.Ended:
		l.asks = nil
	}
}

// option reports whether an answer only lets the run go on: it is not a word of a
// person on what the run does.
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
	quoted := normalize.OneLine(strings.Join(strings.Fields(passage), " "), 160)
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
	f.judged(Verdict{Level: level, Rule: streamRule, Fingerprint: streamRule + ":" + normalize.Digest(period(passage)), Steps: []int{}, Text: text})
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

// CutsLoops reports whether a reply that says one passage over and over is cut
// off: not where the rule is off, nor where the person wants things repeated.
func (f *Fold) CutsLoops() bool { return f.d.c.on(streamRule) && f.live.asked == 0 }

// News counts what was new so far: contents and results never seen before.
func (f *Fold) News() int { return f.d.progress }
