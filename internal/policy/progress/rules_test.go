package progress

import (
	"fmt"
	"slices"
	"testing"
)

// play returns the first verdict of each level over steps, and its step.
func play(c Config, steps ...Step) (warn, halt Finding, raw Raw) {
	d := New(c)
	for i, s := range steps {
		v := d.Apply(s)
		raw.Add(i, v)
		switch {
		case v.Level == Warn && warn.Level == OK:
			warn = v
		case v.Level == Halt && halt.Level == OK:
			halt = v
		}
	}
	return warn, halt, raw
}

// only switches all rules but one off.
func only(name string) Config {
	c := Default()
	for _, r := range ruleNames() {
		if r != name {
			c.Off = append(c.Off, r)
		}
	}
	return c
}

func read(path, result string) Step {
	return Step{Tool: "read", Kind: Read, Target: path, Args: path, OK: true, Exact: result, Len: len(result) + 2}
}

func edit(path, args, state string) Step {
	return Step{Tool: "edit", Kind: Edit, Target: path, Args: args, Edit: args, OK: true, Exact: "ok", Len: 20, State: state}
}

func failed(s Step, text string) Step {
	s.OK, s.Error, s.State = false, text, ""
	return s
}

func test(ok bool, text string) Step {
	s := Step{Tool: "bash", Kind: Test, Args: "go test ./...", OK: ok, Tested: ok, Exact: text, Len: 40}
	if !ok {
		s.Error = text
	}
	return s
}

func run1(args, result string) Step {
	return Step{Tool: "bash", Kind: Exec, Args: args, OK: true, Exact: result, Len: len(result)}
}

func wait(result string) Step {
	return Step{Tool: "bash_output", Kind: Wait, Args: "1", OK: true, Exact: result, Len: 20}
}

func times(n int, f func(i int) []Step) []Step {
	var out []Step
	for i := range n {
		out = append(out, f(i)...)
	}
	return out
}

func one(s Step) func(int) []Step { return func(int) []Step { return []Step{s} } }

