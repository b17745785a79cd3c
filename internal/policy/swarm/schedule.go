package swarm

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// State is the state of a task.
type State string

// The states of a task.
const (
	Waiting    State = "waiting"    // for other tasks to be merged
	Ready      State = "ready"      // a worker may take it
	Taken      State = "taken"      // a worker has a lease on it
	Returned   State = "returned"   // its result waits for the merge
	Conflicted State = "conflicted" // another task merges its result by hand
	Parked     State = "parked"     // put aside until the swarm is resumed: what is outside it must change
	Merged     State = "merged"
	Failed     State = "failed"    // after all tries
	Skipped    State = "skipped"   // a task that it waits for failed or was cancelled
	Cancelled  State = "cancelled" // by a person
)

func (s State) Final() bool {
	return s == Merged || s == Failed || s == Skipped || s == Cancelled
}

// Tries is how often a task may fail by its own fault before it counts as failed. Of
// these it may be stopped, since its worker went in circles, only once.
const Tries = 3

// TaskProgress is one task with its state and results.
type TaskProgress struct {
	event.Task
	State State
	Tries int // leases that ended without a result, by its own fault
	// Setbacks counts the leases that ended for a reason outside it, since the swarm was
	// started or resumed.
	Setbacks int
	lacks    int                  // of these, the machines without a program that it needs
	Lease    event.TaskTaken      // the newest; in force while State is Taken
	Began    time.Time            // of the newest lease
	Result   event.TaskReturned   // the newest
	Commit   string               // the merged tree, once it is Merged
	By       string               // the task that merges its result by hand
	Failed   []event.TaskReturned // earlier results that did not count, newest last
	Files    []string             // that a task with Resolves merges by hand
	Messages []string             // of a person, to each of its workers
	Then     event.TaskOrder      // what a person ordered; done once its worker is stopped

	missing int   // tasks that it waits for and that are not merged
	needed  []int // tasks that wait for it
	path    int   // size of the longest path from its start to the end of all work
	place   int   // in the heap of ready tasks; -1 outside
	order   int   // its index in the plan

	accepted bool           // the result, by a person
	stopped  bool           // once before
	failedOn map[string]int // by machine: how long it must wait for the task
}

// Schedule is a fold: the tasks of a swarm, their states, and which may be taken next.
// The zero value is ready. Each event costs O(log n) for each task that it makes ready.
type Schedule struct {
	Goal   string
	Base   string
	Verify []string
	Ended  *event.SwarmEnded
	Paused *event.SwarmPaused // nil after it was resumed

	tasks []*TaskProgress
	index map[string]int
	ready queue
	fence int64
	count map[State]int
	taken map[*TaskProgress]struct{}
	merge []int // results that wait for the merge, in the order of their return
	tip   string
	usd   float64
	// Tasks whose cost is not known, at least in part.
	unpriced int
	tokens   int64

	spent    *event.TaskReturned // the budget was used up
	outage   outage
	machines map[string]*machine
	orders   map[string]bool // those of persons, by ID
}

// Apply applies an event of the swarm's log. An event that contradicts the state, such
// as a result of a lease that has ended, changes nothing: see Accepts.
func (s *Schedule) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.SwarmPlanned:
		s.planned(b)
	case event.TaskTaken:
		if t := s.task(b.Task); t != nil && t.State == Ready && b.Fence > s.fence {
			s.fence = b.Fence
			t.Lease, t.Began = b, e.Time
			s.set(t, Taken)
		}
	case event.TaskReturned:
		s.returned(b)
	case event.TaskMerged:
		if t := s.task(b.Task); t != nil && t.State == Returned {
			s.merged(t, b.Commit)
		}
	case event.TaskConflicted:
		if t := s.task(b.Task); t != nil && t.State == Returned && s.task(b.By) != nil {
			t.By = b.By
			s.task(b.By).Files = b.Files
			s.unqueue(t)
			s.set(t, Conflicted)
		}
	case event.TaskSteered:
		s.steered(b)
	case event.SwarmEnded:
		s.Ended = &b
	case event.SwarmPaused:
		s.Paused = &b
	case event.SwarmResumed:
		s.resumed()
	}
}

