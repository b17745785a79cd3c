package progress

// Action is the action for a verdict (SPEC 6.5).
type Action int

// The actions. Recover sends the model a message; Block also keeps the call
// from running again; Stop pauses the run with a question if a person is there,
// and ends it otherwise.
const (
	Nothing Action = iota
	Recover
	Block
	Stop
)

func (a Action) String() string { return [...]string{"none", "recovery", "block", "halt"}[a] }

// parseAction returns the action with this name; Nothing for an unknown one.
func parseAction(s string) Action {
	for _, a := range []Action{Recover, Block, Stop} {
		if a.String() == s {
			return a
		}
	}
	return Nothing
}

// Escalation remembers the actions that were taken and decides the next one.
// Only Done changes it, so that a replayed log leads to the same decisions. The
// zero value is ready.
type Escalation struct {
	stage   map[string]stage // by fingerprint
	order   []string         // the fingerprints, oldest first
	blocked map[string]bool  // calls
	blocks  int              // since anything was new
	epoch   int
}

type stage struct {
	action Action
	epoch  int
}

// escalationLimit limits the number of fingerprints and blocked calls that are kept.
const escalationLimit = 256

// Next returns the action for a verdict.
//
// A warning leads to a recovery, once per loop; the same loop again leads to a
// block. A halt leads to a stop only after a block of this loop, or of any with
// nothing new since, had no effect, so that no run ends without having
// been told why and how to continue.
func (e *Escalation) Next(v Finding) Action {
	if v.Level == OK {
		return Nothing
	}
	was, known := e.stage[v.Fingerprint]
	if v.Level == Halt {
		if e.blocks > 0 || known && was.action == Block && was.epoch == e.epoch {
			return Stop
		}
		return Block
	}
	switch {
	case !known:
		return Recover
	case v.Soft:
		return Nothing
	case was.epoch != e.epoch:
		return Recover // there was new content since: the situation has changed
	}
	return Block
}

// Done records that an action was taken for a fingerprint, and which call it
// blocks, "" for none.
func (e *Escalation) Done(a Action, fingerprint, call string) {
	if a == Nothing {
		return
	}
	if e.stage == nil {
		e.stage, e.blocked = map[string]stage{}, map[string]bool{}
	}
	if _, ok := e.stage[fingerprint]; !ok {
		if len(e.order) == escalationLimit {
			delete(e.stage, e.order[0])
			e.order = e.order[1:]
		}
		e.order = append(e.order, fingerprint)
	}
	e.stage[fingerprint] = stage{action: a, epoch: e.epoch}
	if a == Block {
		e.blocks++
		if call != "" && len(e.blocked) < escalationLimit {
			e.blocked[call] = true
		}
	}
}

// Blocked reports whether a call must not run.
func (e *Escalation) Blocked(call string) bool { return e.blocked[call] }

// NewContent records a new content: blocked calls may run again.
func (e *Escalation) NewContent() {
	e.epoch++
	e.blocks = 0
	clear(e.blocked)
}

// News records an answer that was not there before: the next halt is another one.
func (e *Escalation) News() { e.blocks = 0 }

// Person records a message of a person: everything is forgotten.
func (e *Escalation) Person() { *e = Escalation{} }