// SPEC 6.3: each way of being stuck is seen by the rule that is named for it,
// alone, with its evidence, and that rule can be switched off.
func TestEachRule(t *testing.T) {
	t.Parallel()
	mismatch := failed(edit("main.go", "old→new", ""), "old string not found")
	for _, c := range []struct {
		rule  string
		level Level
		at    int // the step it first speaks after
		steps []Step
	}{
		{"identical", Halt, 4, times(6, one(read("a.go", "content")))},
		{"cycle", Halt, 5, times(4, func(int) []Step { return []Step{read("a", "A"), read("b", "B")} })},
		{"cycle", Halt, 23, times(4, func(int) []Step {
			return times(8, func(i int) []Step { return []Step{read(fmt.Sprint(i), fmt.Sprint("c", i))} })
		})},
		{"staleness", Warn, 3, times(4, one(read("a.go", "content")))},
		{"staleness", Halt, 10, times(11, func(i int) []Step {
			return []Step{failed(edit("a.go", fmt.Sprint(i), ""), "syntax error")}
		})},
		{"sterile", Halt, 8, times(9, func(i int) []Step {
			return []Step{failed(edit("a.go", fmt.Sprint(i), ""), fmt.Sprint("error ", i%3))}
		})},
		{"failed_edit", Warn, 8, times(8, func(i int) []Step {
			return []Step{failed(edit("a.go", fmt.Sprint(i), ""), "old text not found"), read("a.go", fmt.Sprint("lines ", i))}
		})},
		{"failed_edit", Halt, 14, times(8, func(i int) []Step {
			return []Step{failed(edit("a.go", fmt.Sprint(i), ""), "old text not found"), read("a.go", fmt.Sprint("lines ", i))}
		})},
		{"waiting", Halt, 40, times(42, one(wait("nothing new")))},
		{"same_error", Warn, 2, times(3, one(mismatch))},
		{"varied_error", Warn, 2, times(3, func(i int) []Step {
			return []Step{failed(edit(fmt.Sprint(i, ".go"), fmt.Sprint(i), ""), "disk full")}
		})},
		{"repeated", Warn, 5, []Step{
			read("a", "A"), read("b", "B"), read("a", "A"), read("b", "B"), read("a", "A"), read("b", "B"),
		}},
		{"reapplied", Warn, 4, times(4, func(i int) []Step {
			return []Step{edit("a.go", "X", "s"), run1(fmt.Sprint(i), fmt.Sprint("out ", i))}
		})},
		{"oscillation", Warn, 3, times(2, func(int) []Step {
			return []Step{edit("a.go", "X", "s1"), edit("a.go", "Y", "s2")}
		})},
		{"same_failure", Warn, 6, append([]Step{test(false, "FAIL: TestX")}, times(3, func(i int) []Step {
			return []Step{edit("a.go", fmt.Sprint(i), fmt.Sprint("s", i)), test(false, "FAIL: TestX")}
		})...)},
		{"message", Warn, 2, times(3, func(i int) []Step {
			s := failed(read(fmt.Sprint(i), ""), "")
			s.Message = "let me look"
			return []Step{s}
		})},
	} {
		t.Run(fmt.Sprint(c.rule, c.at), func(t *testing.T) {
			warn, halt, raw := play(only(c.rule), c.steps...)
			v, at := warn, raw.Warn
			if c.level == Halt {
				v, at = halt, raw.Halt
			}
			if at == nil || *at != c.at || v.Rule != c.rule {
				t.Fatalf("warn %+v, halt %+v", warn, halt)
			}
			if v.Text == "" || v.Fingerprint == "" || len(v.Steps) == 0 || v.Steps[len(v.Steps)-1] != c.at || !slices.IsSorted(v.Steps) {
				t.Errorf("evidence %+v", v)
			}
			if c.level == Warn && c.rule != "staleness" && c.rule != "failed_edit" && halt.Level != OK {
				t.Errorf("it only warns, and halts: %+v", halt)
			}
			off := Default()
			off.Off = []string{c.rule}
			if w, h, _ := play(off, c.steps...); w.Rule == c.rule || h.Rule == c.rule {
				t.Errorf("switched off, it says %+v %+v", w, h)
			}
		})
	}
	off := Default()
	off.Enable = false
	if w, h, _ := play(off, times(40, one(mismatch))...); w.Level != OK || h.Level != OK {
		t.Errorf("disabled, it says %+v %+v", w, h)
	}
}

// SPEC 6.3: the same words said with echo again and again are a call with one
// result, and no thought, although thoughts between calls are left out.
func TestSameThought(t *testing.T) {
	t.Parallel()
	say := Step{Tool: "bash", Kind: Think, Args: "echo done", OK: true, Exact: "done", Norm: "done", Len: 4}
	if _, h, raw := play(only("identical"), times(6, one(say))...); raw.Halt == nil || *raw.Halt != 4 || h.Steps[0] != 0 {
		t.Errorf("identical: %+v", h)
	}
	if w, _, raw := play(only("repeated"), times(4, one(say))...); raw.Warn == nil || *raw.Warn != 2 {
		t.Errorf("repeated: %+v", w)
	}
	think := func(i int) Step {
		return Step{Tool: "think", Kind: Think, Args: fmt.Sprint(i), OK: true, Exact: "noted", Len: 5}
	}
	// Thoughts between the same calls hide nothing, and are not a loop themselves.
	if _, h, _ := play(only("identical"), times(6, func(i int) []Step { return []Step{run1("ls", "same"), think(i)} })...); h.Level != Halt || h.Steps[0] != 0 {
		t.Errorf("between thoughts: %+v", h)
	}
	if _, h, _ := play(only("identical"), times(9, func(i int) []Step { return []Step{think(i), run1(fmt.Sprint(i), "same")} })...); h.Level != OK {
		t.Errorf("other thoughts: %+v", h)
	}
	if _, h, _ := play(only("identical"), times(9, func(i int) []Step { return []Step{think(1), run1(fmt.Sprint(i), "same")} })...); h.Level != OK {
		t.Errorf("one thought between other calls: %+v", h)
	}
}