func (s *Schedule) planned(b event.SwarmPlanned) {
	if s.index == nil {
		s.index, s.count, s.taken = map[string]int{}, map[State]int{}, map[*TaskProgress]struct{}{}
		s.Goal, s.Base, s.Verify, s.tip = b.Goal, b.Base, b.Verify, b.Base
	}
	from := len(s.tasks)
	for _, t := range b.Tasks {
		if _, twice := s.index[t.ID]; twice {
			continue
		}
		s.index[t.ID] = len(s.tasks)
		s.tasks = append(s.tasks, &TaskProgress{Task: t, State: Waiting, place: -1, order: len(s.tasks)})
		s.count[Waiting]++
	}
	for i := from; i < len(s.tasks); i++ {
		for _, id := range s.tasks[i].After {
			j, ok := s.index[id]
			if !ok {
				continue
			}
			s.tasks[j].needed = append(s.tasks[j].needed, i)
			if s.tasks[j].State != Merged {
				s.tasks[i].missing++
			}
		}
	}
	s.measure(from)
	for _, t := range s.tasks[from:] {
		if t.missing == 0 {
			s.set(t, Ready)
		}
	}
}

// measure computes the longest paths of the tasks from an index on: no earlier task
// needs a later one.
func (s *Schedule) measure(from int) {
	left := make(map[int]int, len(s.tasks)-from)
	var open []int
	for i := from; i < len(s.tasks); i++ {
		if left[i] = len(s.tasks[i].needed); left[i] == 0 {
			open = append(open, i)
		}
	}
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		t := s.tasks[i]
		t.path = max(1, t.Size)
		for _, j := range t.needed {
			t.path = max(t.path, max(1, t.Size)+s.tasks[j].path)
		}
		for _, id := range t.After {
			if j, ok := s.index[id]; ok && j >= from {
				if left[j]--; left[j] == 0 {
					open = append(open, j)
				}
			}
		}
	}
	// A task that merges another task's result delays all tasks that wait for that one.
	for _, t := range s.tasks[from:] {
		if of := s.task(t.Resolves); of != nil {
			t.path = max(t.path, of.path)
		}
	}
}

func (s *Schedule) returned(b event.TaskReturned) {
	t := s.task(b.Task)
	if t == nil || s.Accepts(b.Task, b.Fence) != nil {
		return
	}
	s.tokens += b.Tokens
	if b.USD != nil {
		s.usd += *b.USD
	} else {
		s.unpriced++
	}
	t.Result = b
	if t.Then != "" { // whatever came of it
		s.takeBack(t, t.Then)
		return
	}
	s.judge(t, b)
	switch b.Outcome {
	case event.TaskDone:
		s.merge = append(s.merge, s.index[t.ID])
		s.set(t, Returned)
		return
	case event.TaskReleased, event.TaskExpired:
		s.setBack(t, b)
		return
	}
	t.Tries++
	t.Failed = append(t.Failed, b)
	twice := t.stopped && b.Outcome == event.TaskStopped
	t.stopped = t.stopped || b.Outcome == event.TaskStopped
	if twice || t.Tries >= Tries {
		s.end(t, Failed)
		return
	}
	s.set(t, Ready)
}

// merged makes the tasks ready that waited for the task, and ends the one whose result
// it merged by hand.
func (s *Schedule) merged(t *TaskProgress, commit string) {
	s.tip, t.Commit = commit, commit
	s.unqueue(t)
	s.set(t, Merged)
	for _, i := range t.needed {
		n := s.tasks[i]
		if n.missing--; n.missing == 0 && n.State == Waiting {
			s.set(n, Ready)
		}
	}
	if of := s.task(t.Resolves); of != nil && of.State == Conflicted && of.By == t.ID {
		s.merged(of, commit)
	}
}

// end ends a task that is not merged, and all tasks that wait for it.
func (s *Schedule) end(t *TaskProgress, as State) {
	s.set(t, as)
	if of := s.task(t.Resolves); of != nil && (of.State == Conflicted || of.State == Failed) && of.By == t.ID {
		s.end(of, as)
	}
	open := slices.Clone(t.needed)
	for len(open) > 0 {
		n := s.tasks[open[len(open)-1]]
		open = open[:len(open)-1]
		if !n.State.Final() {
			s.set(n, Skipped)
			open = append(open, n.needed...)
		}
	}
}

func (s *Schedule) unqueue(t *TaskProgress) {
	i := s.index[t.ID]
	s.merge = slices.DeleteFunc(s.merge, func(j int) bool { return j == i })
}

func (s *Schedule) set(t *TaskProgress, to State) {
	s.count[t.State]--
	s.count[to]++
	t.State = to
	if delete(s.taken, t); to == Taken {
		s.taken[t] = struct{}{}
	}
	switch {
	case to == Ready && t.place < 0:
		heap.Push(&s.ready, t)
	case to != Ready && t.place >= 0:
		heap.Remove(&s.ready, t.place)
	}
}

