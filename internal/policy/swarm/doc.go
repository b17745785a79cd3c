// Package swarm decides for a swarm (SPEC 14): many workers on one task.
//
// Graph is the work, divided into tasks. Check refuses a graph that cannot be run.
// Schedule is a fold over the swarm's log: which task is taken next, whose result
// counts, what is merged next, what a person decided about a task. Lessons holds what workers learn from each other:
// failures, what they imply, references. Activity is a fold over a worker's log: its
// calls, and the files that it changed. LoopDetector finds workers that repeat the same call.
// Prompt returns a worker's prompt.
//
// The package is pure: no clock, no goroutine, no file. A lease ends only by an event
// that the coordinator records. Nothing here is safe for concurrent use. Text of models
// and tools stays unchanged: whoever shows it must sanitise it.
package swarm

import "errors"

// ErrStale is matched by the error for a result of a lease that has ended.
var ErrStale = errors.New("the lease is over")
