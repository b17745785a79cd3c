// Package progress distinguishes runs that make progress from runs that go in
// circles: progress is free, a loop is caught (SPEC 6).
//
// Its input is steps: the kind of a call, and hashes of its arguments, of its
// result and of the content that the call left. Rules produce verdicts from them
// (none, warn, halt), each with the rule's name and evidence; an escalation turns
// verdicts into actions (recovery, block, halt). The package also keeps
// statistics. Fold makes steps from a session's events and maintains the phases
// (package phase).
// Package normalize prepares texts for comparison; package trajectory makes
// steps from other agents' runs.
//
// Promises: a run that keeps producing new file contents is never halted; the
// cost of a step does not depend on the number of steps before it, and memory
// is bounded; the same steps lead to the same verdicts. Refused: I/O, clocks,
// randomness, and trusting a model's claims.
package progress
