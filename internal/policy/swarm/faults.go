package swarm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// This file decides what follows from a lease that ended for a reason outside its task.
// Such an end uses up no try: the task goes back to the queue. But what does not get
// better must not be tried for ever, so each reason has its limit. After it the swarm
// pauses and says why, until it is resumed.

const (
	// mostSetbacks is how often one task is returned for reasons outside it (a machine,
	// a network, a lost worker) before it is put aside: it may be the cause.
	mostSetbacks = 8
	// mostWithoutTool is how many machines may lack a tool that a task's checks need.
	mostWithoutTool = 3
	// mostOutages is how often in a row the provider may fail for everybody. The rests
	// between them are two minutes together.
	mostOutages = 8
	// mostHere is how often in a row this machine may be unable to do a task.
	mostHere = 3
	// proofs is how many tasks a machine must fail that then succeed on others, without
	// a success of its own in between, before it gets no more.
	proofs = 2

	restLeast = time.Second
	restMost  = time.Minute
)

// outage is what fails for all workers in a row.
type outage struct {
	n     int
	fence int64 // leases up to this one began before the newest failure was known
	last  event.TaskReturned
}

// machine is what is known of one machine.
type machine struct {
	done   int
	lost   int             // leases that ended otherwise
	failed map[string]bool // tasks since its last success
	proven int             // how many of them succeeded on another one
	aside  string          // why it gets no more tasks; "" if it does
}

// setBack returns a task that failed for a reason outside it to the queue.
func (s *Schedule) setBack(t *TaskProgress, b event.TaskReturned) {
	switch b.Fault {
	case event.FaultBudget:
		s.spent = &b
	case event.FaultProvider, event.FaultMachine, event.FaultTool, event.FaultNetwork, event.FaultLost:
		here := t.Lease.Machine == ""
		if everybody := b.Fault == event.FaultProvider || here && b.Fault != event.FaultTool; everybody && b.Fence > s.outage.fence {
			s.outage = outage{n: s.outage.n + 1, fence: s.fence, last: b}
		}
		t.Setbacks++
		if b.Fault == event.FaultTool { // a try costs what a success costs
			t.lacks++
		}
		if t.Setbacks >= mostSetbacks || t.lacks >= mostWithoutTool || t.lacks > 0 && here {
			s.set(t, Parked)
			return
		}
	}
	s.set(t, Ready)
}

// judge learns about the machine of a lease from its end.
func (s *Schedule) judge(t *TaskProgress, b event.TaskReturned) {
	if b.Outcome == event.TaskDone || b.Outcome == event.TaskFailed || b.Outcome == event.TaskStopped {
		s.outage = outage{} // the model answered
	}
	name := t.Lease.Machine
	if name == "" {
		return
	}
	if s.machines == nil {
		s.machines = map[string]*machine{}
	}
	m := s.machines[name]
	if m == nil {
		m = &machine{}
		s.machines[name] = m
	}
	if b.Outcome == event.TaskDone {
		m.done++
	} else {
		m.lost++
	}
	switch {
	case b.Outcome == event.TaskDone:
		m.failed, m.proven = nil, 0
		for other, o := range s.machines {
			if !o.failed[t.ID] {
				continue
			}
			delete(o.failed, t.ID)
			if o.proven++; o.proven >= proofs && o.aside == "" {
				o.aside = fmt.Sprintf("%s gets no more tasks: it failed %d tasks that succeeded elsewhere", other, o.proven)
			}
		}
	case b.Outcome == event.TaskFailed || b.Outcome == event.TaskStopped || b.Fault == event.FaultMachine || b.Fault == event.FaultTool:
		if m.failed == nil {
			m.failed = map[string]bool{}
		}
		m.failed[t.ID] = true
		if t.failedOn == nil {
			t.failedOn = map[string]int{}
		}
		t.failedOn[name] = patience
		if b.Fault == event.FaultTool {
			t.failedOn[name] = toolPatience
		}
	}
}

// Aside says why a machine gets no more tasks; "" if it does.
func (s *Schedule) Aside(name string) string {
	if m := s.machines[name]; m != nil {
		return m.aside
	}
	return ""
}

// AllAside returns why machines get no more tasks, one text for each.
func (s *Schedule) AllAside() (out []string) {
	for _, m := range s.machines {
		if m.aside != "" {
			out = append(out, m.aside)
		}
	}
	slices.Sort(out)
	return out
}

// Machine is what a swarm knows of one of its machines since it was started or resumed.
type Machine struct {
	Name   string `json:"name"`
	Works  int    `json:"works"`  // tasks that it works on
	Done   int    `json:"done"`   // tasks
	Failed int    `json:"failed"` // leases that ended otherwise
	Aside  string `json:"aside,omitempty"`
}

// Machines returns the machines that had a lease, by name. This machine has none.
func (s *Schedule) Machines() []Machine {
	by := map[string]*Machine{}
	of := func(name string) *Machine {
		if by[name] == nil {
			by[name] = &Machine{Name: name}
		}
		return by[name]
	}
	for name, m := range s.machines {
		*of(name) = Machine{name, 0, m.done, m.lost, m.aside}
	}
	for t := range s.taken {
		if t.Lease.Machine != "" {
			of(t.Lease.Machine).Works++
		}
	}
	var out []Machine
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}

// Rest returns how long no task is taken after the newest failure of what all workers
// need, and the number of such failures in a row. After a rest one worker tries first.
func (s *Schedule) Rest() (rest time.Duration, n int) {
	if s.outage.n == 0 {
		return 0, 0
	}
	return min(restMost, restLeast<<(s.outage.n-1)), s.outage.n
}

// Stalled returns why no task can be taken until something outside the tasks changes and
// the swarm is resumed; ok is false if one can.
func (s *Schedule) Stalled() (why event.SwarmPaused, ok bool) {
	most := mostOutages
	if s.outage.last.Fault != event.FaultProvider {
		most = mostHere
	}
	switch {
	case s.Ended != nil:
		return why, false
	case s.spent != nil:
		why = event.SwarmPaused{Fault: event.FaultBudget, Error: s.spent.Error}
	case s.outage.n >= most:
		why = event.SwarmPaused{Fault: s.outage.last.Fault, Error: s.outage.last.Error}
	case s.count[Ready]+s.count[Taken]+s.count[Returned] == 0 && s.count[Parked] > 0:
		var texts []string
		for _, t := range s.tasks {
			if t.State == Parked {
				why.Fault = t.Result.Fault
				texts = append(texts, fmt.Sprintf("task %s was returned %d times, the last time since %s", t.ID, t.Setbacks, t.Result.Error))
			}
		}
		why.Error = strings.Join(texts[:min(len(texts), 3)], "; ")
		if more := len(texts) - 3; more > 0 {
			why.Error += fmt.Sprintf("; and %d more", more)
		}
	default:
		return why, false
	}
	why.Commit = s.tip
	return why, true
}

// Held reports whether something waits for a SwarmResumed.
func (s *Schedule) Held() bool {
	_, stalled := s.Stalled()
	return s.Ended == nil && (stalled || s.Paused != nil || s.count[Parked] > 0 || len(s.AllAside()) > 0)
}

// resumed forgets what failed outside the tasks: it may have changed.
func (s *Schedule) resumed() {
	s.Paused, s.spent, s.outage, s.machines = nil, nil, outage{}, nil
	for _, t := range s.tasks {
		t.failedOn = nil
		t.Setbacks, t.lacks = 0, 0
		if t.State == Parked {
			s.set(t, Ready)
		}
	}
}
