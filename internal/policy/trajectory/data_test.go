package trajectory

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// trajectories is the folder of the recorded runs: PAWL_TRAJECTORIES, else
// beside the repository. The tests that need it have little to say without it;
// testdata holds what is checked everywhere.
func trajectories(t testing.TB, name string) []*Trajectory {
	t.Helper()
	dir := os.Getenv("PAWL_TRAJECTORIES")
	if dir == "" {
		dir = "../../../../shared/trajectories"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Logf("no recorded runs: %v", err)
		return nil
	}
	return readTrajectories(t, filepath.Join(dir, name))
}

func readTrajectories(t testing.TB, file string) []*Trajectory {
	t.Helper()
	raw := must.Get(os.ReadFile(file))(t)
	if strings.HasSuffix(file, ".gz") {
		z := must.Get(gzip.NewReader(bytes.NewReader(raw)))(t)
		raw = must.Get(io.ReadAll(z))(t)
	}
	var out []*Trajectory
	s := bufio.NewScanner(bytes.NewReader(raw))
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		if len(s.Bytes()) == 0 {
			continue
		}
		tr, err := ParseTrajectory(s.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, tr)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return out
}

// devRuns is read once: it is large, and nobody changes it.
var devRuns struct {
	once sync.Once
	runs []*Trajectory
}

func development(t testing.TB) []*Trajectory {
	devRuns.once.Do(func() { devRuns.runs = trajectories(t, "dev.jsonl.gz") })
	return devRuns.runs
}

// SPEC 6.1, 6.3, 6.4: the patterns that other agents' tests cover and the traps
// met in real runs.
func TestScenarios(t *testing.T) {
	t.Parallel()
	all := readTrajectories(t, "testdata/scenarios.jsonl")
	if len(all) < 12 {
		t.Fatalf("only %d scenarios in testdata", len(all))
	}
	for _, s := range append(all, trajectories(t, "scenarios.jsonl")...) {
		t.Run(s.Name, func(t *testing.T) {
			if r := Judge(progress.Default(), s); s.Differs(r) != "" {
				t.Errorf("%s: %+v", s.Differs(r), r.First)
			}
		})
	}
}

// SPEC 6.1: on real runs no resolved one is stopped before its last new
// content, and what is stuck is caught.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	var resolved, warned, stuck, caught, burnt, after int
	for _, tr := range development(t) {
		r := Judge(progress.Default(), tr)
		switch {
		case tr.Outcome == "resolved":
			resolved++
			if r.Warn != nil {
				warned++
			}
			if r.Halt != nil && *r.Halt < tr.LastNew {
				t.Errorf("%s was resolved and halts after step %d, before its last new content: %+v", tr.ID, *r.Halt, r.First)
			}
		case tr.StuckOnset != nil:
			stuck++
			after += tr.N - *tr.StuckOnset
			if r.Halt == nil {
				burnt += tr.N - *tr.StuckOnset
			} else if *r.Halt >= *tr.StuckOnset {
				caught++
				burnt += *r.Halt - *tr.StuckOnset + 1
			}
		}
	}
	if warned*20 > resolved {
		t.Errorf("%d of %d resolved runs are warned", warned, resolved)
	}
	if caught < stuck-1 {
		t.Errorf("%d of %d stuck runs are caught", caught, stuck)
	}
	if burnt*100 > 36*after {
		t.Errorf("%d of %d stuck steps are burnt", burnt, after)
	}
}

// SPEC 6.1: sessions of 1,000 real steps, made of runs that were resolved one
// after the other with nobody speaking in between, are never halted.
func TestChainedSessions(t *testing.T) {
	t.Parallel()
	d := progress.New(progress.Default())
	sessions, steps := 0, 0
	for _, tr := range development(t) {
		if tr.Outcome != "resolved" {
			continue
		}
		for i := range tr.Steps {
			s := tr.Steps[i].Step()
			// Another run is another workspace.
			if s.Target != "" {
				s.Target = tr.ID + "/" + s.Target
			}
			if v := d.Apply(s); v.Level == progress.Halt {
				t.Errorf("session %d halts at step %d (%s, %d): %+v", sessions, steps, tr.ID, i, v)
			}
			if steps++; steps == 1000 {
				d, steps = progress.New(progress.Default()), 0
				sessions++
			}
		}
	}
	t.Logf("%d sessions of 1,000 steps", sessions)
}
