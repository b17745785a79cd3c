package swarm

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
)

type checkedSchedule struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	s     Schedule
	log   []event.Event
	fault event.TaskFault // of what is released
}

func (r *checkedSchedule) record(b event.Body) {
	r.t.Helper()
	before := r.s.Tasks()
	e := event.Event{Seq: int64(len(r.log) + 1), Body: b}
	r.log = append(r.log, e)
	r.s.Apply(e)
	for i, t := range before {
		if now := r.s.tasks[i]; now.State != t.State && !Table().Allows(fsm.State(t.State), fsm.State(now.State)) {
			r.t.Fatalf("%s went from %s to %s", t.ID, t.State, now.State)
		}
	}
}

func (r *checkedSchedule) take(worker string) TaskProgress {
	r.t.Helper()
	return r.takeOn("", worker)
}

func (r *checkedSchedule) takeOn(machine, worker string) TaskProgress {
	r.t.Helper()
	p, err := r.s.Next(machine, 0)
	if err != nil {
		r.t.Fatalf("no task for %s: %v", machine, err)
	}
	r.record(event.TaskTaken{Task: p.ID, Worker: worker, Fence: r.s.Fence(), Base: r.s.Tip(), Machine: machine})
	p, _ = r.s.Task(p.ID)
	return p
}

func (r *checkedSchedule) give(p TaskProgress, end event.TaskEnd) {
	r.t.Helper()
	b := event.TaskReturned{Task: p.ID, Worker: p.Lease.Worker, Fence: p.Lease.Fence, Outcome: end, Commit: "c-" + p.ID}
	switch end {
	case event.TaskExpired:
		b.Fault = event.FaultLost
	case event.TaskReleased:
		b.Fault = r.fault
	}
	r.record(b)
}

func (r *checkedSchedule) finish(p TaskProgress) {
	r.t.Helper()
	r.give(p, event.TaskDone)
	r.record(event.TaskMerged{Task: p.ID, Commit: "m-" + p.ID})
}

func (r *checkedSchedule) want(states map[string]State) {
	r.t.Helper()
	for id, want := range states {
		if p, ok := r.s.Task(id); !ok || p.State != want {
			r.t.Fatalf("task %s is %q, want %s", id, p.State, want)
		}
	}
}

// SPEC 14.2: the task that most waits behind comes first, then the first planned.
func TestLongestWayFirst(t *testing.T) {
	r := &checkedSchedule{t: t}
	big := task("big")
	big.Size = 4
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("short"), task("c", "b"), task("b", "a"), task("a"), big, task("alike")}})
	for _, want := range []string{"big", "a", "short", "alike"} {
		if p := r.take("w"); p.ID != want {
			t.Fatalf("%s is taken, want %s", p.ID, want)
		}
	}
	if p, err := r.s.Next("", 0); err == nil {
		t.Errorf("%s is ready: it waits for a", p.ID)
	}
}

// SPEC 14.6: a result of a lease that is over changes nothing.
func TestOldLeaseIsRefused(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a")}})
	old := r.take("w1")
	r.give(old, event.TaskExpired)
	now := r.take("w2")
	for _, fence := range []int64{old.Lease.Fence, 0, -1, now.Lease.Fence + 1} {
		if err := r.s.Accepts("a", fence); !errors.Is(err, ErrStale) {
			t.Errorf("a result of lease %d is taken: %v", fence, err)
		}
	}
	r.give(old, event.TaskDone)
	r.want(map[string]State{"a": Taken})
	r.give(now, event.TaskDone)
	r.give(now, event.TaskDone) // delivered twice
	if p, ok := r.s.Merge(); !ok || p.Result.Worker != "w2" {
		t.Errorf("the result of %q is merged", p.Result.Worker)
	}
	r.record(event.TaskMerged{Task: "a", Commit: "m"})
	if _, ok := r.s.Merge(); ok {
		t.Error("a result is merged twice")
	}
	r.want(map[string]State{"a": Merged})
	if err := r.s.Accepts("nobody", 1); !errors.Is(err, ErrStale) {
		t.Errorf("a result of no task: %v", err)
	}
}

