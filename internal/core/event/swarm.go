package event

import "time"

// Task is one task of a swarm: the instructions for a worker, and the commands
// that decide whether it is done.
type Task struct {
	ID    string `json:"id" jsonschema:"a short name, unique in the graph: letters, digits, - and _"`
	Title string `json:"title,omitempty" jsonschema:"one line for people"`
	Goal  string `json:"goal" jsonschema:"what is to be done, told to the worker"`
	// After lists the tasks whose merged results this one builds on.
	After []string `json:"after,omitempty" jsonschema:"ids of tasks that must be merged first"`
	// Accept are command lines. Each must succeed in the task's own tree before
	// its result is taken.
	Accept []string `json:"accept" jsonschema:"command lines that must succeed before the result is taken"`
	// Size is the amount of work relative to other tasks; 0 counts as 1.
	Size  int    `json:"size,omitempty" jsonschema:"how much work it is beside the others, 1 to 1000; 1 if absent"`
	Agent string `json:"agent,omitempty" jsonschema:"the kind of agent that works on it"`
	Model string `json:"model,omitempty" jsonschema:"the model that works on it"`
	// Timeout is how long one worker may take, as time.ParseDuration reads it.
	Timeout string `json:"timeout,omitempty" jsonschema:"how long one try may take, such as 30m; 2h if absent"`
	// Setup are command lines that make a fresh copy of the files ready for work and
	// checks. If one fails, it is the machine's fault.
	Setup []string `json:"setup,omitempty" jsonschema:"command lines that run in each fresh copy of the files first, such as npm ci"`
	// Labels are what a machine must have to take the task.
	Labels []string `json:"labels,omitempty" jsonschema:"what the machine must have: its labels, system, processor and programs, such as linux, gpu, cargo"`
	// Review: a person must accept its result before it is merged.
	Review bool `json:"review,omitempty" jsonschema:"its result waits until you accept it: pawl swarm accept"`
	// Resolves names the task whose result could not be merged; this task merges
	// it by hand.
	Resolves string `json:"resolves,omitempty" jsonschema:"-"`
}

// SwarmPlanned begins a swarm, or adds tasks to it.
type SwarmPlanned struct {
	Goal   string   `json:"goal,omitempty"`
	Base   string   `json:"base,omitempty"` // the commit that everything starts from
	Tasks  []Task   `json:"tasks"`
	Verify []string `json:"verify,omitempty"` // command lines that the merged tree must pass
}

// TaskTaken leases a task to a worker.
type TaskTaken struct {
	Task   string `json:"task"`
	Worker string `json:"worker"`
	// Fence is higher than that of every earlier lease. A result with another
	// fence belongs to a lease that has ended.
	Fence   int64     `json:"fence"`
	Until   time.Time `json:"until"`             // when the lease ends unless it is renewed
	Base    string    `json:"base,omitempty"`    // the commit that the worker starts from
	Machine string    `json:"machine,omitempty"` // where the worker runs; empty: on the swarm's own machine
}

// TaskReturned ends a lease.
type TaskReturned struct {
	Task    string      `json:"task"`
	Worker  string      `json:"worker"`
	Fence   int64       `json:"fence"`
	Outcome TaskEnd     `json:"outcome"`
	Commit  string      `json:"commit,omitempty"`  // the result; empty if nothing changed
	Session string      `json:"session,omitempty"` // the worker's log
	Model   string      `json:"model,omitempty"`
	Error   string      `json:"error,omitempty"`
	Fault   TaskFault   `json:"fault,omitempty"` // whose fault it is that the task is not done
	Files   []string    `json:"files,omitempty"` // those that the result changes
	Checks  []TaskCheck `json:"checks,omitempty"`
	USD     *float64    `json:"usd,omitempty"` // nil: unknown
	Tokens  int64       `json:"tokens,omitempty"`
}

// TaskCheck is one command line that was run to check whether a task is done.
type TaskCheck struct {
	Command string        `json:"command"`
	Exit    *int          `json:"exit,omitempty"` // nil: it did not run to its end
	Took    time.Duration `json:"took"`
	Output  string        `json:"output,omitempty"` // the last part of the output
	// Missing is a program of the line that the machine does not have.
	Missing string `json:"missing,omitempty"`
}

