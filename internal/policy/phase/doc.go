// Package phase maintains the phases of a task (SPEC 7): parts that the model
// opens with its plan, a person with /phase, or a plan file.
//
// List has the phases: numbers, times, files, tests, blockers and totals. Fold
// derives a List from a session's events. ParsePlan reads a plan file.
// Promises: opening the next phase completes the one before; completing twice
// has no further effect; nothing is counted twice; a refused operation changes
// nothing; history and lists have limits. A phase that takes longer than
// expected is reported and never stopped.
package phase
