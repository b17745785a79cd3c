package swarm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// rig is a swarm on a real store of trees, with workers that are functions.
type rig struct {
	t        *testing.T
	cfg      Config
	schedule *swarm.Schedule
	log      *eventlog.Log
	store    event.Store
	trees    *trees.Store
	base     string
}

func newRig(t *testing.T, files map[string]string) *rig {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	root := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ts, err := trees.Open(t.Context(), &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}, t.TempDir(), root)
	if err != nil {
		t.Fatal(err)
	}
	base, err := ts.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, trees: ts, base: base, store: memory.New(time.Now)}
	r.open()
	return r
}

// open is what a coordinator does first, also after one that died.
func (r *rig) open() {
	r.t.Helper()
	r.schedule = &swarm.Schedule{}
	var err error
	if r.log, err = eventlog.Open(r.t.Context(), eventlog.Config{Store: r.store, Session: "s", Now: time.Now}, r.schedule); err != nil {
		r.t.Fatal(err)
	}
	r.cfg = Config{
		Log: r.log, Schedule: r.schedule, Trees: r.trees, Slots: 4, Now: time.Now, Lease: time.Minute, Check: exists,
		Work: func(_ context.Context, j Job) (Done, error) { return Done{}, put(j.Dir, j.Task.ID, j.Task.Goal) },
	}
}

func (r *rig) plan(tasks ...event.Task) {
	r.t.Helper()
	g := swarm.Graph{Goal: "all", Tasks: tasks}
	if faults := g.Check(); faults != nil {
		r.t.Fatal(faults)
	}
	if err := r.log.Append(r.t.Context(), event.Draft{Body: event.SwarmPlanned{Goal: g.Goal, Base: r.base, Tasks: tasks}}); err != nil {
		r.t.Fatal(err)
	}
}

func put(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}

// exists is a check whose line names a file that must be there.
func exists(_ context.Context, dir, line string) event.TaskCheck {
	exit := 0
	if _, err := os.Stat(filepath.Join(dir, line)); err != nil {
		exit = 1
	}
	return event.TaskCheck{Command: line, Exit: &exit, Output: "no file " + line}
}

func makes(id string, after ...string) event.Task {
	return event.Task{ID: id, Goal: "the text of " + id, After: after, Accept: []string{id}}
}

func (r *rig) files() map[string]string {
	r.t.Helper()
	changes, err := r.trees.Changes(r.t.Context(), r.base, r.schedule.Tip())
	if err != nil {
		r.t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range changes {
		text, err := r.trees.Read(r.t.Context(), c)
		if err != nil {
			r.t.Fatal(err)
		}
		out[c.Path] = string(text)
	}
	return out
}

func (r *rig) ended(want event.SwarmEnd) {
	r.t.Helper()
	if r.schedule.Ended == nil || r.schedule.Ended.Outcome != want {
		r.t.Fatalf("it ended as %+v, want %s\n%s", r.schedule.Ended, want, ReportOf(r.schedule).Markdown())
	}
}

// graph is n tasks, each after some of the tasks before it.
func graph(n int) []event.Task {
	random := rand.New(rand.NewPCG(1, 2))
	var out []event.Task
	for i := range n {
		t := makes(fmt.Sprintf("t%02d", i))
		for range min(i, 2) {
			if id := fmt.Sprintf("t%02d", random.IntN(i)); !slices.Contains(t.After, id) {
				t.After = append(t.After, id)
			}
		}
		out = append(out, t)
	}
	return out
}

// SPEC 14.2: however many workers there are, the result is the same, and each
// task's effect is in it once.
func TestSameResultWithAnyNumberOfWorkers(t *testing.T) {
	var first map[string]string
	for _, slots := range []int{1, 4, 16} {
		r := newRig(t, map[string]string{"list": "", "keep": "k"})
		r.plan(graph(16)...)
		r.cfg.Slots = slots
		var at, most atomic.Int32
		r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
			defer at.Add(-1)
			for now := at.Add(1); ; {
				if m := most.Load(); now <= m || most.CompareAndSwap(m, now) {
					break
				}
			}
			for _, id := range j.Task.After {
				if _, err := os.Stat(filepath.Join(j.Dir, id)); err != nil {
					t.Errorf("%s began without the result of %s", j.Task.ID, id)
				}
			}
			cost := 0.5
			return Done{Session: "child-" + j.Worker, USD: &cost, Tokens: 10}, put(j.Dir, j.Task.ID, j.Task.Goal)
		}
		if err := Run(t.Context(), r.cfg); err != nil {
			t.Fatal(err)
		}
		r.ended(event.SwarmVerified)
		got := r.files()
		if len(got) != 16 {
			t.Errorf("%d workers: %d files", slots, len(got))
		}
		if first == nil {
			first = got
		}
		if fmt.Sprint(got) != fmt.Sprint(first) {
			t.Errorf("%d workers: another result", slots)
		}
		if int(most.Load()) > slots {
			t.Errorf("%d worked at once, %d may", most.Load(), slots)
		}
		if rep := ReportOf(r.schedule); rep.USD != 8 || !rep.Known || rep.Tokens != 160 || rep.Counts["merged"] != 16 {
			t.Errorf("the report: %+v", rep)
		}
	}
}

