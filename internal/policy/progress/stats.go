package progress

import "maps"

// Stats is the statistics of a session (SPEC 6.6).
type Stats struct {
	Calls     int
	Successes int
	Failures  int
	// Contents is the number of new contents.
	Contents int
	// Files holds the newest content of each changed file, Commands how often
	// each command ran, Tests the newest outcome of each test command. Each
	// holds the first 10,000; the totals continue.
	Files      map[string]string
	Commands   map[string]int
	Tests      map[string]bool
	TestsRun   int
	TestsOK    int
	Actions    []RecentStep // the newest, oldest first
	Errors     []string     // the newest, oldest first
	FailStreak int          // failures in a row
}

// RecentStep is a summary of a step.
type RecentStep struct {
	Step   int
	Tool   string
	Kind   Kind
	Target string
	OK     bool
	Fresh  bool // left a new content
}

const statsLimit = 10_000

type stats struct {
	Stats
	actions, errors int
}

func (t *stats) init(c Config) {
	t.actions, t.errors = c.MaxRecentActions, c.MaxRecentErrors
	t.Files, t.Commands, t.Tests = map[string]string{}, map[string]int{}, map[string]bool{}
}

func (t *stats) add(s *Step, f *facts) {
	if s.Kind == None {
		return
	}
	t.Calls++
	t.Actions = last(t.Actions, RecentStep{
		Step: f.n, Tool: s.Tool, Kind: s.Kind, Target: s.Target, OK: s.OK, Fresh: f.fresh,
	}, t.actions)
	if s.OK {
		t.Successes++
		t.FailStreak = 0
	} else {
		t.Failures++
		t.FailStreak++
		t.Errors = last(t.Errors, s.Error, t.errors)
	}
	if f.fresh {
		t.Contents++
	}
	if s.OK && s.Kind == Edit && s.Target != "" {
		keepIn(t.Files, s.Target, s.State)
	}
	for _, x := range s.Files {
		keepIn(t.Files, x.Path, x.Hash)
	}
	if s.Kind == Exec || s.Kind == Test || s.Kind == Wait {
		keepIn(t.Commands, s.Args, t.Commands[s.Args]+1)
	}
	if s.Kind == Test {
		t.TestsRun++
		if s.OK && s.Tested {
			t.TestsOK++
		}
		keepIn(t.Tests, s.Args, s.OK)
	}
}

// last appends to a list that keeps the newest k values, moving them in place.
func last[T any](l []T, v T, k int) []T {
	if len(l) < k {
		return append(l, v)
	}
	copy(l, l[1:])
	l[len(l)-1] = v
	return l
}

func keepIn[V any](m map[string]V, k string, v V) {
	if _, ok := m[k]; ok || len(m) < statsLimit {
		m[k] = v
	}
}

// Stats returns a copy of what is kept.
func (d *Detector) Stats() Stats {
	s := d.stats.Stats
	s.Files, s.Commands, s.Tests = maps.Clone(s.Files), maps.Clone(s.Commands), maps.Clone(s.Tests)
	s.Actions = append([]RecentStep(nil), s.Actions...)
	s.Errors = append([]string(nil), s.Errors...)
	return s
}

// Brief is the statistics as numbers, which are almost free to compute.
type Brief struct {
	Calls, Files, TestsRun, TestsOK, FailStreak int
	OK, Failed                                  int // among the newest actions
}

// Recent returns the statistics as numbers.
func (d *Detector) Recent() Brief {
	s := &d.stats
	b := Brief{Calls: s.Calls, Files: len(s.Files), TestsRun: s.TestsRun, TestsOK: s.TestsOK, FailStreak: s.FailStreak}
	for i := range s.Actions {
		if s.Actions[i].OK {
			b.OK++
		} else {
			b.Failed++
		}
	}
	return b
}
