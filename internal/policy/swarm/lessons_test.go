package swarm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

func fail(worker, target, category, text string) Failure {
	return Failure{Worker: worker, Tool: "bash", Target: target, Category: category, Text: text}
}

// SPEC 14.3: 50 failures of each worker, 200 references without doubles, searchable.
func TestLessonsAreBounded(t *testing.T) {
	var l Lessons
	for i := range 120 {
		l.AddFailure(fail("a", fmt.Sprint("a", i), "error", "x"))
	}
	l.AddFailure(fail("b", "b0", "error", "x"))
	if fs := l.failures; len(fs) != 51 || fs[0].Target != "a70" || fs[49].Target != "a119" || fs[50].Worker != "b" {
		t.Errorf("%d failures are kept, from %s", len(fs), fs[0].Target)
	}
	for i := range 250 {
		l.AddReferences(Reference{Value: fmt.Sprintf("pkg/f%d.go", i), Note: "a file"})
	}
	l.AddReferences(Reference{Value: "pkg/f100.go", Note: "the parser"}, Reference{})
	if n := len(l.references); n != 200 {
		t.Errorf("%d references", n)
	}
	if got := l.Search("compare pkg/f100.go with pkg/f50.go and pkg/f49.go", 9); fmt.Sprint(got) != "[{pkg/f100.go the parser} {pkg/f50.go a file}]" {
		t.Errorf("the search found %v", got)
	}
	if got := l.Search("compare pkg/f100.go with pkg/f50.go", 1); len(got) != 1 || got[0].Note != "the parser" {
		t.Errorf("the newest is %v", got)
	}
}

func TestInsights(t *testing.T) {
	repeat := func(n int, f func(i int) Failure) []Failure {
		var out []Failure
		for i := range n {
			out = append(out, f(i))
		}
		return out
	}
	for _, c := range []struct {
		name     string
		failures []Failure
		want     []string // the begins of the rules
	}{
		{"nothing", nil, nil},
		{"bad luck", repeat(2, func(i int) Failure { return fail("a", "make", "error", "x") }), nil},
		{"one action", repeat(3, func(i int) Failure { return fail("a", "make", "error", fmt.Sprint("line ", strings.Repeat("x", i))) }),
			[]string{"Do not repeat `bash make` as it is: it failed 3 times on one worker."}},
		{"one category", repeat(5, func(i int) Failure { return fail("a", fmt.Sprint("curl ", i), "denied", "no") }),
			[]string{"5 calls of one worker ended as denied: what is not permitted stays so."}},
		{"a service that is down", repeat(3, func(i int) Failure { return fail(fmt.Sprint("w", i), fmt.Sprint("npm i ", i), "error", "ECONNREFUSED") }),
			[]string{"3 workers after each other met the same failure (ECONNREFUSED)"}},
		{"different causes", repeat(4, func(i int) Failure {
			return fail(fmt.Sprint("w", i), fmt.Sprint("x", i), "error", strings.Repeat("y", i+1))
		}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Lessons
			for _, f := range c.failures {
				l.AddFailure(f)
			}
			got := l.Insights()
			if len(got) != len(c.want) {
				t.Fatalf("rules: %q", got)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("%q\nwant %q", got[i], c.want[i])
				}
			}
		})
	}
}

// SPEC 14.4: all workers' prompts begin with the same bytes, and end with the
// goal.
func TestPromptsBeginAlike(t *testing.T) {
	var s Schedule
	a, b := task("a"), task("b")
	b.Title, b.Goal = "the second", "change pkg/x.go"
	s.Apply(event.Event{Body: event.SwarmPlanned{Goal: "all of it", Tasks: []event.Task{a, b}}})
	var l Lessons
	one, _ := s.Task("a")
	first := Prompt(&s, &l, one)
	for i := range 30 {
		l.AddFailure(fail("w", fmt.Sprint("make ", i), "error", "no rule"))
	}
	l.AddReferences(Reference{Value: "pkg/x.go", Note: "the parser"}, Reference{Value: "other.go", Note: "not named"})
	two, _ := s.Task("b")
	two.Failed = []event.TaskReturned{{Outcome: event.TaskFailed, Checks: []event.TaskCheck{{Command: "go test", Exit: new(1), Output: "FAIL: TestX"}}}}
	second := Prompt(&s, &l, two)
	shared := preamble + "# The goal of all\nall of it\n\n"
	if !strings.HasPrefix(first, shared) || !strings.HasPrefix(second, shared) {
		t.Errorf("the prompts begin differently:\n%s\n%s", first, second)
	}
	if n := strings.Count(second, "` failed (error)"); n != 10 {
		t.Errorf("%d failures are told, want 10", n)
	}
	for _, part := range []string{"pkg/x.go: the parser", "FAIL: TestX"} {
		if !strings.Contains(second, part) {
			t.Errorf("%q is missing:\n%s", part, second)
		}
	}
	if strings.Contains(second, "not named") {
		t.Error("a reference that the task does not name is told")
	}
	if !strings.HasSuffix(second, "# Your task: the second\nchange pkg/x.go\n\nAcceptance checks:\n- `true`\n") {
		t.Errorf("the goal is not last:\n%s", second)
	}
}