// A worker that fails, breaks or lies fails its task and nobody else's; what it
// learned reaches the next try.
func TestFailures(t *testing.T) {
	r := newRig(t, nil)
	r.plan(makes("good"), makes("bad"), makes("after-bad", "bad"), makes("panics"), makes("refused"), makes("second"))
	var mu sync.Mutex
	prompts := map[string][]string{}
	r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
		mu.Lock()
		prompts[j.Task.ID] = append(prompts[j.Task.ID], j.Prompt)
		try := len(prompts[j.Task.ID])
		mu.Unlock()
		switch j.Task.ID {
		case "bad":
			return Done{Reply: "it is done"}, nil // it is not
		case "panics":
			panic("boom")
		case "refused":
			_ = os.Symlink("/etc/passwd", filepath.Join(j.Dir, "l"))
		case "second":
			if try == 1 {
				return Done{}, errors.New("the provider gave no answer")
			}
		}
		return Done{}, put(j.Dir, j.Task.ID, "x")
	}
	if err := Run(t.Context(), r.cfg); err != nil {
		t.Fatal(err)
	}
	r.ended(event.SwarmIncomplete)
	for id, want := range map[string]swarm.State{
		"good": swarm.Merged, "second": swarm.Merged, "bad": swarm.Failed, "after-bad": swarm.Skipped, "panics": swarm.Failed, "refused": swarm.Failed,
	} {
		if p, _ := r.schedule.Task(id); p.State != want {
			t.Errorf("%s is %s, want %s", id, p.State, want)
		}
	}
	for id, why := range map[string]string{"bad": "acceptance check", "panics": "boom", "refused": "symbolic link"} {
		if p, _ := r.schedule.Task(id); !strings.Contains(p.Result.Error, why) {
			t.Errorf("%s: %q", id, p.Result.Error)
		}
	}
	if n := len(prompts["bad"]); n != swarm.Tries || !strings.Contains(prompts["bad"][1], "no file bad") {
		t.Errorf("%d tries; the second was told: %s", n, prompts["bad"][min(1, n-1)])
	}
	if got := r.files(); len(got) != 2 {
		t.Errorf("files of what failed are in the result: %v", got)
	}
	report := ReportOf(r.schedule).Markdown()
	for _, part := range []string{"incomplete", "2 of 6 tasks are merged", "## bad failed", "no file bad"} {
		if !strings.Contains(report, part) {
			t.Errorf("the report lacks %q:\n%s", part, report)
		}
	}
}

// SPEC 14.2: a conflict is a task of its own.
func TestConflict(t *testing.T) {
	r := newRig(t, map[string]string{"f": "old\n"})
	a, b := makes("a"), makes("b")
	r.plan(a, b, makes("c", "a", "b"))
	r.cfg.Slots = 2
	var together sync.WaitGroup
	together.Add(2)
	r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
		if j.Task.Resolves != "" {
			text, _ := os.ReadFile(filepath.Join(j.Dir, "f"))
			if !strings.Contains(j.Prompt, "Files in conflict: f") || !strings.Contains(j.Prompt, "the text of "+j.Task.Resolves) {
				t.Errorf("it is told: %s", j.Prompt)
			}
			return Done{}, errors.Join(put(j.Dir, "f", string(text)+j.Task.Resolves+"\n"), put(j.Dir, j.Task.Resolves, "x"))
		}
		if j.Task.ID != "c" {
			together.Done()
			together.Wait()
			return Done{}, errors.Join(put(j.Dir, "f", j.Task.ID+"\n"), put(j.Dir, j.Task.ID, "x"))
		}
		return Done{}, put(j.Dir, "c", "x")
	}
	if err := Run(t.Context(), r.cfg); err != nil {
		t.Fatal(err)
	}
	r.ended(event.SwarmVerified)
	if got := r.files()["f"]; got != "a\nb\n" && got != "b\na\n" {
		t.Errorf("the merged file: %q", got)
	}
	if r.schedule.Len() != 4 {
		t.Errorf("%d tasks", r.schedule.Len())
	}
}