func TestFailuresEndWhatWaits(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a"), task("b", "a"), task("c", "b"), task("d")}})
	for range Tries {
		p := r.take("w")
		if p.ID != "a" {
			t.Fatalf("%s is taken", p.ID)
		}
		r.give(p, event.TaskFailed)
	}
	r.want(map[string]State{"a": Failed, "b": Skipped, "c": Skipped, "d": Ready})
	r.finish(r.take("w"))
	if !r.s.Over() {
		t.Error("work is left where none can be done")
	}
}

// A conflict is a task of its own, and what waits for the first waits for it.
func TestConflictIsATask(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a"), task("b", "a")}})
	a := r.take("w")
	r.give(a, event.TaskDone)
	conflict := func(id string) string {
		p, _ := r.s.Task(id)
		by := r.s.Resolve(p, []string{"x.go"}, "+line\n")
		r.record(event.SwarmPlanned{Tasks: []event.Task{by}})
		r.record(event.TaskConflicted{Task: id, Files: []string{"x.go"}, By: by.ID})
		return by.ID
	}
	first := conflict("a")
	r.want(map[string]State{"a": Conflicted, first: Ready, "b": Waiting})
	m := r.take("w")
	r.give(m, event.TaskDone)
	second := conflict(first) // its merge conflicts again
	r.finish(r.take("w"))
	r.want(map[string]State{"a": Merged, first: Merged, second: Merged, "b": Ready})

	r.give(r.take("w"), event.TaskDone)
	third := conflict("b")
	r.give(r.take("w"), event.TaskStopped) // once more, with what was seen
	r.want(map[string]State{"b": Conflicted, third: Ready})
	r.give(r.take("w"), event.TaskStopped)
	r.want(map[string]State{"b": Failed, third: Failed})
}