// SPEC 14.3: more than 10 times over at least two workers, without new content.
func TestCircles(t *testing.T) {
	calls := func(c *LoopDetector, key string, failed bool, workers ...string) (l Loop, found bool) {
		for _, w := range workers {
			l, found = c.Apply(Call{Worker: w, Key: key, Failed: failed})
		}
		return l, found
	}
	turns := func(n int, workers ...string) []string {
		var out []string
		for i := range n {
			out = append(out, workers[i%len(workers)])
		}
		return out
	}
	t.Run("two workers, eleven calls", func(t *testing.T) {
		var c LoopDetector
		if _, found := calls(&c, "k", false, turns(10, "a", "b")...); found {
			t.Fatal("ten are enough")
		}
		l, found := calls(&c, "k", false, "a")
		if !found || l.Times != 11 || fmt.Sprint(l.Workers) != "[a b]" || l.Again {
			t.Fatalf("%+v %v", l, found)
		}
		if l, found = calls(&c, "k", false, "b"); !found || !l.Again {
			t.Errorf("it goes on unseen: %+v %v", l, found)
		}
		if l, found = calls(&c, "k", false, "c"); found {
			t.Errorf("who did it once is in it: %+v", l)
		}
	})
	t.Run("one worker alone", func(t *testing.T) {
		var c LoopDetector
		if l, found := calls(&c, "k", true, turns(30, "a")...); found {
			t.Errorf("%+v", l)
		}
	})
	t.Run("each builds once", func(t *testing.T) {
		var c LoopDetector
		for i := range 40 {
			if l, found := calls(&c, "go build: ok", false, fmt.Sprint("w", i)); found {
				t.Fatalf("%+v", l)
			}
		}
	})
	t.Run("a service that is down for all", func(t *testing.T) {
		var c LoopDetector
		found := false
		for i := range 11 {
			_, found = calls(&c, "curl: refused", true, fmt.Sprint("w", i))
		}
		if !found {
			t.Error("eleven workers that fail alike are not found")
		}
	})
	t.Run("new content begins again", func(t *testing.T) {
		var c LoopDetector
		for range 40 {
			if l, found := calls(&c, "go test: FAIL", true, "a", "b"); found {
				t.Fatalf("%+v", l)
			}
			c.Apply(Call{Worker: "a", Key: "edit", New: true})
			c.Apply(Call{Worker: "b", Key: "edit", New: true})
		}
	})
	t.Run("a new loop is told of first", func(t *testing.T) {
		var c LoopDetector
		for range 2 {
			if l, found := calls(&c, "k", true, turns(11, "a", "b")...); !found || l.Again {
				t.Errorf("%+v %v", l, found)
			}
			c.Apply(Call{Worker: "a", Key: "edit", New: true})
			c.Apply(Call{Worker: "b", Key: "edit", New: true})
		}
	})
	t.Run("who has left does not count", func(t *testing.T) {
		var c LoopDetector
		calls(&c, "k", true, turns(10, "a", "b")...)
		c.Leave("a")
		if l, found := calls(&c, "k", true, turns(5, "b")...); found {
			t.Errorf("%+v", l)
		}
	})
}

func TestRepeats(t *testing.T) {
	var r Repeats
	for i, c := range []struct {
		key  string
		want bool
	}{{"a", false}, {"a", false}, {"b", false}, {"a", false}, {"a", false}, {"a", true}, {"a", true}, {"b", false}} {
		if got := r.Apply(c.key); got != c.want {
			t.Errorf("call %d: %v", i, got)
		}
	}
	for i := range 100 {
		r.Apply(fmt.Sprint(i))
	}
	if len(r.keys) != Kept {
		t.Errorf("%d calls are kept", len(r.keys))
	}
}
