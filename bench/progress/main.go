// Command progress scores the stuck detection on recorded trajectories and
// prints the figures beside those that are known of other detectors.
//
//	go run ./bench/progress [-set dev] [-path ../shared/trajectories] [-by source|agent|model] [-mask P] [-off RULE,…]
//	go run ./bench/progress -graft N [-seed S]
//	go run ./bench/progress -cross
//
// The figures are those of score.py; with -by they are told apart, and with
// -mask each fact of each step is forgotten with that probability, which shows
// what a less talkative recording would do to them.
//
// With -graft loops, and innocent runs that look like loops, are set upon the
// starts of N resolved runs, in the words of several agents: how many of each
// are halted, and after how many steps. With -cross a threshold is tuned to one
// part of the data and scored on the rest.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

func main() {
	set := flag.String("set", "dev", "which file: SET.jsonl.gz")
	path := flag.String("path", "../shared/trajectories", "the folder of the trajectories")
	by := flag.String("by", "", "tell apart by source, agent or model")
	mask := flag.Float64("mask", 0, "forget each fact of a step with this probability")
	off := flag.String("off", "", "rules to switch off, with commas")
	plant := flag.Int("graft", 0, "set loops and innocent runs upon the starts of this many resolved runs instead")
	width := flag.Int("width", 1, "how many calls a reply of the grafts has")
	seed := flag.Uint64("seed", 1, "what the random grafts are drawn from")
	tuned := flag.Bool("cross", false, "show instead what tuning to a part of the data would do to the rest")
	flag.Parse()
	c := progress.Default()
	if *off != "" {
		c.Off = strings.Split(*off, ",")
	}
	if err := c.Check(); err != nil {
		fail(err)
	}
	if *tuned {
		if err := cross(os.Stdout, filepath.Join(*path, *set+".jsonl.gz"), c); err != nil {
			fail(err)
		}
		return
	}
	if *plant > 0 {
		s, err := starts(filepath.Join(*path, *set+".jsonl.gz"), *plant)
		if err != nil {
			fail(err)
		}
		bad := append(append(loops(), noisy()...), random(40, *seed, randomLoop)...)
		good := append(append(innocents(), monotonous()...), random(40, *seed, randomWork)...)
		printGrafts(os.Stdout, together(grafts(c, s, bad, *width, loopSteps)), together(grafts(c, s, good, *width, innocentSteps)))
		return
	}
	if err := run(os.Stdout, filepath.Join(*path, *set+".jsonl.gz"), c, *by, *mask); err != nil {
		fail(err)
	}
	if err := scenarios(os.Stdout, filepath.Join(*path, "scenarios.jsonl"), c); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench/progress:", err)
	os.Exit(1)
}

// known are the results of other detectors on all 3,027 trajectories (README.md of the
// data).
const known = `
known of all 3,027 trajectories:
                          resolved halted  harmful  stuck caught  delay  burnt
  Crush                                 0        0          38 %   8/17   80 %
  Gemini CLI (cycle rule)               2        0          54 %  10/26   72 %
  OpenHands 0.x                         1        0          47 %   9/26   76 %
  OpenHands SDK v1                      0        0          42 %  10/28   80 %
  opencode (3 identical)               12        8          50 %   6/14   69 %
  Roo Code (4th identical)              4        2          46 %   7/16   73 %
  goose                                15       10          67 %   6/14   50 %
  source N read literally             188      175   100 % early   8/9    20 %
  prototype of SPEC 6.3                 2        0          90 %   9/18   41 %
`

func run(out io.Writer, file string, c progress.Config, by string, mask float64) error {
	groups := map[string]*Score{}
	rng := rand.New(rand.NewPCG(1, 2))
	var steps int
	var took time.Duration
	err := Each(file, func(t *trajectory.Trajectory) error {
		if mask > 0 {
			forget(rng, t, mask)
		}
		start := time.Now()
		r := trajectory.Judge(c, t)
		took += time.Since(start)
		steps += len(t.Steps)
		for _, g := range []string{"", group(t, by)} {
			if groups[g] == nil {
				groups[g] = &Score{Rules: map[string]int{}}
			}
			groups[g].Add(t, r)
			if by == "" {
				break
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	names := make([]string, 0, len(groups))
	for g := range groups {
		names = append(names, g)
	}
	slices.Sort(names)
	for _, g := range names {
		if g != "" {
			fmt.Fprintf(out, "\n%s\n", g)
		}
		groups[g].Print(out)
	}
	fmt.Fprintf(out, "\n%d steps judged in %v\n", steps, took.Round(time.Millisecond))
	_, err = io.WriteString(out, known)
	return err
}

func group(t *trajectory.Trajectory, by string) string {
	switch by {
	case "source":
		return t.Source
	case "agent":
		return t.Agent
	case "model":
		return t.Model
	}
	return ""
}

// forget drops facts of steps at random.
func forget(rng *rand.Rand, t *trajectory.Trajectory, p float64) {
	for i := range t.Steps {
		s := &t.Steps[i]
		for _, f := range []*string{&s.Target, &s.State, &s.EditHash, &s.MsgHash} {
			if rng.Float64() < p {
				*f = ""
			}
		}
	}
}

// Each reads a file of trajectories, one on each line, gzipped if its name ends in .gz.
func Each(file string, do func(*trajectory.Trajectory) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	b := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := b.ReadBytes('\n')
		if len(line) > 1 {
			t, perr := trajectory.ParseTrajectory(line)
			if perr != nil {
				return fmt.Errorf("%s:%d: %w", file, n, perr)
			}
			if err := do(t); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func scenarios(out io.Writer, file string, c progress.Config) error {
	total, bad := 0, 0
	err := Each(file, func(t *trajectory.Trajectory) error {
		total++
		r := trajectory.Judge(c, t)
		if why := t.Differs(r); why != "" {
			bad++
			got, _ := json.Marshal(r.First)
			fmt.Fprintf(out, "scenario %q: %s: %s\n", t.Name, why, got)
		}
		return nil
	})
	fmt.Fprintf(out, "scenarios: %d of %d as expected\n", total-bad, total)
	return err
}
