package progress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// SPEC 6.3: handing in again what was refused, and thinking without end.
func TestEmptySteps(t *testing.T) {
	t.Parallel()
	think := func(i int) []Step {
		return []Step{{Tool: "think", Kind: Think, Args: fmt.Sprint(i), OK: true, Exact: "noted", Len: 5}}
	}
	if w, h, _ := play(Default(), times(100, think)...); h.Level != OK || w.Rule != "staleness" {
		t.Errorf("thoughts that differ warn and no more: %+v %+v", w, h)
	}
	if w, h, _ := play(Default(), times(100, func(i int) []Step {
		return append(times(4, func(k int) []Step { return think(i*10 + k) }), read(fmt.Sprint("f", i), fmt.Sprint("c", i)))
	})...); w.Level != OK || h.Level != OK {
		t.Errorf("four thoughts and a step: %+v %+v", w, h)
	}
	if _, h, raw := play(Default(), times(20, func(i int) []Step {
		return []Step{{Tool: "finish", Kind: Submit, Args: fmt.Sprint(i), OK: true, Exact: "the tests fail", Len: 14}}
	})...); h.Level != Halt || *raw.Halt > 10 {
		t.Errorf("handing in: %+v", h)
	}
}

// SPEC 6.4: a job that runs is waited for as long as it takes; what is only
// looked at is not.
func TestWaiting(t *testing.T) {
	t.Parallel()
	c := Default()
	patient := wait("still running")
	patient.Patient = true
	if _, h, _ := play(c, times(500, one(patient))...); h.Level != OK {
		t.Errorf("a job that runs: %+v", h)
	}
	if _, h, _ := play(c, times(c.HaltWaits-1, one(wait("nothing")))...); h.Level != OK {
		t.Errorf("too early: %+v", h)
	}
	if _, h, _ := play(c, times(400, func(i int) []Step { return []Step{wait(fmt.Sprint("at ", i/20))} })...); h.Level != OK {
		t.Errorf("it moves slowly: %+v", h)
	}
	l := newLive(t)
	ds := l.until(200, func(i int) (string, []does) {
		return fmt.Sprint("step ", i), []does{{tool: "bash", args: `{"command":"sleep 30; tail -1 x.log"}`, result: "waiting for lock"}}
	})
	if len(ds) < 2 || ds[0].Action != Recover || ds[len(ds)-1].Action != Stop {
		t.Errorf("live: %s", names(ds))
	}
}

// SPEC 6.4: what failed and then goes is not trouble any more.
func TestThrough(t *testing.T) {
	t.Parallel()
	if _, h, _ := play(Default(), times(50, func(i int) []Step {
		s := run1(fmt.Sprint("deploy ", i), fmt.Sprint("deployed number ", i))
		bad := failed(s, "connection reset")
		return []Step{bad, bad, bad, s}
	})...); h.Level != OK {
		t.Errorf("%+v", h)
	}
}

// SPEC 6.2: one content under many numbers is written once; small files of one
// content in many folders are many.
func TestCopies(t *testing.T) {
	t.Parallel()
	again := func(i int) []Step {
		s := edit(fmt.Sprintf("repro%d.py", i), fmt.Sprint(i), "same")
		s.Exact = fmt.Sprint("created ", i)
		return []Step{s, failed(run1(fmt.Sprintf("python repro%d.py", i), ""), "ImportError: cannot import a")}
	}
	if _, h, _ := play(Default(), times(30, again)...); h.Level != Halt {
		t.Error("a script that is written under new names is not seen")
	}
	many := func(i int) []Step {
		s := edit(fmt.Sprintf("pkg%d/__init__.py", i), fmt.Sprint(i), "empty")
		s.Exact = "ok"
		return []Step{s}
	}
	if w, h, _ := play(Default(), times(60, many)...); w.Level != OK || h.Level != OK {
		t.Errorf("%+v %+v", w, h)
	}
	fixtures := func(i int) []Step {
		s := edit(fmt.Sprintf("case%d.txt", i), fmt.Sprint(i), "empty")
		s.Exact = "ok"
		return []Step{s}
	}
	if _, h, _ := play(Default(), times(60, fixtures)...); h.Level != OK {
		t.Errorf("%+v", h)
	}
	for in, want := range map[string]string{
		"a/try12b3.py": "a/try#b#.py", "a1/b.py": "a1/b.py", "629529": "629529", "": "", "1.py": "#.py", "v2/x9": "v2/x9",
	} {
		if got := normalize.Numberless(in); got != want {
			t.Errorf("normalize.Numberless(%q) = %q, want %q", in, got, want)
		}
	}
}

