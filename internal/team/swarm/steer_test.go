package swarm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// orders returns a function that gives an order to the running swarm and waits until it is
// in the log.
func (r *localSwarm) orders() func(task string, do event.TaskOrder, text string) error {
	ch := make(chan Order)
	r.cfg.Orders = ch
	var n atomic.Int64
	return func(task string, do event.TaskOrder, text string) error {
		done := make(chan error, 1)
		ch <- Order{event.TaskSteered{ID: string(rune('a' + n.Add(1))), Task: task, Do: do, Text: text}, func(err error) { done <- err }}
		return <-done
	}
}

func (r *localSwarm) run() {
	r.t.Helper()
	must.Do(r.t, Run(r.t.Context(), r.cfg))
}

// SPEC 14.2: a message reaches the worker with its next call, or when it is done and asks;
// one that does not reach it any more is in the prompt of the next one.
func TestMessageToAWorker(t *testing.T) {
	r := newLocalSwarm(t, nil)
	r.plan(makes("call"), makes("end"), makes("late"))
	order := r.orders()
	var late atomic.Int32
	r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
		text := strings.Join(j.Saw(swarm.Call{Worker: j.Worker, Key: "1"}, nil), "")
		if err := order(j.Task.ID, event.OrderMessage, "make it red"); err != nil {
			t.Error(err)
		}
		switch j.Task.ID {
		case "call":
			text += strings.Join(j.Saw(swarm.Call{Worker: j.Worker, Key: "2"}, nil), "")
			if again := j.Saw(swarm.Call{Worker: j.Worker, Key: "3"}, nil); len(again) != 1 {
				t.Errorf("a message whose arrival nobody knows of comes again: %q", again)
			}
			if again := j.Saw(swarm.Call{Worker: j.Worker, Key: "4", Heard: 1}, nil); len(again) > 0 {
				t.Errorf("it was told twice: %q", again)
			}
		case "end":
			text += strings.Join(j.Saw(swarm.Call{Worker: j.Worker}, nil), "")
			if again := j.Saw(swarm.Call{Worker: j.Worker, Heard: 1}, nil); again != nil {
				t.Errorf("it was told twice: %q", again)
			}
		case "late":
			if late.Add(1) == 2 {
				text = j.Prompt
				j.Saw(swarm.Call{Worker: j.Worker, Heard: 9}, nil)
			} else {
				text = "make it red" // it does not ask
			}
		}
		if !strings.Contains(text, "make it red") {
			t.Errorf("%s was told %q", j.Task.ID, text)
		}
		if j.Task.ID == "late" && late.Load() > 1 {
			for j.Saw(swarm.Call{Worker: j.Worker}, nil) != nil {
				j.Saw(swarm.Call{Worker: j.Worker, Heard: 9}, nil)
			}
		}
		return Done{}, put(j.Dir, j.Task.ID, "x")
	}
	r.run()
	r.ended(event.SwarmVerified)
	if n := late.Load(); n != 2 {
		t.Errorf("the worker that did not hear of it worked %d times", n)
	}
	for _, p := range r.schedule.Tasks() {
		if p.Tries != 0 {
			t.Errorf("%s lost a try", p.ID)
		}
	}
}

// SPEC 14.2: a worker whose task is taken back is stopped; the task is retried, or not.
func TestStopAWorker(t *testing.T) {
	r := newLocalSwarm(t, nil)
	r.plan(makes("again"), makes("other"), makes("away"), makes("after", "away"))
	order := r.orders()
	var first atomic.Bool
	r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
		do := map[string]event.TaskOrder{"other": event.OrderEdit, "away": event.OrderCancel}[j.Task.ID]
		switch {
		case j.Task.ID == "again" && first.CompareAndSwap(false, true):
			do = event.OrderRetry
		case j.Task.ID == "other" && j.Task.Goal == "blue":
			do = ""
		}
		if do != "" {
			if err := order(j.Task.ID, do, "blue"); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return Done{}, ctx.Err()
		}
		return Done{}, put(j.Dir, j.Task.ID, j.Task.Goal)
	}
	r.run()
	r.ended(event.SwarmVerified)
	if got := r.files(); len(got) != 2 || got["other"] != "blue" {
		t.Errorf("%v", got)
	}
	for id, want := range map[string]swarm.State{"again": swarm.Merged, "other": swarm.Merged, "away": swarm.Cancelled, "after": swarm.Skipped} {
		if p, _ := r.schedule.Task(id); p.State != want || p.Tries != 0 {
			t.Errorf("%s is %s, %d tries, %s", id, p.State, p.Tries, p.Result.Error)
		}
	}
	if report := ReportOf(r.schedule, budget.Spent{}).Markdown(); strings.Count(report, "2 of 4 tasks are merged") != 1 {
		t.Error(report)
	}
}

// SPEC 14.2: what a person ordered holds after the death of the coordinator.
func TestOrderOutlivesTheCoordinator(t *testing.T) {
	r := newLocalSwarm(t, nil)
	r.plan(makes("a"), makes("b"))
	order := r.orders()
	died := errors.New("it died")
	ctx, die := context.WithCancelCause(t.Context())
	var all atomic.Int32
	r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
		do := event.OrderMessage
		if j.Task.ID == "b" {
			do = event.OrderCancel
		}
		if err := order(j.Task.ID, do, "make it red"); err != nil {
			t.Error(err)
		}
		if all.Add(1) == 2 {
			die(died)
		}
		<-ctx.Done()
		return Done{}, ctx.Err()
	}
	if err := Run(ctx, r.cfg); !errors.Is(err, died) {
		t.Fatal(err)
	}
	r.open()
	var did []string
	r.cfg.Slots = 1
	r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
		did = append(did, j.Task.ID)
		if !strings.Contains(j.Prompt, "make it red") {
			t.Errorf("%s", j.Prompt)
		}
		return Done{}, put(j.Dir, j.Task.ID, "x")
	}
	r.run()
	r.ended(event.SwarmVerified)
	if !slices.Equal(did, []string{"a"}) {
		t.Errorf("%q", did)
	}
}

// SPEC 14.2: a result under review waits for a person while the rest goes on.
func TestReviewWhileItRuns(t *testing.T) {
	r := newLocalSwarm(t, nil)
	a := makes("a")
	a.Review = true
	r.plan(a, makes("b"), makes("after", "a"))
	order := r.orders()
	got := make(chan error, 1)
	r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
		if j.Task.ID == "b" {
			go func() {
				for {
					err := order("a", event.OrderAccept, "")
					if err == nil || !strings.Contains(err.Error(), "no result to accept") {
						got <- err
						return
					}
				}
			}()
		}
		return Done{}, put(j.Dir, j.Task.ID, "x")
	}
	r.run()
	r.ended(event.SwarmVerified)
	if err := <-got; err != nil || len(r.files()) != 3 {
		t.Errorf("%v, %v", err, r.files())
	}
}
