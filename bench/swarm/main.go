// Command swarm measures a swarm on one machine. Its workers are functions that sleep
// instead of waiting for a model.
//
//	go run ./bench/swarm [-check] [-tasks 64] [-think 200ms] [-many 1000] [-queue 100000] [-dir FOLDER]
//
// The trees lie in FOLDER, and what a new file costs there is printed first: ext4 looks at
// all inodes that were freed in the last minutes before it uses one again. So after many
// removals a new file costs a hundred times as much (recently_deleted in a profile).
//
// It prints the speed-up of 4 and 16 workers over one on one graph, and what the
// coordinator costs a task without and with git's trees; the memory of many tasks
// with 200 workers; how long it takes to queue tasks and to resume them. -check fails if
// 1, 4 and 16 workers do not produce the same tree of files, byte for byte, or if a
// figure is beyond its bound (SPEC 14.2). The bounds on time are not checked: they hold
// on a machine with nothing else to do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

func main() {
	check := flag.Bool("check", false, "fail where a result differs or too much memory is used")
	tasks := flag.Int("tasks", 64, "tasks of the graph for the speed-up")
	think := flag.Duration("think", 200*time.Millisecond, "how long a worker waits for its model")
	many := flag.Int("many", 1000, "tasks for 200 workers; 0 leaves this out")
	queue := flag.Int("queue", 100_000, "tasks that are queued and taken up again; 0 leaves this out")
	in := flag.String("dir", "", "the folder of the trees, such as /dev/shm; the default is that of temporary files")
	flag.Parse()
	if err := run(*in, *check, *tasks, *think, *many, *queue); err != nil {
		fmt.Fprintln(os.Stderr, "swarm:", err)
		os.Exit(1)
	}
}

func run(in string, check bool, tasks int, think time.Duration, many, queue int) error {
	dir, err := os.MkdirTemp(in, "pawl-swarm-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := newFiles(dir); err != nil {
		return err
	}
	defer starter.Close()
	if err := overhead(); err != nil {
		return err
	}
	if err := speed(dir, check, tasks, think); err != nil {
		return err
	}
	if many > 0 {
		if err := memoryOf(dir, check, many); err != nil {
			return err
		}
	}
	if queue > 0 {
		return queued(dir, check, queue)
	}
	return nil
}

// layers is a graph of n tasks, 16 of which can be worked on at once: each waits
// for two of the layer before.
func layers(n int) []event.Task {
	var out []event.Task
	for i := range n {
		id := fmt.Sprintf("t%06d", i)
		t := event.Task{ID: id, Goal: "write " + id, Accept: []string{id}}
		if layer := i / 16; layer > 0 {
			a, b := (layer-1)*16+i%16, (layer-1)*16+(i+1)%16
			t.After = []string{fmt.Sprintf("t%06d", a), fmt.Sprintf("t%06d", b)}
		}
		out = append(out, t)
	}
	return out
}

// outcome is the result of one swarm.
type outcome struct {
	took  time.Duration
	cpu   time.Duration
	files map[string]string
}

// work runs a swarm over trees, or over none where ts is nil.
func work(ctx context.Context, ts *trees.Store, base string, tasks []event.Task, slots int, think time.Duration) (o outcome, err error) {
	s := &swarm.Schedule{}
	log, err := eventlog.Open(ctx, eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}, s)
	if err != nil {
		return o, err
	}
	if err := log.Append(ctx, event.Draft{Body: event.SwarmPlanned{Goal: "bench", Base: base, Tasks: tasks}}); err != nil {
		return o, err
	}
	cfg := team.Config{
		Log: log, Schedule: s, Slots: slots, Now: time.Now, Lease: time.Hour,
		Work: func(_ context.Context, j team.Job) (team.Done, error) {
			time.Sleep(think)
			return team.Done{}, os.WriteFile(filepath.Join(j.Dir, j.Task.ID), []byte(j.Task.Goal), 0o644)
		},
		Check: team.Each(func(_ context.Context, dir, line string) event.TaskCheck {
			exit := 0
			if _, err := os.Stat(filepath.Join(dir, line)); err != nil {
				exit = 1
			}
			return event.TaskCheck{Command: line, Exit: &exit}
		}),
	}
	if cfg.Trees = team.Trees(ts); ts == nil {
		cfg.Trees = nothing{}
		cfg.Work = func(context.Context, team.Job) (team.Done, error) { return team.Done{}, nil }
		cfg.Check = team.Each(func(_ context.Context, _, line string) event.TaskCheck {
			exit := 0
			return event.TaskCheck{Command: line, Exit: &exit}
		})
	}
	begin, used := time.Now(), cpu()
	if err := team.Run(ctx, cfg); err != nil {
		return o, err
	}
	o.took, o.cpu = time.Since(begin), cpu()-used
	if s.Ended == nil || s.Ended.Outcome != event.SwarmVerified {
		return o, fmt.Errorf("it ended as %+v", s.Ended)
	}
	if ts == nil {
		return o, nil
	}
	changes, err := ts.Changes(ctx, base, s.Tip())
	if err != nil {
		return o, err
	}
	texts, err := ts.Read(ctx, changes)
	if err != nil {
		return o, err
	}
	o.files = map[string]string{}
	for i, c := range changes {
		o.files[c.Path] = string(texts[i])
	}
	return o, nil
}

