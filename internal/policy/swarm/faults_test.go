package swarm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func (r *checkedSchedule) fail(p TaskProgress, f event.TaskFault, why string) {
	r.t.Helper()
	end := event.TaskReleased
	switch f {
	case event.FaultTask:
		end = event.TaskFailed
	case event.FaultLost:
		end = event.TaskExpired
	}
	r.record(event.TaskReturned{Task: p.ID, Worker: p.Lease.Worker, Fence: p.Lease.Fence, Outcome: end, Fault: f, Error: why})
}

// SPEC 14.2: only the task's own fault uses up a try. Whatever else fails, and however
// often: the task goes back to the queue, or waits until the swarm is resumed.
func TestOnlyItsOwnFaultUsesUpATry(t *testing.T) {
	for _, f := range []event.TaskFault{
		event.FaultBudget, event.FaultProvider, event.FaultNetwork, event.FaultMachine, event.FaultTool,
		event.FaultLost, event.FaultCoordinator, event.FaultDrained,
	} {
		for _, machine := range []string{"", "m"} {
			r := &checkedSchedule{t: t}
			r.record(event.SwarmPlanned{Tasks: []event.Task{task("a"), task("b", "a")}})
			pauses := 0
			for range 40 {
				if why, stalled := r.s.Stalled(); stalled {
					if why.Fault != f || !strings.Contains(why.Error, "it is down") {
						t.Errorf("%s on %q: it pauses for %+v", f, machine, why)
					}
					r.record(why)
					pauses++
					r.record(event.SwarmResumed{})
				}
				p, err := r.s.Next(machine, 1000)
				if err != nil {
					t.Fatalf("%s on %q: %v", f, machine, err)
				}
				r.record(event.TaskTaken{Task: p.ID, Worker: "w", Fence: r.s.Fence(), Machine: machine})
				p, _ = r.s.Task(p.ID)
				r.fail(p, f, "it is down")
			}
			for _, p := range r.s.Tasks() {
				if p.State.Final() || p.Tries != 0 {
					t.Errorf("%s on %q: %s is %s after %d tries", f, machine, p.ID, p.State, p.Tries)
				}
			}
			if endless := f == event.FaultCoordinator || f == event.FaultDrained; (pauses == 0) != endless {
				t.Errorf("%s on %q: it paused %d times", f, machine, pauses)
			}
		}
	}
}

// A provider that is down fails all workers at once, which counts once; after each rest
// one worker tries, and its success ends the outage.
func TestOutage(t *testing.T) {
	r := &checkedSchedule{t: t}
	var tasks []event.Task
	for i := range 20 {
		tasks = append(tasks, task(fmt.Sprint("t", i)))
	}
	r.record(event.SwarmPlanned{Tasks: tasks})
	var all []TaskProgress
	for range 16 {
		all = append(all, r.take("w"))
	}
	for _, p := range all {
		r.fail(p, event.FaultProvider, "no answer")
	}
	if rest, n := r.s.Rest(); n != 1 || rest != time.Second {
		t.Errorf("16 failures at once are %d in a row, with a rest of %s", n, rest)
	}
	if n := r.s.Offers(0); n != 1 {
		t.Errorf("%d workers try after it", n)
	}
	p := r.take("w")
	if n := r.s.Offers(0); n != 0 {
		t.Errorf("%d more try beside the first", n)
	}
	r.fail(p, event.FaultProvider, "no answer")
	if rest, n := r.s.Rest(); n != 2 || rest != 2*time.Second {
		t.Errorf("%d in a row, a rest of %s", n, rest)
	}
	r.finish(r.take("w"))
	if rest, n := r.s.Rest(); n != 0 || rest != 0 || r.s.Offers(0) != 19 {
		t.Errorf("after a success: %d in a row, a rest of %s", n, rest)
	}
	var whole time.Duration
	for {
		if _, stalled := r.s.Stalled(); stalled {
			break
		}
		r.fail(r.take("w"), event.FaultProvider, "no answer")
		rest, _ := r.s.Rest()
		whole += rest
	}
	if whole < 2*time.Minute {
		t.Errorf("it gives up after %s", whole)
	}
}

