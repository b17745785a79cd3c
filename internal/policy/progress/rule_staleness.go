package progress

import "fmt"

// Staleness in quarter points, so that waiting can count a quarter.
const (
	point = 4

	staleRepeat = 4 * point     // this call with this result again
	staleKnown  = 2 * point     // another call, and an error or a result seen before
	staleAnswer = 3 * point     // other words without a call, and the same answer to them
	staleEmpty  = 1 * point     // a look that found nothing, or failed as one before
	staleWords  = 3 * point / 2 // a reply that was no call, and was to be one
	staleEcho   = 2 * point     // more, where the model says the same words with it
	staleNews   = -4 * point    // a result never seen before
)

// staleness adds up steps that bring nothing, and takes off what brings news.
// It sees the loops that have no exact form. A command that runs again for the
// first time since content changed is neither: that is how changes are tested.
type staleness struct {
	score, said int
	steps       tail // those that added
}

func (*staleness) name() string { return "staleness" }

func (r *staleness) reset(s scope) {
	if s == byPerson || s == byContent {
		*r = staleness{}
	}
}

func (r *staleness) apply(d *Detector, f *facts) finding {
	if f.through {
		*r = staleness{} // what failed goes now: that trouble is over
		return finding{}
	}
	if f.fresh {
		return finding{}
	}
	by := weight(d, f)
	if by > 0 && f.echo {
		by += staleEcho
	}
	if f.wait && by > 0 {
		by /= 4
	}
	if f.wait || f.silent || f.s.Kind == Think && !f.keySeen {
		// Waiting, thinking, and commands that succeed without a word, lead to a
		// warning at most by themselves.
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

// weight is what a step adds to staleness.
func weight(d *Detector, f *facts) int {
	s := f.s
	switch {
	case f.unseen && f.news:
		return staleNews
	case f.unseen, f.wanted:
		return 0
	case f.again:
		return 0
	case f.keySeen:
		return staleRepeat
	case f.prose && f.resultSeen:
		return staleAnswer
	case f.prose:
		return 0
	case s.Kind == None:
		return staleWords
	case f.empty && s.OK:
		return staleEmpty
	case !s.OK && f.faultSeen:
		return staleKnown
	case !s.OK && f.faultKnown:
		return staleEmpty // with new content since, it may have another cause
	case !s.OK:
		return 0 // an error never seen before says something, and is not progress
	case s.Kind == Think && f.thoughts > d.c.Thoughts:
		return staleEmpty
	case s.Kind == Submit && f.resultSeen:
		return staleKnown // handed in once more, and nothing in it changed
	case s.Kind == Think || s.Kind == Submit:
		return 0
	case f.written:
		return staleNews
	case f.copied:
		return 0
	case s.Len <= 1, f.silent:
		return staleEmpty // what it changed would show as content
	case f.resultSeen || f.returned:
		return staleKnown
	}
	return staleNews
}
