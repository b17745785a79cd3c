package lifecycle

import (
	"cmp"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
)

// Activity is what a run is doing (SPEC 2), derived from recorded events:
// nobody sets it. The zero value is idle. State, Path and Listen are safe for
// concurrent use; Apply and Violations are not.
//
// A prompt is processed until its first request is sent. Then a response
// streams until its first call runs. After the last call of a step has its
// result, progress is checked until the next request. Retries and messages of
// stuck detection are recovery. A check by pawl itself is a tool. While a
// question waits for a person, the state is awaiting_permission, whatever else
// happens. A phase opens when another item of the plan is in progress, or a
// person or a plan file opens one; it is shown after the step.
type Activity struct {
	live  replayed
	wait  waiting
	turn  bool
	want  fsm.State // the state without open questions
	phase string    // the open one
	opens bool      // a phase opened in the running step
	// refused is the state that was not reachable; it is reported once and not
	// at every later event.
	refused fsm.State
}

func (a *Activity) machine() *fsm.Machine { return a.live.of(&activityTable) }

// State is the state now.
func (a *Activity) State() fsm.State { return a.machine().State() }

// Path returns the states of the running or last run, the newest 1,000, oldest
// first. It ends with the present state.
func (a *Activity) Path() []fsm.State {
	history := a.machine().History()
	if len(history) == 0 {
		return []fsm.State{a.State()}
	}
	out := []fsm.State{history[0].From}
	for _, p := range history {
		out = append(out, p.To)
	}
	return out[max(0, len(out)-1000):]
}

// Listen registers a listener; see Agent.Listen.
func (a *Activity) Listen(l fsm.Listener, panicked func(any)) (stop func()) {
	return a.machine().Listen(l, panicked)
}

// Violations lists the first 100 events without a legal transition.
func (a *Activity) Violations() []Violation { return slices.Clone(a.live.violations) }

func (a *Activity) Apply(e event.Event) {
	if e.Seq == 0 {
		return
	}
	a.wait.apply(e)
	a.want = cmp.Or(a.want, Idle)
	switch b := e.Body.(type) {
	case event.Prompted:
		if !a.turn {
			// A new machine: the run before may have been halted.
			a.turn, a.opens, a.want = true, false, ProcessingPrompt
			a.machine().Restart()
		}
	case event.Requested:
		a.want = StreamingResponse
	case event.Retried:
		a.want = ErrorRecovery
	case event.Stuck:
		if b.Level != stuckHalt { // a halt is followed by a question or by the end
			a.want = ErrorRecovery
		}
	case event.CallStarted, event.Checking:
		a.want = ExecutingTool
	case event.Checked, event.Baseline:
		a.want = ProgressCheck
	case event.CallDone:
		if a.wait.open == 0 {
			a.stepDone(e)
		}
	case event.Planned:
		now := ""
		for _, i := range b.Items {
			if i.Status == "in_progress" {
				now = i.Text
				break
			}
		}
		a.opened(e, now)
	case event.Phased:
		a.opened(e, b.Text)
	case event.Asked:
		if a.want == PhaseTransition {
			a.want = ProgressCheck // the phase is open by now; this is the state after the answer
		}
	case event.Answered:
		if a.want == StreamingResponse && slices.ContainsFunc(b.Verdicts, allows) {
			a.want = ExecutingTool // the calls in question run next
		}
	case event.Ended:
		a.turn, a.opens = false, false
		a.want = Idle
		if halts(b.End) {
			a.want = Halted
		}
	}
	a.moveToWanted(e)
}

// stuckHalt is the Level of the last action (SPEC 6.5).
const stuckHalt = "halt"

// halts reports whether an end is a halt: the run neither completed nor was
// stopped by a person.
func halts(end event.End) bool {
	switch end {
	case event.EndDone, event.EndInterrupted, event.EndPermission:
		return false
	}
	return true
}

// stepDone is called after the last call of a step.
func (a *Activity) stepDone(e event.Event) {
	a.want = ProgressCheck
	if !a.opens || a.wait.awaitsPerson() {
		return
	}
	a.opens = false
	a.moveToWanted(e)
	a.want = PhaseTransition
}

// opened handles the phase that is open now, "" for none: one that a person or
// a plan file opened, or the item in progress of the model's plan.
func (a *Activity) opened(e event.Event, now string) {
	opened := now != "" && now != a.phase
	a.phase = now
	switch {
	case !opened:
	case a.turn:
		a.opens = true
	case a.want == Idle:
		a.move(e, PhaseTransition)
	}
}

// moveToWanted moves to the wanted state.
func (a *Activity) moveToWanted(e event.Event) {
	target := a.want
	if a.wait.awaitsPerson() {
		target = AwaitingPermission
	}
	if target == a.State() || target == a.refused {
		return
	}
	// Between a phase and what comes next, progress is checked, except at a
	// turn's end or start.
	if a.State() == PhaseTransition && !activityTable.Allows(PhaseTransition, target) {
		a.move(e, ProgressCheck)
	}
	a.move(e, target)
}

func (a *Activity) move(e event.Event, target fsm.State) {
	a.refused = ""
	if err := a.machine().To(target, meta(a.machine(), e)); err != nil {
		a.refused = target
		a.live.check(e, err)
	}
}

func allows(v event.Verdict) bool { return v.Scope != event.No }
