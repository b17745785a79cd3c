package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// Graph is work divided into tasks, as a person or a model writes it.
type Graph struct {
	Goal  string       `json:"goal" jsonschema:"what the tasks achieve together"`
	Tasks []event.Task `json:"tasks" jsonschema:"the tasks, in any order"`
	// Verify are command lines that the merged tree must pass.
	Verify []string `json:"verify,omitempty" jsonschema:"command lines that the merged tree must pass"`
	// For tasks that have none of their own.
	Setup  []string `json:"setup,omitempty" jsonschema:"setup of the tasks that have none of their own"`
	Labels []string `json:"labels,omitempty" jsonschema:"labels of the tasks that have none of their own"`
}

// Limits of a graph. A task's size is bounded so that sums cannot overflow.
const (
	MaxTasks = 200_000
	maxSize  = 1000
	maxText  = 64 << 10
	maxTime  = 7 * 24 * time.Hour
	taskTime = 2 * time.Hour
	maxAfter = 1000 // tasks that one waits for: a graph with larger layers needs a task between them
)

// Names are used as branches, folders and keys of stores.
var name = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// ErrGraph is matched by every Fault.
var ErrGraph = errors.New("the task graph cannot be run")

// Fault is one error in a graph.
type Fault struct {
	Task  int    // its index in Tasks; -1: the whole graph
	ID    string // of the task
	Field string // of the task or the graph, as a file names it
	Why   string
}

func (f Fault) Error() string {
	if f.Task < 0 {
		return f.Why
	}
	return fmt.Sprintf("task %s: %s", called(f.ID, f.Task), f.Why)
}

// Is makes every fault match ErrGraph.
func (Fault) Is(target error) bool { return target == ErrGraph }

// Whole returns the tasks with what the graph says for all of them.
func (g Graph) Whole() []event.Task {
	tasks := slices.Clone(g.Tasks)
	for i := range tasks {
		if t := &tasks[i]; len(t.Setup) == 0 {
			t.Setup = g.Setup
		}
		if t := &tasks[i]; len(t.Labels) == 0 {
			t.Labels = g.Labels
		}
	}
	return tasks
}

// Check returns nil for a graph that can be run. Otherwise it returns a Fault for each
// error, in the order of the tasks.
func (g Graph) Check() []Fault {
	whole := func(field, format string, args ...any) []Fault {
		return []Fault{{Task: -1, Field: field, Why: fmt.Sprintf(format, args...)}}
	}
	switch {
	case len(g.Tasks) == 0:
		return whole("tasks", "the graph has no tasks")
	case len(g.Tasks) > MaxTasks:
		return whole("tasks", "the graph has %d tasks, at most %d can be run", len(g.Tasks), MaxTasks)
	}
	var faults []Fault
	first := make(map[string]int, len(g.Tasks))
	folded := make(map[string]int, len(g.Tasks))
	for i, t := range g.Tasks {
		fault := func(field, format string, args ...any) {
			faults = append(faults, Fault{Task: i, ID: t.ID, Field: field, Why: fmt.Sprintf(format, args...)})
		}
		lower := strings.ToLower(t.ID)
		switch j, twice := folded[lower]; {
		case !name().MatchString(t.ID):
			fault("id", "the id must be 1 to 64 letters, digits, - or _, and begin with a letter or digit")
		case twice && g.Tasks[j].ID == t.ID:
			fault("id", "task %d has the same id", j+1)
		case twice:
			fault("id", "task %d has the id %s: ids must differ in more than case, since they name folders", j+1, g.Tasks[j].ID)
		default:
			folded[lower], first[t.ID] = i, i
		}
		check(t, fault)
	}
	for i, t := range g.Tasks {
		faults = append(faults, waits(i, t, first)...)
	}
	for field, lines := range map[string][]string{"verify": g.Verify, "setup": g.Setup, "labels": g.Labels} {
		if slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" }) {
			faults = append(faults, whole(field, "%s: an entry is empty", field)...)
		}
	}
	if len(faults) == 0 {
		if c := cycle(g.Tasks, first); c != nil {
			faults = []Fault{{Task: first[c[0]], ID: c[0], Field: "after", Why: "tasks wait for each other: " + strings.Join(c, " → ")}}
		}
	}
	sorting.By(faults, func(a, b Fault) int { return cmp.Compare(a.Task, b.Task) })
	return faults
}

