// Package swarm is the judgement of a swarm (SPEC 14): many workers on one
// task.
//
// Graph is the work cut into tasks; Check refuses one that cannot be run.
// Schedule is a fold over the swarm's log: which task is taken next, whose
// result counts, what is merged next. Lessons is what workers learn of each
// other: failures, what they imply, references. Circles finds workers that go
// in circles together. Prompt is what a worker is told.
//
// It is pure: no clock, no goroutine, no file. Leases end by an event that the
// coordinator records, never by themselves. Nothing in here is safe for
// concurrent use. Text of models and tools goes through it unchanged: whoever
// shows it sanitises it.
package swarm

import "errors"

// ErrStale is matched by the error for a result of a lease that is over.
var ErrStale = errors.New("the lease is over")