// A machine that fails tasks which succeed elsewhere gets no more of them, and is named.
// One that only had a hard task is not.
func TestMachineIsSetAside(t *testing.T) {
	for _, fault := range []event.TaskFault{event.FaultTask, event.FaultTool, event.FaultMachine} {
		r := &checkedSchedule{t: t}
		r.record(event.SwarmPlanned{Tasks: []event.Task{task("a"), task("b"), task("c")}})
		for i, id := range []string{"a", "b"} {
			if why := r.s.Aside("bad"); why != "" {
				t.Fatalf("%s: after %d tasks: %s", fault, i, why)
			}
			r.fail(r.takeOn("bad", "w"), fault, "no cargo")
			if p, _ := r.s.Next("bad", 0); p.ID == id {
				t.Errorf("%s: it gets %s again", fault, id)
			}
			if p := r.takeOn("good", "w"); p.ID != id {
				t.Fatalf("another machine gets %s", p.ID)
			} else {
				r.finish(p)
			}
		}
		if why := r.s.Aside("bad"); !strings.Contains(why, "bad gets no more tasks") || r.s.Aside("good") != "" {
			t.Errorf("%s: bad: %q, good: %q", fault, why, r.s.Aside("good"))
		}
		r.record(event.SwarmResumed{})
		if why := r.s.Aside("bad"); why != "" {
			t.Errorf("after a resume: %s", why)
		}
	}
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a"), task("b"), task("c"), task("d")}})
	for range 2 {
		r.fail(r.takeOn("one", "w"), event.FaultTask, "no")
		r.finish(r.takeOn("two", "w"))
		r.finish(r.takeOn("one", "w")) // it can
	}
	if why := r.s.Aside("one"); why != "" {
		t.Error(why)
	}
}

// A machine gets a task that it failed only where nobody else takes it.
func TestFailedTaskGoesElsewhere(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a")}})
	r.fail(r.takeOn("one", "w"), event.FaultTask, "no")
	if _, err := r.s.Next("one", 0); err != ErrElsewhere {
		t.Errorf("%v", err)
	}
	if _, err := r.s.Next("two", 0); err != nil {
		t.Errorf("%v", err)
	}
	if p, err := r.s.Next("one", 1000); err != nil || p.ID != "a" {
		t.Errorf("%v", err)
	}
}

// Merges of one file by hand come one after another, and a result that changes it waits
// for the merge that is under way: each conflict costs one more task.
func TestMergesOfOneFileTakeTurns(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a"), task("b"), task("c"), task("d"), task("other")}})
	changes := func(p TaskProgress, file string) {
		r.record(event.TaskReturned{Task: p.ID, Fence: p.Lease.Fence, Outcome: event.TaskDone, Commit: "c", Files: []string{file}})
	}
	conflicts := func(id string) string {
		p, _ := r.s.Task(id)
		by := r.s.Resolve(p, []string{"log"}, "")
		r.record(event.SwarmPlanned{Tasks: []event.Task{by}})
		r.record(event.TaskConflicted{Task: id, Files: []string{"log"}, By: by.ID})
		return by.ID
	}
	a, b, c, d := r.take("w"), r.take("w"), r.take("w"), r.take("w")
	changes(a, "log")
	r.record(event.TaskMerged{Task: "a", Commit: "m"})
	changes(b, "log")
	first := conflicts("b")
	changes(c, "log")
	second := conflicts("c")
	other := r.take("w")
	if n := r.s.Offers(0); n != 2 {
		t.Errorf("%d may begin", n)
	}
	m := r.take("w")
	if p, err := r.s.Next("", 0); m.ID != first || err == nil {
		t.Errorf("%s runs beside %s", p.ID, m.ID)
	}
	if n := r.s.Offers(0); n != 0 {
		t.Errorf("%d may begin beside the merge", n)
	}
	changes(d, "log")
	if p, ok := r.s.Merge(); ok {
		t.Errorf("%s is merged while %s merges its file by hand", p.ID, m.ID)
	}
	changes(other, "another file")
	if p, ok := r.s.Merge(); !ok || p.ID != "other" {
		t.Error("a result of other files waits")
	}
	changes(m, "log")
	r.record(event.TaskMerged{Task: "other", Commit: "m2"})
	if p, ok := r.s.Merge(); !ok || p.ID != "d" {
		t.Errorf("%s is next", p.ID)
	}
	r.record(event.TaskMerged{Task: "d", Commit: "m3"})
	r.record(event.TaskMerged{Task: first, Commit: "m4"})
	if p := r.take("w"); p.ID != second {
		t.Errorf("%s is taken", p.ID)
	}
}