// nothing implements trees without any cost.
type nothing struct{}

func (nothing) Checkout(context.Context, string, string) (string, error) { return "", nil }
func (nothing) Commit(_ context.Context, name, _, _ string) (string, error) {
	return "commit of " + name, nil
}
func (nothing) Check(context.Context, string, string) ([]string, error) { return nil, nil }
func (nothing) Merge(_ context.Context, _, theirs, _ string) (string, []string, error) {
	return "merge of " + theirs, nil, nil
}
func (nothing) Diff(context.Context, string, string) (string, error) { return "", nil }
func (nothing) Remove(context.Context, string) error                 { return nil }

// overhead measures the coordinator's own cost.
func overhead() error {
	const n = 4096
	o, err := work(context.Background(), nil, "base", layers(n), 16, 0)
	fmt.Printf("coordinator: %.3f ms a task (%d tasks, aim ≤ 5 ms)\n", ms(o.took)/n, n)
	return err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// newFiles measures what a new file costs.
func newFiles(dir string) error {
	const n = 500
	begin, used := time.Now(), cpu()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("new", i)), []byte("x"), 0o600); err != nil {
			return err
		}
	}
	fmt.Printf("a new file in %s: %.0f µs, %.0f µs of a processor\n", dir, 1000*ms(time.Since(begin))/n, 1000*ms(cpu()-used)/n)
	return nil
}

var starter = shell.NewStarter(shell.StarterOptions{})

// counted counts the processes of git.
type counted struct {
	process.Starter
	n atomic.Int64
}

func (c *counted) Start(ctx context.Context, p process.Program) (process.Process, error) {
	c.n.Add(1)
	return c.Starter.Start(ctx, p)
}

var processes = &counted{Starter: starter}

func open(dir, name string) (*trees.Store, string, error) {
	root := filepath.Join(dir, name, "project")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, "", err
	}
	if err := os.WriteFile(filepath.Join(root, "keep"), []byte("k\n"), 0o644); err != nil {
		return nil, "", err
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, "", err
	}
	ts, err := trees.Open(context.Background(), &workspace.Git{Starter: processes, Confine: process.Free}, filepath.Join(dir, name, "git"), root)
	if err != nil {
		return nil, "", err
	}
	base, err := ts.Snapshot(context.Background())
	return ts, base, err
}

// speed compares 1, 4 and 16 workers.
func speed(dir string, check bool, n int, think time.Duration) error {
	var one outcome
	for _, slots := range []int{1, 4, 16} {
		ts, base, err := open(dir, fmt.Sprint("w", slots))
		if err != nil {
			return err
		}
		before := processes.n.Load()
		o, err := work(context.Background(), ts, base, layers(n), slots, think)
		if err != nil {
			return err
		}
		gits := processes.n.Load() - before
		if slots == 1 {
			one = o
		}
		up := float64(one.took) / float64(o.took)
		fmt.Printf("%2d workers: %6.2f s for %d tasks of %v; speed-up %5.2f, %.2f of linear; a task has %.1f ms beside the thinking, %.1f ms of one of %d processors, and %.2f processes\n",
			slots, o.took.Seconds(), n, think, up, up/float64(slots), ms(o.took)*float64(slots)/float64(n)-ms(think), ms(o.cpu)/float64(n), runtime.NumCPU(), float64(gits)/float64(n))
		if len(o.files) != n || !same(o.files, one.files) {
			err := fmt.Errorf("%d workers give another tree than one: %d files, not %d", slots, len(o.files), len(one.files))
			if check {
				return err
			}
			fmt.Println(err)
		}
	}
	fmt.Println("the trees of 1, 4 and 16 workers are the same, byte for byte")
	return nil
}