// Whatever happens, no task is merged twice or before what it waits for, no
// result of an old lease counts, the work comes to an end, and a replay of the
// log is the same state.
func TestAnyLife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &checkedSchedule{t: t}
		n := rapid.IntRange(1, 12).Draw(t, "tasks")
		var tasks []event.Task
		for i := range n {
			x := task(fmt.Sprintf("t%d", i))
			x.Size = rapid.IntRange(0, 5).Draw(t, "size")
			x.Review = rapid.Bool().Draw(t, "review")
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					x.After = append(x.After, fmt.Sprintf("t%d", j))
				}
			}
			tasks = append(tasks, x)
		}
		if err := (Graph{Tasks: tasks}).Check(); err != nil {
			t.Fatalf("the graph is refused: %v", err)
		}
		r.record(event.SwarmPlanned{Tasks: tasks})
		merged := map[string]int{}
		var leases []TaskProgress // also those that are over
		for step := 0; !r.s.Over(); step++ {
			if _, stalled := r.s.Stalled(); stalled && r.s.Count(Taken)+r.s.Count(Returned) == 0 {
				r.record(event.SwarmResumed{})
			}
			if step > 500 {
				t.Fatalf("no end")
			}
			next := rapid.IntRange(0, 6).Draw(t, "step")
			r.fault = rapid.SampledFrom([]event.TaskFault{event.FaultProvider, event.FaultMachine, event.FaultTool, event.FaultDrained, event.FaultNetwork, event.FaultBudget}).Draw(t, "fault")
			if step > 300 { // what is drawn need not lead anywhere
				next = []int{0, 2, 4}[step%3]
			}
			switch next {
			case 0, 1:
				if p, err := r.s.Next("", 0); err == nil {
					for _, id := range p.After {
						if merged[id] == 0 {
							t.Fatalf("%s is ready before %s is merged", p.ID, id)
						}
					}
					leases = append(leases, r.take("w"))
				}
			case 2, 3:
				if len(leases) > 0 {
					p := rapid.SampledFrom(leases).Draw(t, "lease")
					if taken := r.s.Taken(); step > 300 && len(taken) > 0 {
						p = taken[0]
					}
					before, _ := r.s.Task(p.ID)
					r.give(p, rapid.SampledFrom([]event.TaskEnd{event.TaskDone, event.TaskDone, event.TaskDone, event.TaskFailed, event.TaskStopped, event.TaskExpired, event.TaskReleased}).Draw(t, "end"))
					after, _ := r.s.Task(p.ID)
					if before.Lease.Fence != p.Lease.Fence && after.State != before.State {
						t.Fatalf("an old lease moved %s from %s to %s", p.ID, before.State, after.State)
					}
				}
			case 4:
				for _, p := range r.s.Tasks() {
					if step > 300 && p.InReview() {
						r.record(event.TaskSteered{ID: fmt.Sprint("last", step), Task: p.ID, Do: event.OrderAccept})
					}
				}
				if p, ok := r.s.Merge(); ok {
					r.record(event.TaskMerged{Task: p.ID, Commit: "m"})
					merged[p.ID]++
					for p.Resolves != "" {
						merged[p.Resolves]++
						p, _ = r.s.Task(p.Resolves)
					}
				}
			case 6:
				o := event.TaskSteered{
					ID: fmt.Sprint(step), Task: rapid.SampledFrom(r.s.Tasks()).Draw(t, "of").ID, Text: "do",
					Do: rapid.SampledFrom([]event.TaskOrder{event.OrderMessage, event.OrderRetry, event.OrderEdit, event.OrderCancel, event.OrderAccept}).Draw(t, "order"),
				}
				before := r.s.Tasks()
				refused := r.s.Refuses(o)
				r.record(o)
				if refused != nil && r.s.Steered(o.ID) {
					t.Fatalf("it was refused, and done: %v", refused)
				}
				for i, p := range r.s.Tasks() {
					if before[i].State == Merged && p.State != Merged {
						t.Fatalf("%s was merged, and is %s", p.ID, p.State)
					}
				}
			case 5:
				if p, ok := r.s.Merge(); ok && len(r.log) < 100 {
					by := r.s.Resolve(p, nil, "")
					r.record(event.SwarmPlanned{Tasks: []event.Task{by}})
					r.record(event.TaskConflicted{Task: p.ID, By: by.ID})
				}
			}
		}
		for id, times := range merged {
			if times != 1 {
				t.Fatalf("%s was merged %d times", id, times)
			}
		}
		var again Schedule
		for _, e := range r.log {
			again.Apply(e)
		}
		sum := 0
		for _, p := range r.s.Tasks() {
			sum++
			q, _ := again.Task(p.ID)
			if p.State != q.State || p.Tries != q.Tries || p.Commit != q.Commit {
				t.Fatalf("%s: %s after %d tries, replayed %s after %d", p.ID, p.State, p.Tries, q.State, q.Tries)
			}
			if !p.State.Final() {
				t.Fatalf("%s is %s at the end", p.ID, p.State)
			}
			if (p.State == Merged) != (merged[p.ID] == 1) {
				t.Fatalf("%s is %s and was merged %d times", p.ID, p.State, merged[p.ID])
			}
		}
		if total := r.s.Count(Merged) + r.s.Count(Failed) + r.s.Count(Skipped) + r.s.Count(Cancelled); total != sum || sum != r.s.Len() {
			t.Fatalf("%d tasks are over, %d exist", total, sum)
		}
	})
}

func BenchmarkSchedule(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var tasks []event.Task
			for i := range n {
				x := task(fmt.Sprintf("t%d", i))
				if i >= 16 {
					x.After = []string{fmt.Sprintf("t%d", i-16)}
				}
				tasks = append(tasks, x)
			}
			for b.Loop() {
				r := &checkedSchedule{t: b}
				r.record(event.SwarmPlanned{Tasks: tasks})
				for !r.s.Over() {
					r.finish(r.take("w"))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}
