// Package progress detects agent runs that go in circles, and leaves alone those
// that make progress. It is the detector of pawl, for any agent written in Go.
//
// # In ten minutes
//
// Make one StateMachine for each session. Record each tool call after it ran, and
// before the next request do what is due:
//
//	sm := progress.NewStateMachine(progress.Config{SessionID: id, Context: ctx})
//	…
//	v := sm.Record(progress.Step{ // or several: the calls of one reply
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
// Two more calls report events after which a repetition is not a loop:
//
//	sm.PersonSpoke(text) // a person's message resets the detection
//	sm.Compacted()       // you cut the model's context: it may read again
//
// That is all. More fields of Step make the detector see more, in this order: the
// hashes of files that a command changed (Contents), the model's text with the call
// (Message), and a Kind if the tool's name and arguments do not show what it does.
// v.Steps are the steps that prove the loop, counted from 0: quote their calls to
// the model, since a model leaves a loop more often if it sees the calls.
// v.Fingerprint is the same for the same loop.
//
// If you neither tell nor block, use v.Level: Warn means that the agent needs
// help, Halt that more steps are waste. IsStuck reports whether the run should
// stop, and Config.OnStuck is called for both.
//
// # What counts
//
// New content of a file is progress, and so is a new result. A content or a result
// that was there before is not, whatever the name of the call. Edits are not
// required: a run that reads and finds new things is not stuck. So set Result and
// ContentHash if you can. RecordToolCall has neither; it halts on errors that repeat
// (at the third there is a warning, at the fifth a halt) and on edits that go to and
// fro between two files (a warning at the fourth, a halt at the sixth).
//
// What was asked counts with what was answered: a question that was not asked before
// (about another file, program, host, id, page) is progress even if the answer is known,
// so a loop over a list is never stuck, whatever it finds, until it begins again.
// White space, comments that differ in a number, notes that the run writes for itself,
// and ids or times in an answer are neither progress nor a loop.
//
// Pass results and errors unchanged. Times, durations, rates, addresses,
// short-lived ports, temporary paths, process numbers, ids, colours, progress
// bars, and the text that agents put around a result (exit codes, the working
// folder, a JSON object) are ignored; in errors digits are masked as well and paths
// cut to their base names. All other digits count: a counter that moves is progress.
//
// Waiting is recognized by the command (sleep and look) or the tool's name, and may
// take much longer. A rate limit of a host (429) warns and never halts. Repetition
// that a person asked for ("run it 50 times") is not a loop.
//
// Not detected: edits that always make new content and never help. A test that
// fails the same way after each of them only warns: some such runs still succeed.
//
// # What it promises
//
// A run that keeps producing new content is never halted, however long it is. A
// step costs the same after 100,000 others, and memory is bounded. A StateMachine
// is safe for concurrent use. Callbacks are called one at a time and in order,
// outside any lock, by the goroutine that caused them or by another one that
// records at the same time; they may call the StateMachine. A panic in a callback
// is logged and has no other effect.
//
// The package reads the clock only for phases and elapsed time, starts no goroutine
// and does no I/O.
package progress
