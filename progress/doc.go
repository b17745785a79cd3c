// Package progress tells an agent's run that gets somewhere from one that only
// moves, for any agent written in Go. It is the detector of pawl.
//
// # In ten minutes
//
// Make one StateMachine per session, record every tool call with its result,
// and look at what comes back:
//
//	sm := progress.NewStateMachine(progress.Config{SessionID: id, Context: ctx})
//	…
//	v := sm.Record(progress.Step{
//		Tool: "edit", Kind: progress.Edit, Target: "main.go",
//		Args: string(call.Arguments), Result: output, OK: err == nil, Error: errText,
//		ContentHash: hashOf("main.go"), // after the edit
//	})
//	switch v.Level {
//	case progress.Warn: // tell the model: v.Text and the steps v.Steps
//	case progress.Halt: // stop, or ask the person
//	}
//
// Say PersonSpoke when a person's message comes, and Compacted when you cut the
// model's context; both forgive repetition that is no loop.
//
// # What counts
//
// A content never seen before for a file is progress, and so is a result never
// seen before. A content that comes back, and a result that was seen, are not,
// whatever the call is named. So give Result and ContentHash where you can:
// RecordToolCall alone knows neither, and what it records as successful can
// therefore warn and never halt.
//
// Give results and errors as they are. Times, durations, addresses, temporary
// paths, process numbers and ids in them are dropped; in errors digits are
// masked as well and paths cut to their base names.
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
