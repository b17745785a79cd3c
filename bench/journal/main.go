// Command journal measures what a snapshot of a large workspace costs:
//
//	go run ./bench/journal [-files 50000] [-n 30]
//
// It makes a tree (ten files in a folder), with and without a git repository. It prints
// the time of the first snapshot, the memory of the index, and the time of a snapshot
// when nothing changed. A filepath.WalkDir with Lstat of the same tree runs in turns
// with the last one, and their ratio is printed. It asserts nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

func main() {
	files := flag.Int("files", 50_000, "how many files")
	n := flag.Int("n", 30, "how many looks")
	flag.Parse()
	if err := run(*files, *n); err != nil {
		fmt.Fprintln(os.Stderr, "journal:", err)
		os.Exit(1)
	}
}

func run(files, n int) error {
	dir, err := os.MkdirTemp("", "pawl-bench-journal-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	root := filepath.Join(dir, "work")
	for i := range files {
		p := filepath.Join(root, fmt.Sprintf("m%02d", i/10%50), fmt.Sprintf("package%05d", i/10))
		if i%10 == 0 {
			if err := os.MkdirAll(p, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(p, fmt.Sprintf("file_%d.go", i%10)), fmt.Appendf(nil, "package p // %d\n", i), 0o644); err != nil {
			return err
		}
	}
	// Files that were just written are read again at the next snapshot.
	time.Sleep(200 * time.Millisecond)
	if err := measure("plain folder", root, filepath.Join(dir, "plain"), n); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@x", "-c", "gc.auto=0", "commit", "-qm", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	time.Sleep(200 * time.Millisecond)
	return measure("git repository", root, filepath.Join(dir, "git"), n)
}

func measure(name, root, state string, n int) error {
	before := heap()
	j := journal.New(root, journal.Options{Dir: state, FirstSnapshot: time.Minute, Git: &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}})
	defer j.Close()
	ctx := context.Background()
	start := time.Now()
	l, err := j.Snapshot(ctx, nil)
	if err != nil {
		return err
	}
	first := time.Since(start)
	if err := j.Checkpoint("bench"); err != nil { // written to disk once
		return err
	}
	memory := heap() - before
	var looks, walks []time.Duration
	for range n {
		start := time.Now()
		if l, err = j.Snapshot(ctx, nil); err != nil {
			return err
		}
		looks = append(looks, time.Since(start))
		start = time.Now()
		if err := walk(root); err != nil {
			return err
		}
		walks = append(walks, time.Since(start))
	}
	fmt.Printf("%s, %d files\n", name, l.Files)
	fmt.Printf("  first look              %8.1f ms\n", ms(first))
	fmt.Printf("  index in memory         %8.1f MB\n", float64(memory)/1e6)
	fmt.Printf("  look, nothing changed   %8.1f ms   (best %.1f)\n", ms(median(looks)), ms(slices.Min(looks)))
	fmt.Printf("  WalkDir and Lstat       %8.1f ms   (best %.1f)\n", ms(median(walks)), ms(slices.Min(walks)))
	fmt.Printf("  ratio                   %8.2f\n", float64(median(looks))/float64(median(walks)))
	return nil
}

func walk(root string) error {
	return filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			_, err = d.Info()
		}
		return err
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func median(ds []time.Duration) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return ds[len(ds)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
