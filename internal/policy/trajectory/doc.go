// Package trajectory reads the runs of other agents for the stuck detector
// (SPEC 6.8, 6.10): a Call in the words of any agent becomes a progress.Step,
// and recorded runs in the neutral format are judged step by step.
//
// KindOf guesses what a tool does from its name, since other people's tools do
// not say it; pawl's own tools carry the fact themselves.
package trajectory