// SPEC 6.4: what is never halted.
func TestInnocent(t *testing.T) {
	t.Parallel()
	page := func(i int) []Step {
		s := read("big.go", fmt.Sprint("page", i))
		s.Args = fmt.Sprint(i)
		return []Step{s}
	}
	for name, steps := range map[string][]Step{
		"polling whose output changes": times(200, func(i int) []Step { return []Step{run1("tail log", fmt.Sprint("at ", i))} }),
		"a background job": times(300, func(int) []Step {
			s := wait("still building")
			s.Patient = true
			return []Step{s}
		}),
		"a job asked after a sleep": times(30, func(int) []Step {
			return []Step{{Tool: "bash", Kind: Wait, Args: "sleep 30", OK: true}, read("build.log", "42%")}
		}),
		"go test after an edit": times(200, func(i int) []Step {
			return []Step{edit("a.go", fmt.Sprint(i), fmt.Sprint("s", i)), test(true, "PASS")}
		}),
		"a failing test after each edit": times(100, func(i int) []Step {
			return []Step{edit("a.go", fmt.Sprint(i), fmt.Sprint("s", i)), test(false, "FAIL")}
		}),
		"paging through a file": times(300, page),
		"twenty first reads":    times(20, func(i int) []Step { return []Step{read(fmt.Sprint("f", i), fmt.Sprint("c", i))} }),
		"first reads that look alike": times(8, func(i int) []Step {
			return []Step{read(fmt.Sprint("f", i, ".go"), "package x")}
		}),
		"a status between news": times(200, func(i int) []Step {
			return []Step{read(fmt.Sprint("f", i), fmt.Sprint("c", i)), read("status", "clean")}
		}),
		"silent commands":            times(100, func(i int) []Step { return []Step{run1(fmt.Sprint("mkdir ", i), "")} }),
		"commands that all say done": times(100, func(i int) []Step { return []Step{run1(fmt.Sprint("git add ", i), "done")} }),
		"empty searches": append(times(12, func(i int) []Step {
			return []Step{{Tool: "grep", Kind: Search, Args: fmt.Sprint(i), OK: true}}
		}), read("found.go", "here")),
		"retries of a rate limit": times(50, func(i int) []Step {
			return []Step{failed(Step{Tool: "web_fetch", Kind: Wait, Args: "u", Patient: true}, "429 too many requests")}
		}),
		"nine errors and then a way out": append(times(9, func(i int) []Step {
			return []Step{failed(Step{Tool: "reply", Kind: None, Args: fmt.Sprint(i)}, "no call found")}
		}), edit("a.go", "x", "s")),
	} {
		if _, halt, _ := play(Default(), steps...); halt.Level != OK {
			t.Errorf("%s: %+v", name, halt)
		}
	}
}

// SPEC 6.4: what the person asked to repeat.
func TestAskedFor(t *testing.T) {
	t.Parallel()
	d := New(Default())
	d.Person("run the flaky test 50 times and tell me how often it fails")
	for i := range 50 {
		if v := d.Apply(test(true, "PASS")); v.Level != OK {
			t.Fatalf("at %d: %+v", i, v)
		}
	}
	halted := false
	for range 10 {
		halted = halted || d.Apply(test(true, "PASS")).Level == Halt
	}
	if !halted {
		t.Error("sixty times is not what was asked for")
	}
	for text, want := range map[string]int{
		"run it 20 times":                               20,
		"call the tool ten times, please":               10,
		"poll the server every 5 seconds":               openEnded,
		"keep checking the queue":                       openEnded,
		"run it in a loop":                              openEnded,
		"fix the test until it passes":                  0,
		"it is 3 times slower than before? no, 1 times": 3,
		"sometimes it fails":                            0,
		"":                                              0,
	} {
		if got := asksRepeats(text); got != want {
			t.Errorf("AsksRepeats(%q) = %d, want %d", text, got, want)
		}
	}
}

