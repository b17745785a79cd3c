package swarm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// This file folds what a person decides about one task.

// maxMessage is the longest message to a worker: what enters a prompt whole.
const maxMessage = maxBlock

// Refuses returns nil for an order that can be carried out now, otherwise why not and
// what to do instead.
func (s *Schedule) Refuses(o event.TaskSteered) error {
	t := s.task(o.Task)
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("task %s "+format, append([]any{o.Task}, args...)...)
	}
	again := o.Do == event.OrderRetry || o.Do == event.OrderEdit
	switch text := strings.TrimSpace(o.Text); {
	case t == nil:
		return fmt.Errorf("there is no task %.64q; see: pawl swarm status", o.Task)
	case s.Ended != nil && s.Ended.Outcome != event.SwarmIncomplete:
		return refuse("cannot be changed: the swarm has ended: %s", s.Ended.Outcome)
	case t.State == Merged:
		return refuse("is merged: add a task for what is missing, or undo the swarm's change")
	case t.State == Conflicted:
		return refuse("is merged by the task %s: name that one", t.By)
	case o.Do == event.OrderMessage && (t.State.Final() || t.State == Returned):
		return refuse("is %s, and no worker would get the message: retry it, with the message", t.State)
	case o.Do == event.OrderMessage && text == "":
		return refuse("gets no message: the text is empty")
	case (o.Do == event.OrderMessage || o.Do == event.OrderRetry) && len(o.Text) > maxMessage:
		return refuse("gets no message: it is longer than %d KiB", maxMessage>>10)
	case o.Do == event.OrderEdit && (text == "" || len(o.Text) > maxText):
		return refuse("needs a goal of at most %d KiB", maxText>>10)
	case o.Do == event.OrderEdit && t.Resolves != "":
		return refuse("has a goal that holds the change to merge: send it a message instead")
	case o.Do == event.OrderAccept && (t.State != Returned || !t.Review || t.accepted):
		return refuse("is %s: there is no result to accept", t.State)
	case again && t.Resolves != "" && s.task(t.Resolves).By != t.ID:
		return refuse("is not needed any more: %s is retried", t.Resolves)
	case o.Do == event.OrderCancel && t.State == Cancelled:
		return refuse("is cancelled")
	case again && t.State.Final():
		for _, id := range t.After {
			if d := s.task(id); d != nil && d.State.Final() && d.State != Merged {
				return refuse("waits for the task %s, which is %s: retry that one", id, d.State)
			}
		}
	case !again && o.Do != event.OrderMessage && o.Do != event.OrderAccept && o.Do != event.OrderCancel:
		return refuse("cannot be %q", o.Do)
	}
	return nil
}

// Steered reports whether an order is in the log.
func (s *Schedule) Steered(id string) bool { return s.orders[id] }

func (s *Schedule) steered(o event.TaskSteered) {
	if s.orders[o.ID] || s.Refuses(o) != nil {
		return
	}
	if s.orders == nil {
		s.orders = map[string]bool{}
	}
	s.orders[o.ID] = true
	t := s.task(o.Task)
	switch o.Do {
	case event.OrderMessage:
		t.Messages = append(t.Messages, o.Text)
		return
	case event.OrderAccept:
		t.accepted = true
		return
	case event.OrderEdit:
		t.Goal = o.Text
	case event.OrderRetry:
		if o.Text != "" {
			t.Messages = append(t.Messages, o.Text)
		}
	}
	s.Ended = nil
	if t.State == Taken { // its worker is stopped first
		t.Then = o.Do
		return
	}
	s.takeBack(t, o.Do)
}

// takeBack does with a task that no worker has what a person ordered.
func (s *Schedule) takeBack(t *TaskProgress, do event.TaskOrder) {
	t.Then, t.accepted = "", false
	s.unqueue(t)
	for of := t; of.By != ""; { // merges that failed: there will be another result
		by := s.task(of.By)
		s.set(by, Cancelled)
		of.By, of = "", by
	}
	if do == event.OrderCancel {
		s.end(t, Cancelled)
		return
	}
	t.Tries, t.Setbacks, t.lacks, t.stopped, t.failedOn = 0, 0, 0, false, nil
	to := Ready
	if t.missing > 0 {
		to = Waiting
	}
	s.set(t, to)
	s.revive(t)
	for of := s.task(t.Resolves); of != nil && of.State.Final(); of = s.task(of.Resolves) {
		s.set(of, Conflicted)
		s.revive(of)
	}
}

// revive lets tasks wait again that were skipped since a task was not done.
func (s *Schedule) revive(t *TaskProgress) {
	open := slices.Clone(t.needed)
	for len(open) > 0 {
		n := s.tasks[open[len(open)-1]]
		open = open[:len(open)-1]
		if n.State == Skipped && !slices.ContainsFunc(n.After, func(id string) bool {
			d := s.task(id)
			return d != nil && d.State.Final() && d.State != Merged
		}) {
			s.set(n, Waiting)
			open = append(open, n.needed...)
		}
	}
}

// Whole reports whether all is merged but what a person cancelled, and what waited for
// that.
func (s *Schedule) Whole() bool {
	given := s.count[Cancelled] > 0
	for _, st := range []State{Waiting, Ready, Taken, Returned, Conflicted, Parked, Failed} {
		if s.count[st] > 0 {
			return false
		}
	}
	return given || s.count[Skipped] == 0
}
