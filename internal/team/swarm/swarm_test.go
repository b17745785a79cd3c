package swarm

import (
	"cmp"
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
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// localSwarm is a swarm on a real store of trees, with workers that are functions.
type localSwarm struct {
	t        *testing.T
	cfg      Config
	schedule *swarm.Schedule
	log      *eventlog.Log
	store    event.Store
	trees    *trees.Store
	base     string
}

func newLocalSwarm(t *testing.T, files map[string]string) *localSwarm {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	root := t.TempDir()
	for name, text := range files {
		must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	ts := must.Get(trees.Open(t.Context(), &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}, t.TempDir(), root))(t)
	base := must.Get(ts.Snapshot(t.Context()))(t)
	r := &localSwarm{t: t, trees: ts, base: base, store: memory.New(time.Now)}
	r.open()
	return r
}

// open is what a coordinator does first, also after one that died.
func (r *localSwarm) open() {
	r.t.Helper()
	r.schedule = &swarm.Schedule{}
	var err error
	r.log, err = eventlog.Open(r.t.Context(), eventlog.Config{Store: r.store, Session: "s", Now: time.Now}, r.schedule)
	must.Do(r.t, err)
	r.cfg = Config{
		Log: r.log, Schedule: r.schedule, Trees: r.trees, Slots: 4, Now: time.Now, Lease: time.Minute, Check: Each(exists),
		Work: func(_ context.Context, j Job) (Done, error) { return Done{}, put(j.Dir, j.Task.ID, j.Task.Goal) },
	}
}

func (r *localSwarm) plan(tasks ...event.Task) {
	r.t.Helper()
	g := swarm.Graph{Goal: "all", Tasks: tasks}
	if faults := g.Check(); faults != nil {
		r.t.Fatal(faults)
	}
	must.Do(r.t, r.log.Append(r.t.Context(), event.Draft{Body: event.SwarmPlanned{Goal: g.Goal, Base: r.base, Tasks: tasks}}))
}

func put(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}

// exists is a check whose line names a file that must be there. It leaves a file behind, which
// is no part of a result.
func exists(_ context.Context, dir, line string) event.TaskCheck {
	exit := 0
	_ = put(dir, "left-by-check", line)
	if _, err := os.Stat(filepath.Join(dir, line)); err != nil {
		exit = 1
	}
	return event.TaskCheck{Command: line, Exit: &exit, Output: "no file " + line}
}

func makes(id string, after ...string) event.Task {
	return event.Task{ID: id, Goal: "the text of " + id, After: after, Accept: []string{id}}
}

func (r *localSwarm) files() map[string]string {
	r.t.Helper()
	changes, err := r.trees.Changes(r.t.Context(), r.base, r.schedule.Tip())
	must.Do(r.t, err)
	out := map[string]string{}
	texts, err := r.trees.Read(r.t.Context(), changes)
	must.Do(r.t, err)
	for i, c := range changes {
		out[c.Path] = string(texts[i])
	}
	return out
}

func (r *localSwarm) ended(want event.SwarmEnd) {
	r.t.Helper()
	if r.schedule.Ended == nil || r.schedule.Ended.Outcome != want {
		r.t.Fatalf("it ended as %+v, want %s\n%s", r.schedule.Ended, want, ReportOf(r.schedule, budget.Spent{}).Markdown())
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
		r := newLocalSwarm(t, map[string]string{"list": "", "keep": "k"})
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
			return Done{Session: "child-" + j.Worker, USD: new(0.5), Tokens: 10}, put(j.Dir, j.Task.ID, j.Task.Goal)
		}
		must.Do(t, Run(t.Context(), r.cfg))
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
		if rep := ReportOf(r.schedule, budget.Spent{}); rep.Counts["merged"] != 16 {
			t.Errorf("the report: %+v", rep)
		}
	}
}

// A worker that fails, breaks or lies fails its task and nobody else's; what it
// learned reaches the next try.
func TestFailures(t *testing.T) {
	r := newLocalSwarm(t, nil)
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
	must.Do(t, Run(t.Context(), r.cfg))
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
	report := ReportOf(r.schedule, budget.Spent{}).Markdown()
	for _, part := range []string{"incomplete", "2 of 6 tasks are merged", "## bad failed", "no file bad"} {
		if !strings.Contains(report, part) {
			t.Errorf("the report lacks %q:\n%s", part, report)
		}
	}
}

