package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// FaultError is an error whose cause is outside the task: the task goes back to the
// queue, and none of its tries is used up.
type FaultError struct {
	Of  event.TaskFault
	Err error
}

func (e *FaultError) Error() string { return e.Err.Error() }
func (e *FaultError) Unwrap() error { return e.Err }

// Outside returns an error as the fault of something outside the task. An error that
// says whose fault it is stays as it is.
func Outside(of event.TaskFault, err error) error {
	if fault := (*FaultError)(nil); err == nil || errors.As(err, &fault) {
		return err
	}
	return &FaultError{of, err}
}

// FaultOf returns whose fault an error of a worker is. What nobody else claims is the
// task's.
func FaultOf(err error) event.TaskFault {
	fault := (*FaultError)(nil)
	switch {
	case errors.As(err, &fault):
		return fault.Of
	case store.Full(err):
		return event.FaultMachine
	}
	return event.FaultTask
}

// Known returns a fault that a worker on another machine reports, or that of the task.
func Known(f event.TaskFault) event.TaskFault {
	switch f {
	case event.FaultBudget, event.FaultProvider, event.FaultNetwork, event.FaultMachine, event.FaultTool, event.FaultDrained:
		return f
	}
	return event.FaultTask
}

// ends is how a lease ends by a fault.
func ends(f event.TaskFault) event.TaskEnd {
	switch f {
	case event.FaultTask:
		return event.TaskFailed
	case event.FaultLost:
		return event.TaskExpired
	}
	return event.TaskReleased
}

// unaccepted returns the error for checks of which one did not succeed.
func unaccepted(checks []event.TaskCheck) error {
	for _, k := range checks {
		if k.Missing != "" {
			return Outside(event.FaultTool, fmt.Errorf("this machine has no program %s, which the check %q needs", k.Missing, k.Command))
		}
	}
	return ErrAcceptance
}

// lateError is the end of a worker that took too long.
type lateError struct{ after time.Duration }

func (e *lateError) Error() string {
	return fmt.Sprintf("it was not done after %s; the key timeout of the task sets how long it may take", e.after)
}

// ended sets how a lease ended: by the cause of its context's end, otherwise by the
// error of its worker.
func ended(r *event.TaskReturned, cause, err error) {
	stopped, late := (*loopError)(nil), (*lateError)(nil)
	switch {
	case errors.As(cause, &late):
		r.Fault, err = event.FaultTask, cause
	case errors.Is(cause, errOver):
		r.Fault, err = event.FaultCoordinator, cause
	case errors.Is(cause, errTakenBack):
		r.Fault, err = event.FaultPerson, cause
	case errors.As(cause, &stopped):
		r.Outcome, r.Fault, r.Error = event.TaskStopped, event.FaultTask, cause.Error()
		return
	case err == nil:
		r.Outcome = event.TaskDone
		return
	default:
		r.Fault = FaultOf(err)
	}
	r.Outcome, r.Error = ends(r.Fault), cmp.Or(err.Error(), string(r.Fault))
}