// Passed reports whether it ran to its end and succeeded.
func (k TaskCheck) Passed() bool { return k.Exit != nil && *k.Exit == 0 }

// TaskEnd is how a lease ended.
type TaskEnd string

// The ends of a lease. Only failed and stopped are a fault of the task.
const (
	TaskDone    TaskEnd = "done"    // the acceptance checks passed
	TaskFailed  TaskEnd = "failed"  // they did not, or the worker gave up
	TaskExpired TaskEnd = "expired" // the worker did not report in time
	TaskStopped TaskEnd = "stopped" // since workers went in circles together
	// TaskReleased: the task goes back to the queue, for a reason outside it.
	TaskReleased TaskEnd = "released"
)

// TaskFault says whose fault it is that a lease ended without a result.
type TaskFault string

// The faults. Only that of the task uses up one of its tries.
const (
	FaultTask        TaskFault = "task"
	FaultBudget      TaskFault = "budget"      // the swarm's budget is used up
	FaultProvider    TaskFault = "provider"    // the model's provider did not answer
	FaultNetwork     TaskFault = "network"     // files did not come through
	FaultMachine     TaskFault = "machine"     // no key for the model, no room on the disk
	FaultTool        TaskFault = "tool"        // the machine lacks a program of an acceptance check
	FaultLost        TaskFault = "lost"        // the worker no longer answered
	FaultCoordinator TaskFault = "coordinator" // the swarm's own process was interrupted or killed
	FaultDrained     TaskFault = "drained"     // the worker was told to stop
	FaultTime        TaskFault = "time"        // the time of the whole swarm is up
	FaultPerson      TaskFault = "person"      // a person took it back
)

// TaskMerged: a result is in the merged tree.
type TaskMerged struct {
	Task   string `json:"task"`
	Commit string `json:"commit"` // of the merged tree
}

// TaskConflicted: a result could not be merged. By is the task that merges it.
type TaskConflicted struct {
	Task  string   `json:"task"`
	Files []string `json:"files,omitempty"`
	By    string   `json:"by"`
}

// TaskSteered: a person decided something about a task. What is recorded holds also
// after the death of the coordinator.
type TaskSteered struct {
	ID   string    `json:"id"` // of the order: one that arrives twice counts once
	Task string    `json:"task"`
	Do   TaskOrder `json:"do"`
	Text string    `json:"text,omitempty"` // the message, or the new goal
}

// TaskOrder is what a person decides about a task.
type TaskOrder string

// The orders. A worker that has the task is stopped, except by a message.
const (
	OrderMessage TaskOrder = "message" // tell its worker, now, and each later one
	OrderRetry   TaskOrder = "retry"   // do it anew, with all its tries
	OrderEdit    TaskOrder = "edit"    // do it anew, with another goal
	OrderCancel  TaskOrder = "cancel"  // do without it, and without what waits for it
	OrderAccept  TaskOrder = "accept"  // merge the result that was reviewed
)

// SwarmEnded ends a swarm.
type SwarmEnded struct {
	Outcome SwarmEnd    `json:"outcome"`
	Commit  string      `json:"commit,omitempty"` // of the merged tree
	Checks  []TaskCheck `json:"checks,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// SwarmEnd is how a swarm ended.
type SwarmEnd string

// The ends of a swarm.
const (
	SwarmVerified   SwarmEnd = "verified"   // all merged, and Verify passed
	SwarmUnverified SwarmEnd = "unverified" // all merged, and Verify failed
	SwarmIncomplete SwarmEnd = "incomplete" // tasks failed, or were never begun
	SwarmCancelled  SwarmEnd = "cancelled"
)

// SwarmPaused: nothing can go on until something outside the tasks changes. A
// SwarmResumed comes before what is taken next.
type SwarmPaused struct {
	Fault  TaskFault `json:"fault"`
	Error  string    `json:"error"`
	Commit string    `json:"commit,omitempty"` // of the tree that was merged until then
}

// SwarmResumed: what failed outside the tasks is tried anew.
type SwarmResumed struct{}
