// Command resume measures how long it takes to take up a long session:
//
//	go run ./bench/resume [-calls 10000] [-n 5] [-whole] [-markdown] [-pawl FILE] [-dir DIR] [-cpu FILE] [-heap FILE]
//
// It builds pawl, lets it do a short task with a scripted model (commands, reads,
// edits, failures), and grows a session of that many calls from the recorded
// events of that task: each call again, with other names and ids. Then it takes
// the session up n times, in this process (the log with all folds, best and
// median, CPU and allocations) and with the program itself: start to the first
// request, beside a session of a few calls. "first" is the first time, when
// nothing but the log is there; "again" is every later one.
//
// -whole only folds the whole log, in this process, as after an update: no
// snapshot is kept. -markdown prints the table of bench/scale/README.md, with both. -dir keeps
// the home and the workspace there, for others to measure (bench/tui -again). -cpu and
// -heap write profiles of taking it up in this process; the heap is
// that of the open session.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

func main() {
	calls := flag.Int("calls", 10000, "how many calls the session has")
	n := flag.Int("n", 5, "how often it is taken up")
	built := flag.String("pawl", "", "a pawl that was built before")
	cpu := flag.String("cpu", "", "write a CPU profile of taking it up here")
	heap := flag.String("heap", "", "write a heap profile of the open session")
	flag.StringVar(&kept, "dir", "", "keep the home and the workspace here")
	flag.BoolVar(&markdown, "markdown", false, "print Markdown")
	flag.BoolVar(&whole, "whole", false, "only fold the whole log, here")
	flag.Parse()
	if err := run(*calls, *n, *built, *cpu, *heap); err != nil {
		fmt.Fprintln(os.Stderr, "resume:", err)
		os.Exit(1)
	}
}

var (
	whole, markdown bool
	kept            string
)

func run(calls, n int, built, cpu, heap string) error {
	dir, err := os.MkdirTemp("", "pawl-resume-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if kept != "" {
		dir = kept
	}
	m, err := newMachine(dir, built)
	if err != nil {
		return err
	}
	defer m.web.Close()
	small, err := m.task(len(task) + 2)
	if err != nil {
		return err
	}
	long, events, err := m.grow(small, calls)
	if err != nil {
		return err
	}
	if markdown {
		fmt.Printf("| %d calls, %d events, log %.1f MB | first, ms | median, ms | best, ms | CPU, ms | allocated, MB | live, MB |\n|---|---|---|---|---|---|---|\n", calls, events, float64(m.logSize())/1e6)
	} else {
		fmt.Printf("a session of %d calls, %d events, log %.1f MB\n", calls, events, float64(m.logSize())/1e6)
	}
	if whole {
		return here(m, long, n, cpu, heap)
	}
	for _, s := range []struct{ name, id string }{{"few calls", small}, {fmt.Sprint(calls, " calls"), long}} {
		var walls []time.Duration
		for range n + 1 {
			d, err := m.resume(s.id)
			if err != nil {
				return err
			}
			walls = append(walls, d)
		}
		if markdown {
			fmt.Printf("| start to first request, %s | %.1f | %.1f | %.1f | | | |\n", s.name, ms(walls[0]), ms(median(walls[1:])), ms(slices.Min(walls[1:])))
			continue
		}
		fmt.Printf("%-12s start to first request: first %6.1f ms, again %6.1f ms (best %.1f)\n",
			s.name, ms(walls[0]), ms(median(walls[1:])), ms(slices.Min(walls[1:])))
	}
	if markdown {
		if err := here(m, long, n, "", ""); err != nil {
			return err
		}
		whole = true
	}
	return here(m, long, n, cpu, heap)
}

// here takes the session up in this process.
func here(m *machine, id string, n int, cpu, heap string) error {
	if cpu != "" {
		f, err := os.Create(cpu)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var walls, cpus []time.Duration
	var bytes, objects uint64
	for i := range n {
		if whole {
			if err := os.RemoveAll(m.log() + ".folds"); err != nil {
				return err
			}
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		used, began := cpuTime(), time.Now()
		s, done, err := open(m, id, i > 0 || whole)
		if err != nil {
			return err
		}
		walls, cpus = append(walls, time.Since(began)), append(cpus, cpuTime()-used)
		runtime.ReadMemStats(&after)
		bytes, objects = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
		if i == n-1 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			if markdown {
				name := "the log with all folds"
				if whole {
					name += ", without a snapshot"
				}
				fmt.Printf("| %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name, ms(walls[0]), ms(median(walls)), ms(slices.Min(walls)), ms(slices.Min(cpus)), float64(bytes)/1e6, float64(after.HeapAlloc)/1e6)
			} else {
				fmt.Printf("here: best %.1f ms, median %.1f ms, CPU %.1f ms; allocated %.1f MB in %d objects; live after it %.1f MB\n",
					ms(slices.Min(walls)), ms(median(walls)), ms(slices.Min(cpus)), float64(bytes)/1e6, objects, float64(after.HeapAlloc)/1e6)
			}
			if heap != "" {
				if err := writeHeap(heap); err != nil {
					return err
				}
			}
		}
		runtime.KeepAlive(s)
		if err := done(); err != nil {
			return err
		}
	}
	return nil
}

func writeHeap(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("heap").WriteTo(f, 0)
}

// open opens a session with all its folds.
func open(m *machine, id string, readOnly bool) (*session.Session, func() error, error) {
	st, err := sqlite.Open(context.Background(), m.log(), sqlite.Options{})
	if err != nil {
		return nil, nil, err
	}
	s, err := session.Open(context.Background(), session.Config{
		Store: st, ID: id, Dir: m.work, Program: "bench", Frontend: "bench", Model: llmtest.New(), ReadOnly: readOnly,
		Permission: permission.New(permission.Config{Root: m.work}), Locks: turn.NewLocks(8),
		Tuning: session.Tuning{Progress: progress.Default()},
		Now:    time.Now, Sleep: session.SleepFor, Jitter: func() float64 { return 0 }, NewID: func() string { return "q" },
	})
	if err != nil {
		_ = st.Close()
		return nil, nil, err
	}
	return s, func() error {
		if err := s.Close(); err != nil {
			return err
		}
		return st.Close()
	}, nil
}

// logSize is the size of the log with what lies beside it.
func (m *machine) logSize() (n int64) {
	for _, suffix := range []string{"", "-wal"} {
		if st, err := os.Stat(m.log() + suffix); err == nil {
			n += st.Size()
		}
	}
	return n
}

func (m *machine) log() string { return filepath.Join(m.home, ".local", "state", "pawl", "pawl.db") }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(ds []time.Duration) time.Duration { return slices.Sorted(slices.Values(ds))[len(ds)/2] }