func same(a, b map[string]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// maxMemory is the memory limit for many tasks with 200 workers, in bytes.
const maxMemory = 200 << 20

func memoryOf(dir string, check bool, n int) error {
	ts, base, err := open(dir, "many")
	if err != nil {
		return err
	}
	// Layers of 16 would let 16 work: here all can.
	tasks := layers(n)
	for i := range tasks {
		tasks[i].After = nil
	}
	o, err := work(context.Background(), ts, base, tasks, 200, 0)
	if err != nil {
		return err
	}
	peak := peakMemory()
	fmt.Printf("%d tasks, 200 workers: %.1f s, at most %d MB (aim ≤ 200 MB), %.1f ms a task\n", n, o.took.Seconds(), peak>>20, ms(o.took)/float64(n))
	if len(o.files) != n || peak > maxMemory && check {
		return fmt.Errorf("%d files, %d MB", len(o.files), peak>>20)
	}
	return nil
}

// queued writes a plan into the database on disk, works on a tenth of it, and opens it
// again as a new process does.
func queued(dir string, check bool, n int) error {
	ctx := context.Background()
	path := filepath.Join(dir, "swarm.db")
	st, err := sqlite.Open(ctx, path, sqlite.Options{Now: time.Now})
	if err != nil {
		return err
	}
	begin := time.Now()
	s := &swarm.Schedule{}
	log, err := eventlog.Open(ctx, eventlog.Config{Store: st, Session: "s", Now: time.Now}, s)
	if err != nil {
		return err
	}
	g := swarm.Graph{Goal: "bench", Tasks: layers(n)}
	if faults := g.Check(); faults != nil {
		return faults[0]
	}
	if err := log.Append(ctx, event.Draft{Body: event.SwarmPlanned{Goal: g.Goal, Base: "base", Tasks: g.Tasks}}); err != nil {
		return err
	}
	queue := time.Since(begin)
	for done := 0; done < n/10; {
		var ds []event.Draft
		for range min(16, n/10-done) { // as 16 workers would record it
			t, err := s.Next("", 0)
			if err != nil {
				return err
			}
			fence := s.Fence()
			if err := log.Append(ctx, event.Draft{Body: event.TaskTaken{Task: t.ID, Worker: "w", Fence: fence, Base: s.Tip()}}); err != nil {
				return err
			}
			ds = append(ds, event.Draft{Body: event.TaskReturned{Task: t.ID, Worker: "w", Fence: fence, Outcome: event.TaskDone, Commit: "c"}}, event.Draft{Body: event.TaskMerged{Task: t.ID, Commit: t.ID}})
			done++
		}
		if err := log.Append(ctx, ds...); err != nil {
			return err
		}
	}
	if err := st.Close(); err != nil {
		return err
	}
	begin = time.Now()
	if st, err = sqlite.Open(ctx, path, sqlite.Options{Now: time.Now}); err != nil {
		return err
	}
	defer st.Close()
	again := &swarm.Schedule{}
	if log, err = eventlog.Open(ctx, eventlog.Config{Store: st, Session: "s", Now: time.Now}, again); err != nil {
		return err
	}
	resume := time.Since(begin)
	a, _ := s.Next("", 0)
	b, _ := again.Next("", 0)
	fmt.Printf("%d tasks: queued in %.2f s, taken up again with %d events in %.2f s (aim ≤ 10 s together)\n", n, queue.Seconds(), log.Last(), resume.Seconds())
	if a.ID != b.ID || again.Len() != n || again.Count(swarm.Merged) != n/10 || !slices.Equal(again.Verify, s.Verify) {
		return errors.New("what was taken up again is not what was there")
	}
	if total := queue + resume; check && total > 10*time.Second {
		return fmt.Errorf("queue and resume took %v", total)
	}
	return nil
}

// peakMemory returns the process's peak memory.
func peakMemory() uint64 {
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		var kb uint64
		if i := slices.Index(strings.Fields(string(text)), "VmHWM:"); i >= 0 {
			if _, err := fmt.Sscan(strings.Fields(string(text))[i+1], &kb); err == nil {
				return kb << 10
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
