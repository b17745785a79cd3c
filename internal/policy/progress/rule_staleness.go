package progress

import "fmt"

// Staleness in quarter points.
const (
	point = 4

	staleRepeat = 4 * point     // the same call with the same result
	staleKnown  = 2 * point     // another call, with an error or a result that was seen before
	staleAnswer = 3 * point     // another text without a call, with the same answer
	staleEmpty  = 1 * point     // a read or search that found nothing, or failed as before
	staleWords  = 3 * point / 2 // a reply that was to be a call and was not
	staleEcho   = 2 * point     // in addition, if the model repeats its text
	staleNews   = -4 * point    // a new result
)

// staleness adds up steps that bring nothing new, and subtracts news. It
// detects loops without an exact form. The first run of a command after a
// change of content counts as neither: that is how changes are tested.
type staleness struct {
	score, said int
	steps       tail // those that added
}

func (r *staleness) reset(scope) { *r = staleness{} }

func (r *staleness) apply(d *Detector, f *facts) finding {
	if f.recovered {
		*r = staleness{} // what failed before succeeded: that problem is over
		return finding{}
	}
	if f.fresh || f.neutral {
		return finding{}
	}
	if f.news && !f.moved && f.s.Subject != "" {
		*r = staleness{} // it asked something new, or got something new
		return finding{}
	}
	by := weight(d, f)
	if by > 0 && f.sameMessage {
		by += staleEcho
	}
	if f.silent || f.s.Kind == Think && !f.keySeen {
		// Thinking, and commands that succeed without output lead at
		// most to a warning by themselves.
		by = min(by, max(0, d.c.StaleWarn*point-r.score))
	}
	r.score = max(0, r.score+by)
	if r.score == 0 {
		*r = staleness{}
	}
	if by <= 0 {
		return finding{}
	}
	r.steps.add(f.n)
	level := OK
	switch {
	case r.score >= d.c.StaleHalt*point:
		level = Halt
	case r.score >= d.c.StaleWarn*point && r.score >= r.said+staleRepeat:
		level = Warn
	default:
		return finding{}
	}
	r.said = r.score
	return finding{
		level: level, print: uint64(f.epoch), steps: r.steps.list(),
		text: fmt.Sprintf("%d steps without news: calls, results and errors that were all seen before (staleness %d of %d)",
			r.steps.n, r.score/point, d.c.StaleHalt),
	}
}

// weight returns what a step adds to staleness.
func weight(d *Detector, f *facts) int {
	s := f.s
	switch {
	case f.unknownResult && f.news:
		return staleNews
	case f.unknownResult, f.requested, f.wait:
		return 0
	case f.moved:
		return staleNews
	case f.again:
		return 0
	case f.keySeen:
		return staleRepeat
	case f.textOnly && f.resultSeen:
		return staleAnswer
	case f.textOnly:
		return 0
	case s.Kind == None:
		return staleWords
	case f.empty && s.OK:
		return staleEmpty
	case !s.OK && f.faultSeen:
		return staleKnown
	case !s.OK && f.faultKnown:
		return staleEmpty // after new content it may have another cause
	case !s.OK:
		return 0 // a new error is informative, but it is not progress
	case s.Kind == Think && f.thoughts > d.c.Thoughts:
		return staleEmpty
	case s.Kind == Submit && f.resultSeen:
		return staleKnown // submitted again without a change
	case s.Kind == Think || s.Kind == Submit:
		return 0
	case f.unknownEdit:
		return staleNews
	case f.renumbered:
		return 0
	case s.Len <= 1, f.silent:
		return staleEmpty // its changes would be seen as content
	case f.resultSeen || f.returned:
		return staleKnown
	}
	return staleNews
}
