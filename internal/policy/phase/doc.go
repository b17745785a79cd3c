// Package phase keeps the phases of a task (SPEC 7): parts that the model opens
// with its plan, a person with /phase, or a plan file.
//
// List is the phases themselves: numbers, times, files, tests, blockers and
// totals. Fold derives a List from a session's events. ParsePlan reads a plan
// file. Promises: opening the next phase completes the one before; completing
// twice is completing once; nothing is counted twice; what is refused changes
// nothing; history and lists are bounded. A phase that takes longer than
// expected is reported and never stopped.
package phase