// A worker that went in circles is followed by one that is told of it, once.
func TestStoppedIsTriedOnceMore(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a")}})
	p := r.take("w")
	r.record(event.TaskReturned{Task: "a", Fence: p.Lease.Fence, Outcome: event.TaskStopped, Error: "curl api was made over and over"})
	p, err := r.s.Next("", 0)
	if err != nil || !strings.Contains(Prompt(&r.s, &Lessons{}, p), "curl api was made over and over") {
		t.Fatalf("%v: %s", err, Prompt(&r.s, &Lessons{}, p))
	}
	r.give(r.take("w"), event.TaskStopped)
	r.want(map[string]State{"a": Failed})
}

// SPEC 14.2: each machine is listed with what it does and did.
func TestMachines(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a"), task("b"), task("c")}})
	take := func(machine string) TaskProgress {
		p := must.Get(r.s.Next(machine, 1000))(t)
		r.record(event.TaskTaken{Task: p.ID, Worker: "w", Fence: r.s.Fence(), Machine: machine})
		p, _ = r.s.Task(p.ID)
		return p
	}
	done := take("m1")
	r.record(event.TaskReturned{Task: done.ID, Worker: "w", Fence: done.Lease.Fence, Outcome: event.TaskDone})
	r.fail(take("m2"), event.FaultLost, "it is gone")
	take("m2")
	take("") // this machine is none
	want := []Machine{{Name: "m1", Done: 1}, {Name: "m2", Works: 1, Failed: 1}}
	if got := r.s.Machines(); !slices.Equal(got, want) {
		t.Errorf("%+v, not %+v", got, want)
	}
}

// SPEC 14.2: a task goes only to a machine that has what it needs, and one whose checks need
// a program that a machine lacks goes to another one, even if that is at work now.
func TestTaskNeeds(t *testing.T) {
	r := &checkedSchedule{t: t}
	a, b := task("a"), task("b")
	a.Labels = []string{"linux", "cargo"}
	r.record(event.SwarmPlanned{Tasks: []event.Task{a, b}})
	if p, err := r.s.Next("m1", 1000, "linux"); err != nil || p.ID != "b" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err := r.s.Next("m1", 0, "cargo", "linux")
	if err != nil || p.ID != "a" {
		t.Fatalf("%+v, %v", p, err)
	}
	take := func(id, machine string) TaskProgress {
		r.record(event.TaskTaken{Task: id, Worker: "w", Fence: r.s.Fence(), Machine: machine})
		p, _ := r.s.Task(id)
		return p
	}
	take("b", "m2") // it is at work
	r.fail(take("a", "m1"), event.FaultTool, "no cc")
	if _, err := r.s.Next("m1", 1000, "cargo", "linux"); !errors.Is(err, ErrElsewhere) {
		t.Errorf("it gets it again while another one works: %v", err)
	}
	if p, err := r.s.Next("m2", 0, "cargo", "linux"); err != nil || p.ID != "a" {
		t.Errorf("%+v, %v", p, err)
	}
}

// SPEC 14.2: a program that one machine lacks counts as that, and not as the third of what
// went wrong elsewhere: a machine that has it may still do the task.
func TestOneMachineLacksAProgram(t *testing.T) {
	r := &checkedSchedule{t: t}
	r.record(event.SwarmPlanned{Tasks: []event.Task{task("a")}})
	for i, fault := range []event.TaskFault{event.FaultLost, event.FaultMachine, event.FaultTool, event.FaultTool, event.FaultTool} {
		if why, stalled := r.s.Stalled(); stalled {
			t.Fatalf("after %d setbacks: %+v", i, why)
		}
		r.fail(r.takeOn(fmt.Sprint("m", i), "w"), fault, "no grep")
	}
	if _, stalled := r.s.Stalled(); !stalled {
		t.Error("three machines lack it, and it goes on")
	}
}