// SPEC 6.2: by a repeated command a file counts twice and no more, by whatever
// tool the command is run; an edit that makes new content counts each time.
func TestGrowingLog(t *testing.T) {
	t.Parallel()
	d := New(Default())
	for i := range 5 {
		s := run1("./serve.sh", "started")
		s.Files = []File{{Path: "serve.log", Hash: fmt.Sprint(i)}}
		d.Apply(s)
		if want := min(i+1, 2); d.Contents() != want {
			t.Errorf("run %d: %d contents, want %d", i, d.Contents(), want)
		}
	}
	d = New(Default())
	for i := range 5 {
		const line = "cat >> a.log <<'E'\nx\nE"
		d.Apply(Step{
			Tool: "bash", Kind: Edit, Args: line, Edit: line, Shell: true, OK: true, Files: []File{{Path: "a.log", Hash: fmt.Sprint(i)}},
		})
	}
	if d.Contents() != 2 {
		t.Errorf("%d contents of a log that a here-document makes grow", d.Contents())
	}
	d = New(Default())
	for i := range 5 {
		d.Apply(edit("a.go", "insert x", fmt.Sprint(i)))
	}
	if d.Contents() != 5 {
		t.Errorf("%d contents of an edit", d.Contents())
	}
	// Other commands that write the same file are not the repeated one.
	d = New(Default())
	for i := range 5 {
		s := run1(fmt.Sprint("gen ", i), "")
		s.Files = []File{{Path: "out", Hash: fmt.Sprint(i)}}
		d.Apply(s)
	}
	if d.Contents() != 5 {
		t.Errorf("%d contents of five commands", d.Contents())
	}
}

// A look that fails says something of what it looked for: where half of the
// looks find something, that is exploring.
func TestLookingAround(t *testing.T) {
	t.Parallel()
	around := func(i int) []Step {
		miss := failed(read(fmt.Sprintf("lib%d/a.py", i), ""), "a.py: no such file")
		return []Step{miss, read(fmt.Sprint("f", i), fmt.Sprint("c", i))}
	}
	if _, h, _ := play(Default(), times(100, around)...); h.Level != OK {
		t.Errorf("%+v", h)
	}
	only := func(i int) []Step {
		return []Step{failed(read(fmt.Sprintf("lib%d/a.py", i), ""), "a.py: no such file")}
	}
	if _, h, _ := play(Default(), times(100, only)...); h.Level != Halt {
		t.Error("looking for what is nowhere is never halted")
	}
}

// SPEC 6.3, 6.5: an edit that keeps failing with other lines read in between is
// told of with fresh lines, and stopped when that had no effect.
func TestFailedEditLive(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	ds := l.until(20, func(i int) (string, []does) {
		return fmt.Sprint("step ", i), []does{
			{tool: "edit", args: fmt.Sprintf(`{"path":"a.go","old":"x%d","new":"y"}`, i), bad: true, result: fmt.Sprintf("old is not in a.go; nearest is line %d", i)},
			{tool: "read", args: fmt.Sprintf(`{"files":[{"path":"a.go","from":%d}]}`, i*10), result: fmt.Sprintf("%d\tline %d", i*10, i)},
		}
	})
	if len(ds) < 3 || ds[0].Action != Recover || ds[len(ds)-1].Action != Stop || ds[0].Finding.Rule != "failed_edit" {
		t.Fatalf("%s", names(ds))
	}
	if !strings.Contains(ds[0].Text, "Copy the old text from there exactly") || len(ds[0].Evidence) < 5 {
		t.Errorf("%s\n%q", ds[0].Text, ds[0].Evidence)
	}
}