func (s *Schedule) task(id string) *TaskProgress {
	if i, ok := s.index[id]; ok && id != "" {
		return s.tasks[i]
	}
	return nil
}

func (s *Schedule) Task(id string) (TaskProgress, bool) {
	if t := s.task(id); t != nil {
		return *t, true
	}
	return TaskProgress{}, false
}

// Tasks returns all tasks in the order in which they were planned.
func (s *Schedule) Tasks() []TaskProgress {
	out := make([]TaskProgress, len(s.tasks))
	for i, t := range s.tasks {
		out[i] = *t
	}
	return out
}

// Count returns how many tasks are in a state.
func (s *Schedule) Count(st State) int { return s.count[st] }

// Len returns how many tasks there are.
func (s *Schedule) Len() int { return len(s.tasks) }

// Tip returns the commit of the merged tree.
func (s *Schedule) Tip() string { return s.tip }

// Spent returns the sum of the results' costs. known is false if the cost of a result
// is unknown: usd is then a lower bound.
func (s *Schedule) Spent() (usd float64, tokens int64, known bool) {
	return s.usd, s.tokens, s.unpriced == 0
}

// Fence returns the fence of the next lease.
func (s *Schedule) Fence() int64 { return s.fence + 1 }

// Accepts returns nil if a result of this lease counts, otherwise why not. An expired
// lease has been ended by its event, so its result comes too late even if nobody else
// has taken the task.
func (s *Schedule) Accepts(id string, fence int64) error {
	switch t := s.task(id); {
	case t == nil:
		return fmt.Errorf("%w: there is no task %.64q", ErrStale, id)
	case t.State != Taken:
		return fmt.Errorf("%w: task %s is %s, not taken", ErrStale, id, t.State)
	case t.Lease.Fence != fence:
		return fmt.Errorf("%w: task %s was given to another worker (lease %d, now %d)", ErrStale, id, fence, t.Lease.Fence)
	}
	return nil
}

// Accepted returns the acceptance checks of all merged tasks: what each had to pass, all
// must pass together.
func (s *Schedule) Accepted() (lines []string) {
	return s.linesOf(func(t *TaskProgress) []string { return t.Accept })
}

// Setups returns the setup of all merged tasks.
func (s *Schedule) Setups() (lines []string) {
	return s.linesOf(func(t *TaskProgress) []string { return t.Setup })
}

func (s *Schedule) linesOf(of func(*TaskProgress) []string) (lines []string) {
	known := map[string]bool{}
	for _, t := range s.tasks {
		for _, line := range of(t) {
			if t.State == Merged && !known[line] {
				known[line] = true
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// Taken returns the tasks that workers have a lease on, the oldest lease first.
func (s *Schedule) Taken() []TaskProgress {
	out := make([]TaskProgress, 0, len(s.taken))
	for t := range s.taken {
		out = append(out, *t)
	}
	sorting.By(out, func(a, b TaskProgress) int { return cmp.Compare(a.Lease.Fence, b.Lease.Fence) })
	return out
}

// Over reports whether the work has ended: no task can be taken, is worked on, waits for
// its merge or is put aside.
func (s *Schedule) Over() bool {
	return s.Ended != nil || s.count[Ready]+s.count[Taken]+s.count[Returned]+s.count[Parked] == 0
}

// Resolve returns the task that merges a task's result, a diff, by hand: its id is new,
// and it waits for nothing, since its work begins from the merged tree.
func (s *Schedule) Resolve(of TaskProgress, files []string, diff string) event.Task {
	id := ""
	for n := 1; ; n++ {
		id = fmt.Sprintf("merge-%d-%.48s", n, of.ID)
		if s.task(id) == nil {
			break
		}
	}
	return event.Task{
		ID: id, Title: "merge the result of " + of.ID, Resolves: of.ID, Accept: of.Accept, Agent: of.Agent, Model: of.Model, Timeout: of.Timeout, Setup: of.Setup, Labels: of.Labels, Review: of.Review,
		Goal: conflictGoal(of, files, diff),
	}
}

// queue is a heap of ready tasks.
type queue []*TaskProgress

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return before(q[i], q[j]) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}
func (q *queue) Push(x any) {
	t := x.(*TaskProgress)
	t.place = len(*q)
	*q = append(*q, t)
}
func (q *queue) Pop() any {
	old := *q
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	t.place = -1
	return t
}
