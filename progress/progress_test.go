package progress_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/progress"
)

// SPEC 6.10: N's three examples, under N's names.
func TestNamesOfN(t *testing.T) {
	t.Parallel()
	var reasons []string
	var stats []progress.ProgressStats
	sm := progress.NewStateMachine(progress.Config{
		SessionID: "s", Context: context.Background(), TotalPhases: 10,
		OnStuck:    func(r string) { reasons = append(reasons, r) },
		OnProgress: func(s progress.ProgressStats) { stats = append(stats, s) },
	})
	for phase := 1; phase <= 10; phase++ {
		if err := sm.StartPhase(phase, "refactor", 15*time.Minute); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			sm.RecordToolCall("edit", fmt.Sprintf("pkg%d/file%d.go", phase, i), "", "", true)
			if stuck, why := sm.IsStuck(); stuck {
				t.Fatalf("phase %d, call %d: %s", phase, i, why)
			}
		}
		sm.RecordTest("go test ./...", true, "PASS")
	}
	sm.CompletePhase(true)
	if p := sm.GetTotalProgress(); p.CompletedPhases != 10 || p.TotalPhases != 10 || p.FilesModified != 1000 || p.TestsPassed != 10 {
		t.Errorf("%+v", p)
	}
	if len(reasons) != 0 || len(stats) != 101 || stats[100].FilesModified != 1000 || stats[100].RecentSuccesses != 20 {
		t.Errorf("%q, %d progress calls", reasons, len(stats))
	}
	for i := range 5 {
		v := sm.RecordToolCall("edit", "main.go", "", "old_string not found", false)
		if stuck, _ := sm.IsStuck(); stuck != (i == 4) || (v.Level == progress.Warn) != (i == 2 || i == 3) {
			t.Errorf("error %d: stuck %v, %+v", i+1, stuck, v)
		}
	}
	if len(reasons) != 3 {
		t.Errorf("%q", reasons)
	}
	sm.RecordToolCall("write", "main.go", "", "", true)
	if stuck, _ := sm.IsStuck(); stuck {
		t.Error("stuck after the way out was found")
	}
	// Two files edited in turns, contents not known: N halts, we warn.
	sm = progress.NewStateMachine(progress.Config{})
	var last progress.Verdict
	for range 2 {
		sm.RecordToolCall("edit", "a.go", "", "", true)
		last = sm.RecordToolCall("edit", "b.go", "", "", true)
	}
	if last.Level != progress.Warn || last.Rule != "oscillation" {
		t.Errorf("%+v", last)
	}
	// Messages.
	sm = progress.NewStateMachine(progress.Config{})
	for i := range 3 {
		last = sm.RecordMessage("I will try again.")
		if (last.Level == progress.Warn) != (i == 2) {
			t.Errorf("message %d: %+v", i, last)
		}
	}
}

// SPEC 2.1, 6.10: the same table, and an error that leaves the state alone.
func TestTransitions(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	sm := progress.NewStateMachine(progress.Config{Context: ctx})
	for _, to := range []progress.AgentState{
		progress.StateProcessingPrompt, progress.StateStreamingResponse, progress.StateExecutingTool,
		progress.StateProgressCheck, progress.StatePhaseTransition, progress.StateProcessingPrompt, progress.StateErrorRecovery,
		progress.StateAwaitingPermission, progress.StateExecutingTool,
	} {
		if err := sm.TransitionTo(to); err != nil {
			t.Fatal(err)
		}
	}
	var illegal *progress.InvalidTransitionError
	if err := sm.TransitionTo(progress.StateProcessingPrompt); !errors.As(err, &illegal) || sm.State() != progress.StateExecutingTool {
		t.Errorf("%v, %v", err, sm.State())
	}
	cancel()
	if err := sm.TransitionTo(progress.StateStreamingResponse); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := sm.TransitionTo(progress.StateHalted); err != nil {
		t.Error(err)
	}
	if err := sm.TransitionTo(progress.StateIdle); err == nil {
		t.Error("a halted run goes on")
	}
	sm.Restart()
	if sm.State() != progress.StateIdle {
		t.Error(sm.State())
	}
}

