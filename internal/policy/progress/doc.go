// Package progress tells a run that gets somewhere from one that only moves:
// forward is free, slipping back is caught (SPEC 6).
//
// It knows steps: what a call was, what it was given, what came back and what
// content it left, as hashes. From them it makes verdicts (none, warn,
// halt), each by a named rule and with evidence; a ladder turns verdicts into
// what is done about them (recovery, block, halt); statistics are kept beside.
// Fold makes steps of a session's events and keeps the phases (package phase).
// Texts are compared as package normalize has them; steps of other agents come
// from package trajectory.
//
// Promises: a run that keeps bringing file content never seen before is never
// halted; the cost of a step does not depend on how many came before, and what
// is remembered is bounded; the same steps give the same verdicts. Refused:
// I/O, clocks, randomness, and reading a model's words for what they claim.
package progress