// SPEC 6.1: 1,000 productive calls and more, in several shapes.
func TestProductive(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(i int) []Step{
		"edits, a test every ten": func(i int) []Step {
			s := []Step{edit(fmt.Sprint("f", i%50), fmt.Sprint(i), fmt.Sprint("s", i))}
			if i%10 == 9 {
				s = append(s, test(true, "ok"))
			}
			return s
		},
		"reading only": func(i int) []Step { return []Step{read(fmt.Sprint(i), fmt.Sprint(i))} },
		"two fruitless steps before each good one": func(i int) []Step {
			return []Step{
				failed(edit("a.go", "same", ""), "not found"), failed(edit("a.go", "same", ""), "not found"),
				edit("a.go", fmt.Sprint(i), fmt.Sprint("s", i)),
			}
		},
	} {
		if _, halt, _ := play(Default(), times(1000, f)...); halt.Level != OK {
			t.Errorf("%s: %+v", name, halt)
		}
	}
}

// SPEC 6.2: by shell, a file that one command writes anew counts twice.
func TestShellContent(t *testing.T) {
	t.Parallel()
	d := New(Default())
	for i := range 6 {
		s := run1("date >> out.log", "done")
		s.Files = []File{{"out.log", fmt.Sprint("h", i)}}
		d.Apply(s)
		if got, want := d.Contents(), min(i+1, 2); got != want {
			t.Fatalf("after %d runs %d contents, want %d", i+1, got, want)
		}
	}
	// A content that was there before is not new when it comes back.
	s := edit("b.go", "undo", "old")
	s.Before = []File{{"b.go", "old"}}
	if before := d.Contents(); true {
		d.Apply(s)
		if d.Contents() != before {
			t.Error("a content that was there before counts as new")
		}
	}
}

// SPEC 6.3: what resets, and what it resets.
func TestResets(t *testing.T) {
	t.Parallel()
	bad := failed(edit("a.go", "x", ""), "not found")
	d := New(only("same_error"))
	d.Apply(bad)
	d.Apply(bad)
	d.Phase()
	if v := d.Apply(bad); v.Level != OK {
		t.Errorf("a new phase clears streaks of errors: %+v", v)
	}
	d = New(only("identical"))
	for range 3 {
		d.Apply(read("a.go", "same"))
	}
	d.Phase()
	d.Apply(read("a.go", "same"))
	if v := d.Apply(read("a.go", "same")); v.Level != Halt {
		t.Error("a new phase clears more than streaks of errors")
	}
	// Every streak of errors, also those that halt, and the count of errors in a row;
	// but not for a plan that is rewritten again and again.
	d = New(Default())
	halted := 0
	for i := range 40 {
		if v := d.Apply(bad); v.Level == Halt && halted == 0 {
			halted = i
		}
		if i%3 == 2 && i < 9 {
			d.Phase()
			if n := d.Recent().FailStreak; n != 0 {
				t.Errorf("%d errors in a row after a new phase", n)
			}
			continue
		}
		if i%3 == 2 {
			d.Phase()
		}
	}
	if halted <= 9 || halted > 16 {
		t.Errorf("phases with nothing in them: halted after %d", halted)
	}
	d = New(Default())
	for i := range 40 {
		if v := d.Apply(bad); v.Level == Halt {
			t.Fatalf("a phase after each three errors, with news in it: halted after %d: %+v", i, v)
		}
		if i%3 == 2 {
			d.Apply(read(fmt.Sprint("f", i), fmt.Sprint("c", i)))
			d.Phase()
		}
	}
	d = New(only("identical"))
	d.Person("go on")
	for i := range 4 {
		if v := d.Apply(bad); v.Level != OK {
			t.Errorf("a person's message clears all; after %d: %+v", i, v)
		}
	}
	// Compaction takes what was read, and to read it again is not a repetition.
	d = New(only("staleness"))
	for range 20 {
		for i := range 3 {
			if v := d.Apply(read(fmt.Sprint(i), fmt.Sprint("c", i))); v.Level != OK {
				t.Fatalf("reading again after compaction: %+v", v)
			}
		}
		d.Compacted()
	}
}

