package progress

// Rung is what is done about a verdict (SPEC 6.5).
type Rung int

// The rungs. Recover sends the model a message; Block does so as well and
// keeps the call from running again; Stop pauses the run with a question where
// a person is there, and ends it where none is.
const (
	Nothing Rung = iota
	Recover
	Block
	Stop
)

func (r Rung) String() string { return [...]string{"none", "recovery", "block", "halt"}[r] }

// ParseRung reads a rung's name; an unknown one is Nothing.
func ParseRung(s string) Rung {
	for _, r := range []Rung{Recover, Block, Stop} {
		if r.String() == s {
			return r
		}
	}
	return Nothing
}

// Ladder remembers what was done and says what comes next. It changes by Done
// alone, so that what was decided once is never decided otherwise when a log is
// read again. The zero value is ready.
type Ladder struct {
	stage   map[string]stage // by fingerprint
	order   []string         // the fingerprints, oldest first
	blocked map[string]string
	blocks  int // since new content
	epoch   int
}

type stage struct {
	rung  Rung
	epoch int
}

// ladderLimit bounds the fingerprints and the blocked calls that are kept.
const ladderLimit = 256

// Next says what a verdict leads to.
//
// A warning leads to a recovery, once per loop; the same loop again to a block.
// A halt leads to a stop only after a block had no effect, so that no run ends
// without having been told why and how to go on.
func (l *Ladder) Next(v Verdict) Rung {
	if v.Level == OK {
		return Nothing
	}
	was, known := l.stage[v.Fingerprint]
	if v.Level == Halt {
		if l.blocks > 0 {
			return Stop
		}
		return Block
	}
	switch {
	case !known:
		return Recover
	case v.Soft:
		return Nothing
	case was.epoch != l.epoch:
		return Recover // there was new content since: another situation
	}
	return Block
}

// Done notes that a rung was taken for a verdict's fingerprint, and which call
// is blocked for it, "" for none. Reason is for the model.
func (l *Ladder) Done(r Rung, fingerprint, call, reason string) {
	if r == Nothing {
		return
	}
	if l.stage == nil {
		l.stage, l.blocked = map[string]stage{}, map[string]string{}
	}
	if _, ok := l.stage[fingerprint]; !ok {
		if len(l.order) == ladderLimit {
			delete(l.stage, l.order[0])
			l.order = l.order[1:]
		}
		l.order = append(l.order, fingerprint)
	}
	l.stage[fingerprint] = stage{rung: r, epoch: l.epoch}
	if r == Block {
		l.blocks++
		if call != "" && len(l.blocked) < ladderLimit {
			l.blocked[call] = reason
		}
	}
}

// Blocked says whether a call must not run, and why.
func (l *Ladder) Blocked(call string) (bool, string) {
	reason, ok := l.blocked[call]
	return ok, reason
}

// NewContent says that there is a content never seen before: what was blocked
// may run again.
func (l *Ladder) NewContent() {
	l.epoch++
	l.blocks = 0
	clear(l.blocked)
}

// Person says that a person spoke: all is forgotten.
func (l *Ladder) Person() { *l = Ladder{} }