// SPEC 14.2: a conflict is a task of its own.
func TestConflict(t *testing.T) {
	r := newLocalSwarm(t, map[string]string{"f": "old\n"})
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
	must.Do(t, Run(t.Context(), r.cfg))
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
		r := newLocalSwarm(t, nil)
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
		must.Do(t, Run(t.Context(), r.cfg))
		r.ended(event.SwarmVerified)
		merged := map[string]int{}
		for e, err := range r.store.Read(t.Context(), "s", 0) {
			must.Do(t, err)
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

// SPEC 14.2: a coordinator that died leaves leases behind. Its successor takes the tasks
// back, however often that happens, and no try is used up.
func TestDeath(t *testing.T) {
	r := newLocalSwarm(t, nil)
	r.plan(makes("a"))
	for i := range 5 {
		must.Do(t, r.log.Append(t.Context(), event.Draft{Body: event.TaskTaken{Task: "a", Worker: fmt.Sprint("w", i), Fence: int64(i + 1), Base: r.base}}))
		r.open()
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := Run(stopped, r.cfg); i < 4 && err == nil {
			t.Fatal("it was not interrupted")
		}
	}
	must.Do(t, Run(t.Context(), r.cfg))
	r.ended(event.SwarmVerified)
	if p, _ := r.schedule.Task("a"); p.Tries != 0 || p.State != swarm.Merged {
		t.Errorf("a is %s after %d tries", p.State, p.Tries)
	}
}

// SPEC 14.2: a budget that is used up, a provider that is down or a tool that is missing
// pauses the swarm, and says why; what was done stays, and the next run goes on.
func TestPauseAndResume(t *testing.T) {
	for name, why := range map[string]error{
		"budget":   Outside(event.FaultBudget, errors.New("it is over")),
		"provider": Outside(event.FaultProvider, errors.New("it is over")),
		"machine":  Outside(event.FaultMachine, errors.New("it is over")),
		"disk":     fmt.Errorf("it is over: %w", syscall.ENOSPC),
		"log":      fmt.Errorf("it is over: %w", store.ErrFull),
		"tool":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			r := newLocalSwarm(t, nil)
			var asked atomic.Int32
			synctest.Test(t, func(t *testing.T) {
				r.plan(makes("one"), makes("two", "one"), makes("three", "one"), makes("four", "three"))
				work, check := r.cfg.Work, r.cfg.Check
				r.cfg.Slots = 2
				r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
					if asked.Add(1); j.Task.ID != "one" && why != nil {
						return Done{}, why
					}
					return work(ctx, j)
				}
				r.cfg.Check = Each(func(ctx context.Context, dir, line string) event.TaskCheck {
					k := exists(ctx, dir, line)
					if line != "one" && why == nil {
						k.Exit, k.Missing = new(127), "cargo, it is over"
					}
					return k
				})
				must.Do(t, Run(t.Context(), r.cfg))
				if p := r.schedule.Paused; p == nil || !strings.Contains(p.Error, "it is over") || r.schedule.Ended != nil {
					t.Fatalf("it paused as %+v, and ended as %+v", p, r.schedule.Ended)
				}
				if n := asked.Load(); n > 30 {
					t.Errorf("%d workers were asked in vain", n)
				}
				if rep := ReportOf(r.schedule, budget.Spent{}); rep.Outcome != Paused || rep.Counts["merged"] != 1 || !strings.Contains(rep.Markdown(), "it is over") {
					t.Errorf("%+v", rep)
				}
				r.cfg.Work, r.cfg.Check = work, check
				must.Do(t, Run(t.Context(), r.cfg))
				r.ended(event.SwarmVerified)
				for _, p := range r.schedule.Tasks() {
					if p.Tries != 0 {
						t.Errorf("%s used up %d tries", p.ID, p.Tries)
					}
				}
			})
		})
	}
}

// SPEC 14.2: a provider that is down for two minutes ends no swarm.
func TestProviderComesBack(t *testing.T) {
	r := newLocalSwarm(t, nil)
	synctest.Test(t, func(t *testing.T) {
		r.plan(graph(8)...)
		work, began := r.cfg.Work, time.Now()
		r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
			if time.Since(began) < 2*time.Minute {
				return Done{}, Outside(event.FaultProvider, errors.New("connection refused"))
			}
			return work(ctx, j)
		}
		must.Do(t, Run(t.Context(), r.cfg))
		r.ended(event.SwarmVerified)
	})
}

// SPEC 14.2: 20 tasks that append to one file, with 16 workers: each conflict costs one
// more task, not a chain of them.
func TestOneFileForAll(t *testing.T) {
	r := newLocalSwarm(t, map[string]string{"log": "first\n"})
	synctest.Test(t, func(t *testing.T) {
		var tasks []event.Task
		for i := range 20 {
			tasks = append(tasks, makes(fmt.Sprintf("t%02d", i)))
		}
		r.plan(tasks...)
		r.cfg.Slots = 16
		var requests atomic.Int32
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
			for range 4 {
				mu.Lock()
				think := time.Duration(300+random.IntN(1700)) * time.Millisecond
				mu.Unlock()
				time.Sleep(think)
				requests.Add(1)
			}
			id := strings.ReplaceAll(cmp.Or(j.Task.Resolves, j.Task.ID), "merge-1-", "")
			text, err := os.ReadFile(filepath.Join(j.Dir, "log"))
			return Done{}, errors.Join(err, put(j.Dir, "log", string(text)+id+"\n"), put(j.Dir, id, "x"))
		}
		must.Do(t, Run(t.Context(), r.cfg))
		r.ended(event.SwarmVerified)
		if n := requests.Load(); n > 2*20*4 {
			t.Errorf("%d requests, %d of one worker", n, 20*4)
		} else {
			t.Logf("%d requests, %d of one worker", n, 20*4)
		}
		lines := strings.Fields(r.files()["log"])
		if slices.Sort(lines); len(slices.Compact(lines)) != 21 {
			t.Errorf("the file holds %q", lines)
		}
	})
}

