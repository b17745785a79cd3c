// Command journal measures what a snapshot of a workspace costs, by its size:
//
//	go run ./bench/journal [-sizes 50,50000,500000] [-n 30] [-plain] [-dir FOLDER]
//
// It makes trees (ten files in a folder) in git repositories, or with -plain in
// plain folders. For each it opens two journals, one that walks and one that
// follows what the system tells, and takes snapshots with them in turns: when
// nothing changed, when ten files did, and when git's index did. It prints one
// table: medians of the time, and of the processor's time, since the machine may
// be busy; what the first snapshot takes; and the memory of the index. Run it
// with -way walk or -way follow under strace -fc to count system calls. -dir is a
// tree that is there, of one size. It asserts nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/bench/cputime"
	"github.com/pawl-agent/pawl/bench/filetree"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func main() {
	sizes := flag.String("sizes", "50,50000", "how many files the workspaces have")
	n := flag.Int("n", 30, "how many snapshots of each kind")
	plain := flag.Bool("plain", false, "without git")
	only := flag.String("way", "", "only walk, or only follow")
	flag.BoolVar(&cells, "cells", false, "print the processor's time as cells of a table")
	flag.StringVar(&there, "dir", "", "a tree that is there")
	flag.Parse()
	if err := run(*sizes, *n, *plain, *only); err != nil {
		fmt.Fprintln(os.Stderr, "journal:", err)
		os.Exit(1)
	}
}

var (
	cells bool
	there string
)

func run(sizes string, n int, plain bool, only string) error {
	if !cells {
		heads()
	}
	for s := range strings.SplitSeq(sizes, ",") {
		files, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		if err := size(files, n, plain, only); err != nil {
			return err
		}
	}
	return nil
}

func heads() {
	fmt.Println("   files  way      first ms   MB | nothing changed  | 10 files changed | git add of one   | Verify")
	fmt.Println("                                 |   wall      CPU  |   wall      CPU  |   wall      CPU  |   wall      CPU   ms")
}

// cost is the time of something, on the wall and on the processors.
type cost struct{ wall, cpu time.Duration }

func timed(do func() error) (cost, error) {
	start, used := time.Now(), cputime.Used()
	err := do()
	return cost{time.Since(start), cputime.Used() - used}, err
}

// way is one journal and what it cost.
type way struct {
	name                         string
	j                            *journal.Journal
	first                        cost
	heap                         int64
	nothing, ten, added, verifed []cost
}

func (w *way) look(into *[]cost, want int) error {
	var l tool.Snapshot
	c, err := timed(func() (err error) {
		if l, err = w.j.Snapshot(context.Background(), nil); err == nil {
			err = w.j.Checkpoint("")
		}
		return err
	})
	if err == nil && len(l.Effects) != want {
		err = fmt.Errorf("%s: %d changes, want %d", w.name, len(l.Effects), want)
	}
	if into != nil {
		*into = append(*into, c)
	}
	return err
}

func size(files, n int, plain bool, only string) error {
	dir, err := os.MkdirTemp("", "pawl-bench-journal-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	root := filepath.Join(dir, "work")
	if there != "" {
		root, err = filepath.EvalSymlinks(there)
	} else {
		err = filetree.Make(root, files, plain)
	}
	if err != nil {
		return err
	}
	var ways []*way
	for _, w := range []*way{{name: "walk"}, {name: "follow"}} {
		if only != "" && w.name != only {
			continue
		}
		from := -1
		if w.name == "follow" {
			from = 1
		}
		before := heap()
		w.j = journal.New(root, journal.Options{
			Dir: filepath.Join(dir, w.name), FirstSnapshot: 5 * time.Minute, MaxFiles: 2 * files, FollowFrom: from,
			Git: &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free},
		})
		defer w.j.Close()
		if w.first, err = timed(func() error { return w.look(nil, 0) }); err != nil {
			return err
		}
		if err := w.look(nil, 0); err != nil { // this one sets the watches
			return err
		}
		w.heap = heap() - before
		ways = append(ways, w)
	}
	changed := 0
	change := func(k int) error {
		changed++
		for i := range k {
			if err := os.WriteFile(filetree.File(root, i*(files/k)), fmt.Appendf(nil, "package p // change %d\n", changed), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	// Each round takes one snapshot of each kind in each way.
	for range n {
		for _, w := range ways {
			if err := w.look(&w.nothing, 0); err != nil {
				return err
			}
		}
		if err := change(10); err != nil {
			return err
		}
		for _, w := range ways {
			if err := w.look(&w.ten, 10); err != nil {
				return err
			}
		}
		if !plain {
			if err := change(1); err != nil {
				return err
			}
			if err := filetree.Git(root, "add", "-u"); err != nil {
				return err
			}
			for _, w := range ways {
				if err := w.look(&w.added, 1); err != nil {
					return err
				}
			}
		}
		time.Sleep(100 * time.Millisecond) // what was changed a moment ago is read again
		for _, w := range ways {
			if err := w.look(nil, 0); err != nil {
				return err
			}
			c, err := timed(func() error { _, err := w.j.Verify(context.Background()); return err })
			if err != nil {
				return err
			}
			w.verifed = append(w.verifed, c)
		}
	}
	if cells {
		printCells(ways)
		return nil
	}
	for _, w := range ways {
		fmt.Printf("%8d  %-6s %10.1f %5.1f | %s | %s | %s | %s\n", files, w.name, ms(w.first.wall), float64(w.heap)/1e6,
			median(w.nothing), median(w.ten), median(w.added), median(w.verifed))
	}
	return nil
}

// printCells prints the last way, following, with looking at every file after a stroke.
func printCells(ways []*way) {
	each := func(of func(*way) []cost, format string) string {
		var out []string
		for _, w := range slices.Backward(ways) {
			out = append(out, fmt.Sprintf(format, ms(middle(of(w)))))
		}
		return strings.Join(out, " / ")
	}
	last := ways[len(ways)-1]
	fmt.Printf("%.0f | %s | %s | %s | %.0f | %.1f\n", ms(last.first.wall),
		each(func(w *way) []cost { return w.nothing }, "%.2f"), each(func(w *way) []cost { return w.ten }, "%.2f"),
		each(func(w *way) []cost { return w.added }, "%.2f"), ms(middle(last.verifed)), float64(last.heap)/1e6)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// median returns the medians as two columns.
func median(cs []cost) string {
	if len(cs) == 0 {
		return fmt.Sprintf("%7s %8s ", "-", "-")
	}
	var wall, cpu []time.Duration
	for _, c := range cs {
		wall, cpu = append(wall, c.wall), append(cpu, c.cpu)
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	return fmt.Sprintf("%7.2f %8.2f ", ms(wall[len(wall)/2]), ms(cpu[len(cpu)/2]))
}

// middle returns the median of the processor's time.
func middle(cs []cost) time.Duration {
	if len(cs) == 0 {
		return 0
	}
	var cpu []time.Duration
	for _, c := range cs {
		cpu = append(cpu, c.cpu)
	}
	slices.Sort(cpu)
	return cpu[len(cpu)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
