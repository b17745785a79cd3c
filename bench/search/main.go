// Command search measures pawl's grep and glob beside ripgrep's:
//
//	go run ./bench/search [-sizes 50000,500000] [-n 5] [-dir FOLDER] [-markdown]
//
// It makes trees of source-like files (ten in a folder, in git, with ignore
// files and ignored output) in a temporary folder, which it removes, and runs the
// same searches in turns with pawl's tools in this process and with the rg of
// PATH, whose start is part of its time. It checks that both find the same, and
// prints the least time and processor's time of each, with their ratios: the
// machine may be busy. Early is a search that has enough after 500 matches; first is the time
// to the first result: of rg to its first line, of pawl of a search for one. -dir
// searches a folder that is there; -markdown prints the table of bench/scale/README.md.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/bench/cputime"
	"github.com/pawl-agent/pawl/bench/filetree"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func main() {
	sizes := flag.String("sizes", "50000", "how many files the trees have")
	n := flag.Int("n", 5, "how often each search is run")
	dir := flag.String("dir", "", "a folder to search instead")
	flag.BoolVar(&markdown, "markdown", false, "print Markdown")
	flag.Parse()
	if err := run(*sizes, *n, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

var markdown bool

func run(sizes string, n int, dir string) error {
	load, _ := os.ReadFile("/proc/loadavg") // none on other systems
	version, err := exec.Command("rg", "--version").Output()
	if err != nil {
		return fmt.Errorf("run rg: %w", err)
	}
	line, _, _ := strings.Cut(string(version), "\n")
	fmt.Fprintf(os.Stderr, "%s; load %s", line, load)
	if markdown {
		fmt.Println("| files | search | found | ripgrep, wall / CPU, ms | pawl, wall / CPU, ms | ratio, wall / CPU | first result, ripgrep / pawl, ms |\n|---|---|---|---|---|---|---|")
	} else {
		fmt.Println("   files  search               found |  rg ms    CPU  first | pawl ms    CPU  first | ratio    CPU | peak MB")
	}
	if dir != "" {
		return measure(dir, 0, n)
	}
	for s := range strings.SplitSeq(sizes, ",") {
		files, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		if err := made(files, n); err != nil {
			return err
		}
	}
	return nil
}

func made(files, n int) error {
	dir, err := os.MkdirTemp("", "pawl-bench-search-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := filetree.Source(dir, files); err != nil {
		return err
	}
	return measure(dir, files, n)
}

// kind is one search, for both.
type kind struct {
	name  string
	query tool.Query
	glob  string
	rg    []string
	early bool
}

var kinds = []kind{
	{name: "rare text", query: tool.Query{Pattern: "rareNeedle", Literal: true}, rg: []string{"-F", "rareNeedle"}},
	{name: "no match", query: tool.Query{Pattern: "nowhereAtAll"}, rg: []string{"nowhereAtAll"}},
	{name: "regular expression", query: tool.Query{Pattern: `func \w+Error\(`}, rg: []string{`func \w+Error\(`}},
	{name: "without a literal", query: tool.Query{Pattern: `[a-z]\d{5}_[A-Z]`}, rg: []string{`[a-z]\d{5}_[A-Z]`}},
	{name: "ignoring case", query: tool.Query{Pattern: "RARENEEDLE", IgnoreCase: true}, rg: []string{"-i", "RARENEEDLE"}},
	{name: "only *.md", query: tool.Query{Pattern: "rareNeedle", Glob: "*.md"}, rg: []string{"-g", "*.md", "rareNeedle"}},
	{name: "early", query: tool.Query{Pattern: "return", Limit: 500}, rg: []string{"return"}, early: true},
	{name: "glob *.md", glob: "*.md", rg: []string{"--files", "-g", "*.md"}},
	{name: "glob *", glob: "*", rg: []string{"--files"}},
}

func measure(dir string, files, n int) error {
	w, err := workspace.Open(dir, workspace.Options{Git: &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}})
	if err != nil {
		return err
	}
	defer w.Close()
	for _, k := range kinds {
		var theirs, ours cost
		var want, got int
		for i := range n {
			c, found, err := rg(dir, k)
			if err != nil {
				return err
			}
			theirs, want = least(theirs, c, i), found
			if c, found, err = pawl(w, k, 0); err != nil {
				return err
			}
			one, _, err := pawl(w, k, 1)
			if err != nil {
				return err
			}
			c.first = one.wall
			ours, got = least(ours, c, i), found
		}
		if got != want && !k.early {
			return fmt.Errorf("%s: rg finds %d, pawl %d", k.name, want, got)
		}
		if markdown {
			fmt.Printf("| %s | %s | %d | %.1f / %.1f | %.1f / %.1f | %.2f / %.2f | %.1f / %.1f |\n", strconv.Itoa(files), strings.ReplaceAll(k.name, "*", "\\*"), got,
				ms(theirs.wall), ms(theirs.cpu), ms(ours.wall), ms(ours.cpu), ratio(ours.wall, theirs.wall), ratio(ours.cpu, theirs.cpu), ms(theirs.first), ms(ours.first))
			continue
		}
		fmt.Printf("%8d  %-18s %7d | %6.1f %6.1f %6.1f | %7.1f %6.1f %6.1f | %5.2f  %5.2f | %6.1f\n", files, k.name, got,
			ms(theirs.wall), ms(theirs.cpu), ms(theirs.first), ms(ours.wall), ms(ours.cpu), ms(ours.first),
			ratio(ours.wall, theirs.wall), ratio(ours.cpu, theirs.cpu), peak())
	}
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

type cost struct{ wall, cpu, first time.Duration }

func least(a, b cost, i int) cost {
	if i == 0 {
		return b
	}
	return cost{min(a.wall, b.wall), min(a.cpu, b.cpu), min(a.first, b.first)}
}

func rg(dir string, k kind) (cost, int, error) {
	cmd := exec.Command("rg", append([]string{"--no-config", "--hidden", "-g", "!.git", "--no-messages"}, k.rg...)...)
	if k.glob == "" {
		cmd.Args = append(cmd.Args, ".")
	}
	cmd.Dir = dir
	var out lines
	cmd.Stdout = &out
	start := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(start)}
	if c.first = c.wall; out.n > 0 {
		c.first = out.first.Sub(start)
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
		return c, 0, fmt.Errorf("rg: %w", err)
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return c, out.n, nil
}

// lines counts lines, and notes when the first came.
type lines struct {
	n     int
	first time.Time
}

func (l *lines) Write(b []byte) (int, error) {
	if l.n == 0 {
		l.first = time.Now()
	}
	l.n += bytes.Count(b, []byte("\n"))
	return len(b), nil
}

// pawl runs a search; limit, if not 0, is how many results are enough.
func pawl(w *workspace.Workspace, k kind, limit int) (cost, int, error) {
	start, used := time.Now(), cputime.Used()
	found := 0
	if k.glob != "" {
		names, _, err := w.Glob(context.Background(), ".", k.glob, limit)
		if err != nil {
			return cost{}, 0, err
		}
		found = len(names)
	} else {
		q := k.query
		q.Dir = "."
		if q.Limit = cmp.Or(limit, q.Limit); q.Limit == 0 {
			q.Limit = 1 << 30
		}
		m, err := w.Grep(context.Background(), q)
		if err != nil {
			return cost{}, 0, err
		}
		found = m.Hits
	}
	return cost{wall: time.Since(start), cpu: cputime.Used() - used}, found, nil
}

// peak is the memory that the process has got so far, in MB.
func peak() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / 1e6
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
