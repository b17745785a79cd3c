package swarm

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// Graph is a piece of work cut into tasks, as a person or a model writes it.
type Graph struct {
	Goal  string       `json:"goal" jsonschema:"what the tasks achieve together"`
	Tasks []event.Task `json:"tasks" jsonschema:"the tasks, in any order"`
	// Verify are command lines that the merged tree must pass.
	Verify []string `json:"verify,omitempty" jsonschema:"command lines that the merged tree must pass"`
}

// Limits of a graph. A task's size is bounded so that sums cannot overflow.
const (
	MaxTasks = 200_000
	maxSize  = 1000
	maxText  = 64 << 10
	maxAfter = 1000 // tasks that one waits for: a graph of layers has a task between them
)

// Names become branches, folders and keys of stores.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// ErrGraph is matched by every error of Check.
var ErrGraph = errors.New("the task graph cannot be run")

// Check returns nil for a graph that can be run, and else everything that is
// wrong with it, one error a fault, each with the task that it is about.
func (g Graph) Check() error {
	if len(g.Tasks) == 0 {
		return fmt.Errorf("%w: it has no tasks", ErrGraph)
	}
	if len(g.Tasks) > MaxTasks {
		return fmt.Errorf("%w: it has %d tasks, at most %d can be run", ErrGraph, len(g.Tasks), MaxTasks)
	}
	var errs []error
	fault := func(i int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: task %s: %s", ErrGraph, called(g.Tasks[i], i), fmt.Sprintf(format, args...)))
	}
	first := make(map[string]int, len(g.Tasks))
	folded := make(map[string]int, len(g.Tasks))
	for i, t := range g.Tasks {
		lower := strings.ToLower(t.ID)
		switch j, twice := folded[lower]; {
		case !name.MatchString(t.ID):
			fault(i, "the id must be 1 to 64 letters, digits, - or _, and begin with a letter or digit")
		case twice && g.Tasks[j].ID == t.ID:
			fault(i, "task %d has the same id", j+1)
		case twice:
			fault(i, "task %d has the id %s: ids must differ in more than case, since they name folders", j+1, g.Tasks[j].ID)
		default:
			folded[lower], first[t.ID] = i, i
		}
		switch {
		case strings.TrimSpace(t.Goal) == "":
			fault(i, "it has no goal")
		case len(t.Goal) > maxText:
			fault(i, "its goal is longer than %d KiB: put it into a file and name that", maxText>>10)
		}
		if len(t.Accept) == 0 {
			fault(i, "it has no acceptance check: name a command line that succeeds when the task is done")
		}
		for _, line := range t.Accept {
			if strings.TrimSpace(line) == "" {
				fault(i, "an acceptance check is empty")
			}
		}
		if t.Size < 0 || t.Size > maxSize {
			fault(i, "its size is %d: it must be 1 to %d", t.Size, maxSize)
		}
	}
	for i, t := range g.Tasks {
		if len(t.After) > maxAfter {
			fault(i, "it waits for %d tasks, at most %d are possible: let one task of its own wait for them", len(t.After), maxAfter)
			continue
		}
		for k, id := range t.After {
			_, known := first[id]
			switch {
			case id == t.ID:
				fault(i, "it waits for itself")
			case !known:
				fault(i, "it waits for %q, which is no task%s", id, nearest(id, first))
			case slices.Contains(t.After[:k], id):
				fault(i, "it waits for %s twice", id)
			}
		}
	}
	for _, line := range g.Verify {
		if strings.TrimSpace(line) == "" {
			errs = append(errs, fmt.Errorf("%w: verify: a command line is empty", ErrGraph))
		}
	}
	if len(errs) == 0 {
		if c := cycle(g.Tasks, first); c != nil {
			errs = append(errs, fmt.Errorf("%w: tasks wait for each other: %s", ErrGraph, strings.Join(c, " → ")))
		}
	}
	return errors.Join(errs...)
}

func called(t event.Task, i int) string {
	if t.ID == "" {
		return fmt.Sprintf("%d (no id)", i+1)
	}
	return fmt.Sprintf("%d (%.64q)", i+1, t.ID)
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

// cycle returns the ids of tasks that wait for each other, from one of them
// back to it, or nil. It keeps its own stack: a chain may be long.
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
