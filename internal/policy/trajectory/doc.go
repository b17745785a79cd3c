// Package trajectory reads the runs of other agents for the stuck detector
// (SPEC 6.8, 6.10): it converts a Call of any agent into a progress.Step, and
// judges recorded runs in the neutral format step by step.
//
// KindOf guesses what a tool does from its name, since other agents' tools do
// not declare it; pawl's own tools do.
package trajectory
