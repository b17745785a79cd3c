package progress_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/progress"
)

// An agent records each call with its result, and does what is due.
func Example() {
	sm := progress.NewStateMachine(progress.Config{SessionID: "session-123"})
	sm.PersonSpoke("why does the build fail?")
	for i := 1; i <= 10; i++ {
		v := sm.Record(progress.Step{
			Tool: "execute_bash", Args: `{"command": "make"}`,
			Result: fmt.Sprintf("[1%d:00:00] error: missing separator\n[The command completed with exit code 2.]", i),
		})
		if v.Due != progress.Nothing {
			fmt.Printf("call %d: %v, %s\n", i, v.Due, v.Text)
		}
		if v.Due == progress.Stop {
			break
		}
	}
	// Output:
	// call 3: tell, the same error 3 times in a row
	// call 4: block, the same error 4 times in a row
	// call 5: stop, the same execute_bash call with the same result 5 times in a row
}

// Calls without their results: errors that repeat, and edits that go to and fro.
func ExampleStateMachine_RecordToolCall() {
	sm := progress.NewStateMachine(progress.Config{SessionID: "session-123"})
	for i := 1; i <= 5; i++ {
		sm.RecordToolCall("edit", "main.go", "", "old_string not found", false)
		if stuck, reason := sm.IsStuck(); stuck {
			fmt.Printf("call %d: %s\n", i, reason)
		}
	}
	sm.PersonSpoke("try it in two files")
	for i := 1; i <= 6; i++ {
		v := sm.RecordToolCall("edit", []string{"b.go", "a.go"}[i%2], "", "", true)
		if v.Level != progress.OK {
			fmt.Printf("call %d: %v: %s\n", i, v.Level, v.Text)
		}
	}
	// Output:
	// call 5: the same edit call with the same result 5 times in a row
	// call 4: warn: edits alternate between the same two files, and no content says that they differ
	// call 5: warn: edits alternate between the same two files, and no content says that they differ
	// call 6: halt: edits alternate between the same two files, and no content says that they differ
}

// Who only wants to know looks at the level.
func Example_levels() {
	sm := progress.NewStateMachine(progress.Config{SessionID: "session-123"})
	sm.PersonSpoke("fix the build")
	for i := 1; i <= 10; i++ {
		v := sm.Record(progress.Step{
			Tool: "edit", Kind: progress.Edit, Target: "main.go",
			Args:  `{"old":"foo","new":"bar"}`,
			Error: fmt.Sprintf("line %d: old string not found in /home/ann/prj/main.go", 40+i),
		})
		if v.Level != progress.OK {
			fmt.Printf("call %d: %v by %s: %s\n", i, v.Level, v.Rule, v.Text)
		}
		if v.Level == progress.Halt {
			break
		}
	}
	// Output:
	// call 3: warn by same_error: the same error 3 times in a row on main.go
	// call 4: warn by same_error: the same error 4 times in a row on main.go
	// call 5: halt by identical: the same edit call with the same result 5 times in a row
}

// A thousand calls are fine as long as contents are new.
func Example_productive() {
	sm := progress.NewStateMachine(progress.Config{})
	for i := range 1000 {
		sm.Record(progress.Step{
			Tool: "edit", Target: fmt.Sprintf("file%d.go", i%20), Args: fmt.Sprint(i),
			OK: true, Result: "edited", ContentHash: fmt.Sprint("hash", i),
		})
		if i%10 == 9 {
			sm.RecordTest("go test ./...", true, "PASS")
		}
	}
	stuck, _ := sm.IsStuck()
	fmt.Println("stuck:", stuck)
	// Output: stuck: false
}

// The states of a run, and its phases.
func ExampleStateMachine_StartPhase() {
	now := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	sm := progress.NewStateMachine(progress.Config{
		SessionID: "refactor-task", TotalPhases: 3,
		Now: func() time.Time { return now },
		OnStateChange: func(from, to progress.AgentState) {
			fmt.Println(from, "→", to)
		},
	})
	_ = sm.TransitionTo(progress.StateProcessingPrompt)
	if err := sm.TransitionTo(progress.StateExecutingTool); err != nil {
		var illegal *progress.InvalidTransitionError
		fmt.Println(errors.As(err, &illegal), err)
	}
	for phase := 1; phase <= 3; phase++ {
		_ = sm.StartPhase(phase, fmt.Sprintf("Refactor package %d", phase), 15*time.Minute)
		now = now.Add(10 * time.Minute)
		sm.RecordToolCall("edit", fmt.Sprintf("pkg%d/a.go", phase), "", "", true)
	}
	sm.CompletePhase(true)
	p := sm.GetTotalProgress()
	fmt.Printf("completed %d/%d phases, %d files in %v\n", p.CompletedPhases, p.TotalPhases, p.FilesModified, sm.GetElapsedTime())
	// Output:
	// idle → processing_prompt
	// true illegal transition processing_prompt → executing_tool
	// completed 3/3 phases, 3 files in 30m0s
}