// TimeFor returns how long one try of a task may take.
func TimeFor(t event.Task) time.Duration {
	if d, err := time.ParseDuration(t.Timeout); err == nil && d > 0 {
		return d
	}
	return taskTime
}

func check(t event.Task, fault func(field, format string, args ...any)) {
	switch {
	case strings.TrimSpace(t.Goal) == "":
		fault("goal", "it has no goal")
	case len(t.Goal) > maxText:
		fault("goal", "its goal is longer than %d KiB: put it into a file and name that", maxText>>10)
	}
	if len(t.Accept) == 0 {
		fault("accept", "it has no acceptance check: name a command line that succeeds when the task is done")
	}
	for _, line := range t.Accept {
		if strings.TrimSpace(line) == "" {
			fault("accept", "an acceptance check is empty")
		}
	}
	for field, lines := range map[string][]string{"setup": t.Setup, "labels": t.Labels} {
		if slices.ContainsFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" }) {
			fault(field, "an entry of its %s is empty", field)
		}
	}
	if t.Size < 0 || t.Size > maxSize {
		fault("size", "its size is %d: it must be 1 to %d", t.Size, maxSize)
	}
	if d, err := time.ParseDuration(t.Timeout); t.Timeout != "" && (err != nil || d < time.Second || d > maxTime) {
		fault("timeout", "its timeout is %q: it must be a time of 1s to 168h, such as 30m", t.Timeout)
	}
	if t.Resolves != "" {
		fault("resolves", `"resolves" is not for graphs: pawl makes such tasks by itself`)
	}
}

// waits returns the errors in the list of tasks that a task waits for.
func waits(i int, t event.Task, known map[string]int) (faults []Fault) {
	fault := func(format string, args ...any) {
		faults = append(faults, Fault{Task: i, ID: t.ID, Field: "after", Why: fmt.Sprintf(format, args...)})
	}
	if len(t.After) > maxAfter {
		fault("it waits for %d tasks, the limit is %d: let another task wait for them", len(t.After), maxAfter)
		return faults
	}
	for k, id := range t.After {
		_, is := known[id]
		switch {
		case id == t.ID:
			fault("it waits for itself")
		case !is:
			fault("it waits for %q, which is not a task%s", id, nearest(id, known))
		case slices.Contains(t.After[:k], id):
			fault("it waits for %s twice", id)
		}
	}
	return faults
}

func called(id string, i int) string {
	if id == "" {
		return fmt.Sprintf("%d (no id)", i+1)
	}
	return fmt.Sprintf("%d (%.64q)", i+1, id)
}

func nearest(id string, known map[string]int) string {
	if len(known) > 1000 {
		return ""
	}
	if near := editdistance.Nearest(id, slices.Sorted(maps.Keys(known))); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ""
}

// cycle returns the ids of tasks that wait for each other, from one of them back to it,
// or nil. It does not recurse, since a chain may be long.
func cycle(tasks []event.Task, index map[string]int) []string {
	const unseen, open, closed = 0, 1, 2
	state := make([]int, len(tasks))
	next := make([]int, len(tasks)) // of After
	for start := range tasks {
		if state[start] != unseen {
			continue
		}
		path := []int{start}
		state[start] = open
		for len(path) > 0 {
			i := path[len(path)-1]
			if next[i] == len(tasks[i].After) {
				state[i] = closed
				path = path[:len(path)-1]
				continue
			}
			j := index[tasks[i].After[next[i]]]
			next[i]++
			switch state[j] {
			case unseen:
				state[j] = open
				path = append(path, j)
			case open:
				var ids []string
				for _, k := range path[slices.Index(path, j):] {
					ids = append(ids, tasks[k].ID)
				}
				return append(ids, tasks[j].ID)
			}
		}
	}
	return nil
}
