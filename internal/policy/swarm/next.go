package swarm

import (
	"errors"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Why a worker gets no task.
var (
	ErrNoTask    = errors.New("no task is ready")
	ErrElsewhere = errors.New("another worker takes it")
)

// How often a machine finds only tasks that others should take, before it gets one that
// it failed; and before it gets one again whose checks need a program that it lacks.
const (
	patience     = 3
	toolPatience = 60
)

// Next returns the task that a worker on a machine takes next: the ready task with the
// longest path to the end of all work. It passes over a merge of files that another
// merge is changing, since one of the two would conflict again. ErrElsewhere means that
// this machine has failed all tasks that are ready, or lacks labels that they need:
// another one should try them. waited is how often in a row it was told so: in the end it
// gets what it failed again, unless another machine is at work and will ask.
func (s *Schedule) Next(machine string, waited int, labels ...string) (TaskProgress, error) {
	if _, stalled := s.Stalled(); stalled || s.Ended != nil {
		return TaskProgress{}, ErrNoTask
	}
	err := ErrNoTask
	for t := range s.taken {
		if t.Lease.Machine != machine {
			waited = 0
		}
	}
	pick := func(t *TaskProgress) bool {
		switch {
		case t.Resolves != "" && s.locked(t, t.Files, Taken, Returned):
			return false
		case waited < t.failedOn[machine] || len(Lacks(t.Task, labels)) > 0:
			err = ErrElsewhere
			return false
		}
		return true
	}
	if len(s.ready) > 0 && pick(s.ready[0]) {
		return *s.ready[0], nil
	}
	var best *TaskProgress
	for _, t := range s.ready {
		if (best == nil || before(t, best)) && pick(t) {
			best = t
		}
	}
	if best == nil {
		return TaskProgress{}, err
	}
	return *best, nil
}

// Lacks returns the labels of a task that a machine does not have.
func Lacks(t event.Task, has []string) (lacks []string) {
	for _, l := range t.Labels {
		if !slices.Contains(has, l) {
			lacks = append(lacks, l)
		}
	}
	return lacks
}

// Offers returns how many more workers may begin, where this many were asked to begin
// and have no task yet.
func (s *Schedule) Offers(asked int) int {
	if _, stalled := s.Stalled(); stalled || s.Ended != nil {
		return 0
	}
	n := 0
	for _, t := range s.ready {
		if t.Resolves == "" || !s.locked(t, t.Files, Taken, Returned) {
			n++
		}
	}
	if s.outage.n > 0 { // one tries first
		n = min(n, max(0, 1-s.count[Taken]))
	}
	return n - asked
}

// locked reports whether another task merges one of these files by hand, and is in one
// of these states.
func (s *Schedule) locked(t *TaskProgress, files []string, in ...State) bool {
	if len(files) == 0 {
		return false
	}
	locks := func(o *TaskProgress) bool {
		return o != t && o.Resolves != "" && slices.Contains(in, o.State) &&
			slices.ContainsFunc(o.Files, func(f string) bool { return slices.Contains(files, f) })
	}
	for o := range s.taken {
		if locks(o) {
			return true
		}
	}
	return slices.ContainsFunc(s.merge, func(i int) bool { return locks(s.tasks[i]) })
}

// Merge returns the result that is merged next: the first that was returned, which agrees
// with the graph's dependencies, since a task is only taken after all tasks that it waits
// for are merged. A result waits while a worker merges one of its files by hand: merged
// now, it would make that worker's merge conflict again. One that a person reviews waits
// until it is accepted.
func (s *Schedule) Merge() (TaskProgress, bool) {
	if s.Ended != nil {
		return TaskProgress{}, false
	}
	for _, i := range s.merge {
		if t := s.tasks[i]; !s.locked(t, t.Result.Files, Taken) && !t.InReview() {
			return *t, true
		}
	}
	return TaskProgress{}, false
}

// InReview reports whether a result waits for a person.
func (t *TaskProgress) InReview() bool { return t.State == Returned && t.Review && !t.accepted }

// before orders ready tasks: the longest path first; among equal ones the one that was
// planned first.
func before(a, b *TaskProgress) bool {
	if a.path != b.path {
		return a.path > b.path
	}
	return a.order < b.order
}
