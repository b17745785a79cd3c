// Command repair measures the repair of failing Go tests on planted bugs. It
// prints rates and asserts none.
//
//	go run ./bench/repair [-set quixbugs|planted|fresh|all | -dir FOLDER] [-n N] [-run TEXT,…] [-v] [-check] [-swarm PAWL]
//
// A case is a correct program, a bug, a small visible test and a larger hidden
// one. The hidden test is copied in after the repair and decides whether it is
// correct. -check runs both tests on the correct and on the broken programs
// instead, to see that the cases are sound.
//
// -swarm PAWL has the pawl program repair all cases together, as packages of one
// project and tasks of one swarm, with 4 worker processes that a NATS server joins.
//
// The operators and their weights were developed with quixbugs and planted. Somebody
// else wrote fresh before it was first run, so its figure is unbiased. But the weight
// of kept behaviour was chosen when its first results were known: write new cases
// before the next tuning.
package main

import (
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

//go:embed testdata
var data embed.FS

func main() {
	set := flag.String("set", "all", "quixbugs, planted, fresh or all")
	n := flag.Int("n", 0, "run the first N cases of each set only")
	only := flag.String("run", "", "run the cases whose name contains one of these texts")
	dir := flag.String("dir", "", "repair the cases of this folder instead")
	verbose := flag.Bool("v", false, "print what is tried, and what passes")
	check := flag.Bool("check", false, "check the cases instead of repairing them")
	program := flag.String("swarm", "", "have this pawl program repair all cases as one swarm on 4 worker processes over NATS, and fail where one is not")
	flag.Parse()
	if err := run(*dir, *set, *n, *only, *verbose, *check, *program); err != nil {
		fmt.Fprintln(os.Stderr, "repair:", err)
		os.Exit(1)
	}
}

func run(dir, set string, n int, only string, verbose, check bool, program string) error {
	var together []*bugCase
	var from fs.FS = data
	if dir != "" {
		from, set = os.DirFS(dir), "."
	}
	for _, name := range []string{"quixbugs", "planted", "fresh", "."} {
		if set != name && (set != "all" || name == ".") {
			continue
		}
		at := "testdata/" + name
		if name == "." {
			at = name
		}
		cases, err := load(from, at)
		if err != nil {
			return err
		}
		if n > 0 && len(cases) > n {
			cases = cases[:n]
		}
		t := tally{name: name, failed: map[string]int{}}
		for _, c := range cases {
			if !slices.ContainsFunc(strings.Split(only, ","), func(part string) bool { return strings.Contains(c.name, part) }) {
				continue
			}
			if program != "" {
				together = append(together, c)
				continue
			}
			if check {
				if err := c.check(); err != nil {
					fmt.Printf("%-28s unsound: %v\n", c.name, err)
				}
				continue
			}
			r, err := c.repair(verbose)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			t.add(c, r)
		}
		if !check && program == "" {
			t.print()
		}
	}
	if program != "" {
		return swarm(program, together)
	}
	return nil
}

// result is the result of one case.
type result struct {
	report  repair.Report
	correct bool
	took    time.Duration
}

// tally counts results.
type tally struct {
	name                                  string
	cases, plausible, fixed, right, wrong int
	guess, guessRight                     int
	runs, tried                           int
	took                                  time.Duration
	failed                                map[string]int
	kinds                                 map[string][2]int
}

func (t *tally) add(c *bugCase, r result) {
	t.cases++
	t.runs += r.report.Runs
	t.tried += r.report.Tried
	t.took += r.took
	if t.kinds == nil {
		t.kinds = map[string][2]int{}
	}
	k := t.kinds[c.kind]
	k[1]++
	word := string(r.report.Outcome)
	switch r.report.Outcome {
	case repair.Fixed:
		t.plausible++
		t.fixed++
		if r.correct {
			t.right++
			k[0]++
			word = "fixed, correct"
		} else {
			t.wrong++
			word = "fixed, WRONG"
		}
	case repair.Uncertain:
		t.plausible++
		t.guess++
		if r.correct {
			t.guessRight++
			k[0]++
			word = "uncertain, correct"
		} else {
			word = "uncertain, wrong"
		}
	default:
		t.failed[word]++
	}
	t.kinds[c.kind] = k
	fmt.Printf("%-30s %-19s %-16s %5.1fs %3d runs %4d tried %3d pass  %s\n", c.name, word, r.report.Edit.Operator, r.took.Seconds(),
		r.report.Runs, r.report.Tried, len(r.report.Plausible), strings.TrimSpace(strings.ReplaceAll(r.report.Edit.New, "\n", " ")))
}

func (t *tally) print() {
	rate := func(a, b int) string {
		if b == 0 {
			return "-"
		}
		return fmt.Sprintf("%d of %d (%d %%)", a, b, 100*a/b)
	}
	fmt.Printf("\n%s: %d cases\n", t.name, t.cases)
	fmt.Printf("  plausible (all visible tests pass)   %s\n", rate(t.plausible, t.cases))
	fmt.Printf("  correct (hidden tests pass)          %s\n", rate(t.right+t.guessRight, t.cases))
	fmt.Printf("  called fixed                         %s\n", rate(t.fixed, t.cases))
	fmt.Printf("  of these correct                     %s\n", rate(t.right, t.fixed))
	fmt.Printf("  called uncertain, of these correct   %s\n", rate(t.guessRight, t.guess))
	words := make([]string, 0, len(t.failed))
	for w := range t.failed {
		words = append(words, w)
	}
	sort.Strings(words)
	for _, w := range words {
		fmt.Printf("  %-36s %d\n", w, t.failed[w])
	}
	kinds := make([]string, 0, len(t.kinds))
	for k := range t.kinds {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	fmt.Print("  correct by kind of bug:")
	for _, k := range kinds {
		fmt.Printf(" %s %d/%d", k, t.kinds[k][0], t.kinds[k][1])
	}
	fmt.Println()
	if t.cases > 0 {
		fmt.Printf("  %.0f s, %.1f s a case, %.1f commands a case, %d candidates a case\n\n", t.took.Seconds(),
			t.took.Seconds()/float64(t.cases), float64(t.runs)/float64(t.cases), t.tried/t.cases)
	}
}