// SPEC 14.3: workers that go in circles together are told, and stopped when
// they go on; one that listens is not.
func TestCirclesAreToldThenStopped(t *testing.T) {
	r := newLocalSwarm(t, nil)
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
			if told != nil && !strings.Contains(told[0], "curl api") {
				t.Errorf("told: %s", told)
			}
			if told != nil && j.Task.ID == "listens" {
				break
			}
		}
		return Done{}, put(j.Dir, j.Task.ID, "x")
	}
	must.Do(t, Run(t.Context(), r.cfg))
	one, _ := r.schedule.Task("deaf1")
	two, _ := r.schedule.Task("deaf2")
	if len(one.Failed)+len(two.Failed) == 0 { // who is left alone is in no loop of several
		t.Errorf("%s and %s: nobody is stopped", one.State, two.State)
	}
	for _, f := range append(one.Failed, two.Failed...) {
		if f.Outcome != event.TaskStopped || !strings.Contains(f.Error, "curl api") {
			t.Errorf("it was not told what was seen: %+v", f)
		}
	}
	if p, _ := r.schedule.Task("listens"); p.State != swarm.Merged {
		t.Errorf("listens is %s: %s", p.State, p.Result.Error)
	}
}

// SPEC 14.3: the calls of a worker that is done are no part of a loop.
func TestCirclesOfTheDone(t *testing.T) {
	r := newLocalSwarm(t, nil)
	r.plan(makes("a"), makes("b", "a"))
	r.cfg.Work = func(_ context.Context, j Job) (Done, error) {
		for range swarm.GlobalLoop - 1 {
			if told := j.Saw(swarm.Call{Worker: j.Worker, Key: "k", Failed: true}, nil); told != nil {
				t.Errorf("%s is told %q", j.Task.ID, told)
			}
		}
		return Done{}, put(j.Dir, j.Task.ID, "x")
	}
	must.Do(t, Run(t.Context(), r.cfg))
	r.ended(event.SwarmVerified)
}

// The merged tree may fail though each part passed.
func TestUnverified(t *testing.T) {
	r := newLocalSwarm(t, nil)
	r.plan(makes("a"), makes("b"))
	r.cfg.Check = Each(func(_ context.Context, dir, line string) event.TaskCheck {
		exit := 0
		if all, _ := os.ReadDir(dir); len(all) > 2 { // .git and one file
			exit = 1
		}
		return event.TaskCheck{Command: line, Exit: &exit}
	})
	r.cfg.Slots = 2
	var together sync.WaitGroup
	together.Add(2)
	work := r.cfg.Work
	r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
		together.Done()
		together.Wait()
		return work(ctx, j)
	}
	must.Do(t, Run(t.Context(), r.cfg))
	r.ended(event.SwarmUnverified)
}

// SPEC 14.2: a worker that never ends costs its task one try.
func TestTaskTimeout(t *testing.T) {
	r := newLocalSwarm(t, nil)
	task := makes("a")
	task.Timeout = "1s"
	r.plan(task)
	work, first := r.cfg.Work, true
	r.cfg.Work = func(ctx context.Context, j Job) (Done, error) {
		if first {
			first = false
			<-ctx.Done()
			return Done{}, ctx.Err()
		}
		return work(ctx, j)
	}
	must.Do(t, Run(t.Context(), r.cfg))
	r.ended(event.SwarmVerified)
	if p, _ := r.schedule.Task("a"); p.Tries != 1 || !strings.Contains(p.Failed[0].Error, "not done after 1s") {
		t.Errorf("%d tries, %+v", p.Tries, p.Failed)
	}
}

// SPEC 14.2: a setup runs first in each fresh copy, for work and for checks; if it fails,
// that is no fault of the task.
func TestSetup(t *testing.T) {
	r := newLocalSwarm(t, nil)
	task := makes("a")
	task.Setup = []string{"setup"}
	r.plan(task)
	broken := true
	ready := map[string]bool{}
	var bare []string
	r.cfg.Check = Each(func(ctx context.Context, dir, line string) event.TaskCheck {
		exit := 0
		switch {
		case line == "setup" && broken:
			exit = 1
		case line == "setup":
			ready[dir] = true
		case !ready[dir]:
			bare = append(bare, dir)
			fallthrough
		default:
			return exists(ctx, dir, line)
		}
		return event.TaskCheck{Command: line, Exit: &exit, Output: "no network"}
	})
	must.Do(t, Run(t.Context(), r.cfg))
	if p := r.schedule.Paused; p == nil || p.Fault != event.FaultMachine || !strings.Contains(p.Error, `the setup "setup" did not succeed: no network`) {
		t.Errorf("it pauses for %+v", p)
	}
	broken = false
	must.Do(t, Run(t.Context(), r.cfg))
	r.ended(event.SwarmVerified)
	if p, _ := r.schedule.Task("a"); p.Tries != 0 || len(bare) > 0 {
		t.Errorf("%d tries; not set up: %v", p.Tries, bare)
	}
}
