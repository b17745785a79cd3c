package swarm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

func task(id string, after ...string) event.Task {
	return event.Task{ID: id, Goal: "do " + id, After: after, Accept: []string{"true"}}
}

// SPEC 14.2: what cannot be run is refused before anything is paid for.
func TestCheckNamesEveryFault(t *testing.T) {
	with := func(change func(*event.Task)) []event.Task {
		x := task("a")
		change(&x)
		return []event.Task{x}
	}
	for _, c := range []struct {
		name  string
		tasks []event.Task
		want  []string // parts of the error; none: it can be run
	}{
		{"one", []event.Task{task("a")}, nil},
		{"diamond", []event.Task{task("d", "b", "c"), task("b", "a"), task("c", "a"), task("a")}, nil},
		{"two islands", []event.Task{task("a"), task("b")}, nil},
		{"empty", nil, []string{"no tasks"}},
		{"twice", []event.Task{task("a"), task("a")}, []string{`task 2 ("a")`, "task 1 has the same id"}},
		{"twice but for case", []event.Task{task("Api"), task("api")}, []string{"differ in more than case"}},
		{"no id", []event.Task{task("")}, []string{"1 (no id)", "must be 1 to 64"}},
		{"a path as an id", []event.Task{task("../x")}, []string{"must be 1 to 64"}},
		{"an option as an id", []event.Task{task("-x")}, []string{"must be 1 to 64"}},
		{"a long id", []event.Task{task(strings.Repeat("a", 65))}, []string{"must be 1 to 64"}},
		{"unknown", []event.Task{task("a", "apii"), task("api")}, []string{`"apii"`, "did you mean api?"}},
		{"itself", []event.Task{task("a", "a")}, []string{"waits for itself"}},
		{"one twice", []event.Task{task("a", "b", "b"), task("b")}, []string{"waits for b twice"}},
		{"cycle of two", []event.Task{task("a", "b"), task("b", "a")}, []string{"a → b → a"}},
		{"cycle behind a way", []event.Task{task("x", "a"), task("a", "b"), task("b", "c"), task("c", "a")}, []string{"a → b → c → a"}},
		{"no goal", with(func(x *event.Task) { x.Goal = " \n" }), []string{"no goal"}},
		{"a goal of a megabyte", with(func(x *event.Task) { x.Goal = strings.Repeat("a", 1<<20) }), []string{"longer than 64 KiB"}},
		{"no check", with(func(x *event.Task) { x.Accept = nil }), []string{"no acceptance check"}},
		{"an empty check", with(func(x *event.Task) { x.Accept = []string{" "} }), []string{"acceptance check is empty"}},
		{"a timeout without a unit", with(func(x *event.Task) { x.Timeout = "30" }), []string{"timeout is \"30\""}},
		{"a timeout of nothing", with(func(x *event.Task) { x.Timeout = "1ms" }), []string{"1s to 168h"}},
		{"a size below 0", with(func(x *event.Task) { x.Size = -1 }), []string{"size is -1"}},
		{"a size that overflows", with(func(x *event.Task) { x.Size = 1 << 62 }), []string{"must be 1 to 1000"}},
		{"pawl's own field", with(func(x *event.Task) { x.Resolves = "b" }), []string{`"resolves" is not for graphs`}},
		{"two faults", []event.Task{task("a", "z"), {ID: "b", Goal: "x"}}, []string{`waits for "z"`, "no acceptance check"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults := Graph{Tasks: c.tasks}.Check()
			if (faults != nil) != (c.want != nil) {
				t.Fatalf("Check: %v", faults)
			}
			for _, f := range faults {
				if !errors.Is(f, ErrGraph) || f.Field == "" {
					t.Errorf("%+v", f)
				}
			}
			for _, w := range c.want {
				if !strings.Contains(fmt.Sprint(faults), w) {
					t.Errorf("%v\nlacks %q", faults, w)
				}
			}
		})
	}
}

// A chain of all tasks needs no stack of its length, and work for each once.
func TestCheckOfALongChain(t *testing.T) {
	tasks := []event.Task{task("t0")}
	for i := 1; i < 50_000; i++ {
		tasks = append(tasks, task(fmt.Sprintf("t%d", i), fmt.Sprintf("t%d", i-1)))
	}
	if err := (Graph{Tasks: tasks}).Check(); err != nil {
		t.Fatal(err)
	}
	tasks[0].After = []string{"t49999"}
	if err := (Graph{Tasks: tasks}).Check(); err == nil {
		t.Error("a cycle of 50,000 tasks was not found")
	}
}
