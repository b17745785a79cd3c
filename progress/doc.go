// Package progress tells an agent's run that gets somewhere from one that only
// moves, for any agent written in Go. It is the detector of pawl.
//
// # In ten minutes
//
// One StateMachine a session. After each tool call, record it; before the next
// request, do what is due:
//
//	sm := progress.NewStateMachine(progress.Config{SessionID: id, Context: ctx})
//	…
//	v := sm.Record(progress.Step{
//		Tool: call.Name, Args: string(call.Arguments), // JSON, as the model gave it
//		OK: err == nil, Result: output,
//		ContentHash: hashOf(path), // of the file that it edited; "" for other calls
//	})
//	switch v.Due {
//	case progress.Tell: // add to the next request: "You are going in circles: " + v.Text
//	case progress.Block: // the same, and do not run this call again for now
//	case progress.Stop: // end the run, or ask the person
//	}
//
// And two calls at the places where repetition is not a loop:
//
//	sm.PersonSpoke(text) // a person's message: all is forgiven
//	sm.Compacted()       // you cut the model's context: it may read again
//
// That is all. What more you give makes it see more, in this order: the hashes of
// files that a command changed (Contents), what the model said with the call
// (Message), and a Kind where the tool's name and arguments do not show what it
// does. v.Steps are the steps that prove the loop, counted from 0: quote their
// calls to the model, since a loop that is shown is left more often than one
// that is claimed. v.Fingerprint is the same for the same loop.
//
// If you neither tell nor block, use v.Level: Warn means that the agent needs
// help, Halt that more steps are waste. IsStuck returns the same as a bool, and
// OnStuck sets a function to call.
//
// # What counts
//
// A content never seen before for a file is progress, and so is a result never
// seen before. A content that comes back, and a result that was seen, are not,
// whatever the call is named. An edit is not required: who reads and finds is
// not stuck. So give Result and ContentHash where you can: RecordToolCall alone
// knows neither, and what it records as successful can therefore warn and never
// halt.
//
// Give results and errors as they are. Times, durations, rates, addresses,
// short-lived ports, temporary paths, process numbers, ids, colours, progress
// bars, and what agents put around a result (exit codes, the working folder, a
// JSON object) are left out; in errors digits are masked as well and paths cut
// to their base names. All other digits count: a counter that moves is progress.
//
// Waiting is told by the command (sleep and look) or the tool's name, and is
// given much longer. A limit of a host (429) warns and never halts. What a person
// asked to repeat ("run it 50 times") is not a loop.
//
// What it can not see: edits that always make new content and never help. A test
// that fails the same way after each of them warns, and no more: some runs that
// look so find the way out.
//
// # What it promises
//
// A run that keeps bringing new content is never halted, however long. A step
// costs the same after 100,000 others, and memory is bounded. A StateMachine is
// safe for concurrent use. Callbacks are called one at a time and in order,
// outside any lock, by the goroutine that caused them or another one that
// records at the same time; they may call back. A panic in one is logged and
// stops nothing.
//
// It reads no clock but for phases and elapsed time, starts no goroutine and
// does no I/O.
package progress