// SPEC 14.2: interrupted anywhere, the next coordinator goes on, and nothing is
// merged twice.
func TestInterruptedAnywhere(t *testing.T) {
	for stop := 1; stop < 12; stop += 3 {
		r := newRig(t, nil)
		r.plan(graph(8)...)
		ctx, cancel := context.WithCancelCause(t.Context())
		var began atomic.Int32
		work := r.cfg.Work
		r.cfg.Work = func(c context.Context, j Job) (Done, error) {
			if int(began.Add(1)) >= stop {
				cancel(errors.New("ctrl-c"))
				<-c.Done()
				return Done{}, c.Err()
			}
			return work(c, j)
		}
		err := Run(ctx, r.cfg)
		cancel(nil)
		if stop <= 8 && (err == nil || !strings.Contains(err.Error(), "ctrl-c")) {
			t.Fatalf("stopped at %d: %v", stop, err)
		}
		r.open()
		if n := r.schedule.Count(swarm.Taken); n != 0 {
			t.Errorf("%d tasks are still taken", n)
		}
		if err := Run(t.Context(), r.cfg); err != nil {
			t.Fatal(err)
		}
		r.ended(event.SwarmVerified)
		merged := map[string]int{}
		for e, err := range r.store.Read(t.Context(), "s", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := e.Body.(event.TaskMerged); ok {
				merged[b.Task]++
			}
		}
		for id, n := range merged {
			if n != 1 {
				t.Errorf("%s was merged %d times", id, n)
			}
		}
		if len(merged) != 8 || len(r.files()) != 8 {
			t.Errorf("%d merged, %d files", len(merged), len(r.files()))
		}
		if err := Run(t.Context(), r.cfg); err != nil { // once more does nothing
			t.Fatal(err)
		}
	}
}

// A coordinator that died leaves leases behind: its successor takes the tasks
// back, and a task that kills every time is given up.
func TestDeath(t *testing.T) {
	r := newRig(t, nil)
	r.plan(makes("a"))
	for i := range swarm.Tries {
		if err := r.log.Append(t.Context(), event.Draft{Body: event.TaskTaken{Task: "a", Worker: fmt.Sprint("w", i), Fence: int64(i + 1), Base: r.base}}); err != nil {
			t.Fatal(err)
		}
		r.open()
		r.cfg.Work = func(context.Context, Job) (Done, error) { t.Error("it is tried once more"); return Done{}, nil }
		if i < swarm.Tries-1 {
			if err := r.log.Append(t.Context(), event.Draft{Body: event.TaskReturned{Task: "a", Fence: int64(i + 1), Outcome: event.TaskExpired}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Run(t.Context(), r.cfg); err != nil {
		t.Fatal(err)
	}
	r.ended(event.SwarmIncomplete)
}

// SPEC 14.3: workers that go in circles together are told, and stopped when
// they go on; one that listens is not.
func TestCirclesAreToldThenStopped(t *testing.T) {
	r := newRig(t, nil)
	r.plan(makes("deaf1"), makes("deaf2"), makes("listens"))
	r.cfg.Slots = 3
	// The two that do not listen meet before each call, until one of them has ended: on a
	// busy machine one could make all its calls before the other begins.
	meet, alone := make(chan struct{}), make(chan struct{})
	ended := sync.OnceFunc(func() { close(alone) })
	r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
		if j.Task.ID != "listens" {
			defer ended()
		}
		for range 1000 {
			if j.Task.ID != "listens" {
				select {
				case meet <- struct{}{}:
				case <-meet:
				case <-alone:
				case <-ctx.Done():
				}
			}
			if ctx.Err() != nil {
				return Done{}, context.Cause(ctx)
			}
			told := j.Saw(swarm.Call{Worker: j.Worker, Key: "k", What: "curl api", Failed: true}, &swarm.Failure{Worker: j.Worker, Tool: "bash", Target: "curl api", Category: "error", Text: "refused"})
			if told != "" && !strings.Contains(told, "curl api") {
				t.Errorf("told: %s", told)
			}
			if told != "" && j.Task.ID == "listens" {
				break
			}
		}
		return Done{}, put(j.Dir, j.Task.ID, "x")
	}
	if err := Run(t.Context(), r.cfg); err != nil {
		t.Fatal(err)
	}
	one, _ := r.schedule.Task("deaf1")
	two, _ := r.schedule.Task("deaf2")
	if one.State != swarm.Failed && two.State != swarm.Failed { // who is left alone is in no loop of several
		t.Errorf("%s and %s: nobody is stopped", one.State, two.State)
	}
	if p, _ := r.schedule.Task("listens"); p.State != swarm.Merged {
		t.Errorf("listens is %s: %s", p.State, p.Result.Error)
	}
}

// The merged tree may fail though each part passed.
func TestUnverified(t *testing.T) {
	r := newRig(t, nil)
	r.plan(makes("a"), makes("b"))
	r.cfg.Check = func(_ context.Context, dir, line string) event.TaskCheck {
		exit := 0
		if all, _ := os.ReadDir(dir); len(all) > 2 { // .git and one file
			exit = 1
		}
		return event.TaskCheck{Command: line, Exit: &exit}
	}
	r.cfg.Slots = 2
	var together sync.WaitGroup
	together.Add(2)
	work := r.cfg.Work
	r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
		together.Done()
		together.Wait()
		return work(ctx, j)
	}
	if err := Run(t.Context(), r.cfg); err != nil {
		t.Fatal(err)
	}
	r.ended(event.SwarmUnverified)
}