// SPEC 6.7: endless compaction, refilled three times with no progress, is a
// loop; with progress it is none.
func TestCompactions(t *testing.T) {
	t.Parallel()
	d := New(Default())
	var levels []Level
	for i := range 5 {
		for j := range 10 {
			d.Apply(read(fmt.Sprint(j), fmt.Sprint("c", j)))
		}
		v := d.Compacted()
		levels = append(levels, v.Level)
		if v.Level == Halt && (v.Rule != "compaction" || len(v.Steps) == 0) {
			t.Errorf("%d: %+v", i, v)
		}
	}
	if !slices.Equal(levels, []Level{OK, OK, Warn, Halt, Halt}) {
		t.Errorf("%v", levels)
	}
	d = New(Default())
	for i := range 50 {
		d.Apply(read(fmt.Sprint(i), fmt.Sprint("c", i)))
		if v := d.Compacted(); v.Level != OK {
			t.Fatalf("compaction %d with news: %+v", i, v)
		}
	}
}

// SPEC 6.5: a blocked call never counts as new.
func TestBlockedIsNotNew(t *testing.T) {
	t.Parallel()
	d := New(Default())
	s := run1("make", "the same")
	for range 3 {
		d.Apply(s)
	}
	s.Blocked, s.OK, s.Error, s.Exact = true, false, "blocked", "blocked"
	d.Apply(s)
	if v := d.Apply(s); v.Level != Halt || v.Rule != "identical" {
		t.Errorf("%+v", v)
	}
}

// SPEC 6.10: of a success of which nothing is known no halt is made; of errors
// it is.
func TestBlind(t *testing.T) {
	t.Parallel()
	ok := Step{Tool: "edit", Kind: Edit, Target: "a", Args: "a", OK: true, Blind: true}
	if w, h, _ := play(Default(), times(50, one(ok))...); h.Level != OK || w.Level != Warn {
		t.Errorf("%+v %+v", w, h)
	}
	other := Step{Tool: "edit", Kind: Edit, Target: "b", Args: "b", OK: true, Blind: true}
	if w, _, _ := play(only("oscillation"), ok, other, ok, other); w.Rule != "oscillation" {
		t.Errorf("edits that alternate between two files: %+v", w)
	}
	bad := failed(ok, "not found")
	if _, h, _ := play(Default(), times(5, one(bad))...); h.Level != Halt {
		t.Errorf("five identical errors: %+v", h)
	}
}

// SPEC 6.6: the configuration has N's keys, and says what is wrong with it.
func TestConfig(t *testing.T) {
	t.Parallel()
	if err := (Config{Enable: true}).Defaults().Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []Config{{StuckThreshold: 1}, {HaltIdentical: -1}, {SterileHalf: 100}, {Off: []string{"nonsense"}}} {
		if c.Defaults().Check() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	c := Default()
	c.StuckThreshold = 4
	if _, _, raw := play(c, times(4, one(failed(edit("a", "x", ""), "no")))...); raw.Warn == nil || *raw.Warn != 3 {
		t.Errorf("threshold 4 warns at %v", raw.Warn)
	}
}

// SPEC 6.6: what is kept.
func TestStats(t *testing.T) {
	t.Parallel()
	d := New(Default())
	for i := range 30 {
		d.Apply(edit(fmt.Sprint("f", i%3), fmt.Sprint(i), fmt.Sprint("s", i)))
		d.Apply(failed(run1(fmt.Sprint("cmd", i%2), ""), fmt.Sprint("error ", i)))
	}
	d.Apply(test(true, "PASS"))
	s := d.Stats()
	if s.Calls != 61 || s.Successes != 31 || s.Failures != 30 || s.Contents != 30 || s.FailStreak != 0 || s.TestsRun != 1 || s.TestsOK != 1 {
		t.Errorf("%+v", s)
	}
	if len(s.Actions) != 20 || s.Actions[19].Kind != Test || len(s.Errors) != 10 || s.Errors[9] != "error 29" {
		t.Errorf("%d actions, errors %q", len(s.Actions), s.Errors)
	}
	if len(s.Files) != 3 || s.Files["f2"] != "s29" || s.Commands["cmd0"] != 15 || !s.Tests["go test ./..."] {
		t.Errorf("%v %v %v", s.Files, s.Commands, s.Tests)
	}
	s.Files["f2"] = "changed"
	if d.Stats().Files["f2"] == "changed" {
		t.Error("the statistics are not a copy")
	}
}