// SPEC 6.10: safe for concurrent use; callbacks come one at a time, may call
// back, and a panic in one stops nothing.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	var sm *progress.StateMachine
	var running, calls atomic.Int32
	sm = progress.NewStateMachine(progress.Config{
		OnProgress: func(progress.ProgressStats) {
			if running.Add(1) != 1 {
				t.Error("two callbacks at once")
			}
			defer running.Add(-1)
			calls.Add(1)
			sm.Stats()
			sm.IsStuck()
			if calls.Load() == 1 {
				panic("on purpose")
			}
		},
	})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				sm.Record(progress.Step{Tool: "edit", Target: fmt.Sprint(g), Args: fmt.Sprint(g, i), OK: true, Result: "ok", ContentHash: fmt.Sprint(g, i)})
				sm.RecordMessage(fmt.Sprint(g, i))
				sm.GetTotalProgress()
				_ = sm.TransitionTo(progress.StateIdle)
			}
		})
	}
	wg.Wait()
	if s := sm.Stats(); s.Calls != 800 || calls.Load() != 80 {
		t.Errorf("%+v, %d callbacks", s, calls.Load())
	}
}

// SPEC 6.3, 6.10: the rest of the rules are reached from outside.
func TestOutside(t *testing.T) {
	t.Parallel()
	o := progress.DefaultOptions()
	o.StuckThreshold = 2
	if o.Check() != nil || (progress.Options{Off: []string{"x"}}).Check() == nil {
		t.Error("options are not checked")
	}
	sm := progress.NewStateMachine(progress.Config{Options: &o})
	bad := progress.Step{Tool: "bash", Command: "make", Error: "no rule"}
	sm.Record(bad)
	if v := sm.Record(bad); v.Level != progress.Warn || len(v.Steps) != 2 || v.Fingerprint == "" {
		t.Errorf("%+v", v)
	}
	sm.PersonSpoke("run make 50 times")
	for i := range 40 {
		if v := sm.Record(progress.Step{Tool: "bash", Command: "make", OK: true, Result: "built"}); v.Level != progress.OK {
			t.Fatalf("asked for, and at %d: %+v", i, v)
		}
	}
	for i := range 4 {
		if v := sm.Compacted(); (v.Level == progress.Halt) != (i == 3) {
			t.Errorf("compaction %d: %+v", i, v)
		}
	}
	// A file that a command changes again and again.
	sm = progress.NewStateMachine(progress.Config{})
	halted := false
	for i := range 20 {
		v := sm.Record(progress.Step{
			Tool: "bash", Command: "./run.sh", OK: true, Result: "done",
			Contents: []progress.File{{Path: "run.log", Hash: fmt.Sprint(i)}},
		})
		halted = halted || v.Level == progress.Halt
	}
	if !halted {
		t.Error("a growing log is taken for progress")
	}
}

// SPEC 6.5, 6.10: what is due goes up the ladder, and down again with new
// content and with a person's word.
func TestDue(t *testing.T) {
	t.Parallel()
	sm := progress.NewStateMachine(progress.Config{})
	loop := func() (due []progress.Action) {
		for range 6 {
			due = append(due, sm.Record(progress.Step{Tool: "read_file", Args: `{"path":"a.go"}`, OK: true, Result: "package a and more of it"}).Due)
		}
		return due
	}
	want := fmt.Sprint([]progress.Action{0, 0, progress.Tell, progress.Block, progress.Stop, progress.Stop})
	if got := fmt.Sprint(loop()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if v := sm.Record(progress.Step{Tool: "edit", Args: `{"path":"a.go","old":"x"}`, OK: true, Result: "edited", ContentHash: "1"}); v.Due != progress.Nothing {
		t.Errorf("%+v", v)
	}
	loop()
	if v := sm.Record(progress.Step{Tool: "write", Target: "b.go", OK: true, Result: "written", ContentHash: "2"}); v.Due != progress.Nothing {
		t.Errorf("%+v", v)
	}
	sm.PersonSpoke("go on")
	if got := fmt.Sprint(loop()); got != want {
		t.Errorf("after a person spoke %s, want %s", got, want)
	}
}

// SPEC 6.10: the Options are those of the rules, all of them.
func TestOptionsAreAll(t *testing.T) {
	t.Parallel()
	o := progress.DefaultOptions()
	if o.FailedEditsHalt != 8 || o.HaltWaits != 40 || o.Thoughts != 4 || !o.Enable {
		t.Errorf("%+v", o)
	}
	o.HaltWaits = 3
	if o.Check() == nil {
		t.Error("waiting three times may halt")
	}
}
