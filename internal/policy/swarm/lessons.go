package swarm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// Limits of what is kept (SPEC 14.3).
const (
	maxFailures   = 50  // of one worker
	maxReferences = 200 // of all
	maxTold       = 10  // failures, and references, in a prompt
)

// From how many failures on they are no coincidence.
const (
	sameAction   = 3 // failures of one call
	sameCategory = 5 // failures of one category
	sameCause    = 3 // workers in a row that meet one cause
)

// Failure is a call of a worker that failed.
type Failure struct {
	Worker   string
	Tool     string
	Target   string // the path or command line of the call
	Category string // of the result: denied, timeout, error, …
	Text     string // of the result
}

// action returns the same value for calls that do the same.
func (f Failure) action() string { return f.Tool + " " + normalize.OneLine(f.Target, 200) }

// cause returns the same value for results that differ only in times, numbers and paths
// that change from run to run.
func (f Failure) cause() string { return f.Category + ":" + normalize.Digest(f.Text) }

// Reference is something that a worker found and that others may need: a path, an
// address or a name, with one line that describes it.
type Reference struct{ Value, Note string }

// Lessons holds what workers have learned. The zero value is ready.
type Lessons struct {
	failures   []Failure // at most maxFailures of each worker, the newest last
	kept       map[string]int
	references []Reference // the newest last
}

func (l *Lessons) AddFailure(f Failure) {
	if l.kept == nil {
		l.kept = map[string]int{}
	}
	if l.kept[f.Worker]++; l.kept[f.Worker] > maxFailures {
		oldest := slices.IndexFunc(l.failures, func(o Failure) bool { return o.Worker == f.Worker })
		l.failures = slices.Delete(l.failures, oldest, oldest+1)
		l.kept[f.Worker]--
	}
	f.Text = Line(normalize.OneLine(f.Text, maxLine))
	f.Tool, f.Target, f.Category = Line(f.Tool), Line(f.Target), Line(f.Category)
	l.failures = append(l.failures, f)
}

// AddReferences adds references. One that is known already becomes the newest.
func (l *Lessons) AddReferences(refs ...Reference) {
	for _, r := range refs {
		if r.Value, r.Note = Line(r.Value), Line(r.Note); r.Value == "" {
			continue
		}
		l.references = slices.DeleteFunc(l.references, func(o Reference) bool { return o.Value == r.Value })
		l.references = append(l.references, r)
	}
	if over := len(l.references) - maxReferences; over > 0 {
		l.references = slices.Delete(l.references, 0, over)
	}
}

// Search returns the references whose value a text names, the newest first, at most n.
func (l *Lessons) Search(text string, n int) []Reference {
	var out []Reference
	for _, r := range slices.Backward(l.references) {
		if len(out) < n && strings.Contains(text, r.Value) {
			out = append(out, r)
		}
	}
	return out
}

// Insights returns the rules that the failures imply, at most one of each kind: a call
// that keeps failing, a category that keeps failing, and a cause that stops one worker
// after the other.
func (l *Lessons) Insights() []string {
	var out []string
	if f, n, workers := most(l.failures, Failure.action); n >= sameAction {
		out = append(out, fmt.Sprintf("Do not repeat `%s` as it is: it failed %d times on %s. The last answer was: %s", f.action(), n, count(workers, "worker"), f.Text))
	}
	if f, n, workers := most(l.failures, func(f Failure) string { return f.Category }); n >= sameCategory {
		out = append(out, fmt.Sprintf("%d calls of %s ended as %s%s", n, count(workers, "worker"), f.Category, advice(f.Category)))
	}
	if f, n := l.cascade(); n >= sameCause {
		out = append(out, fmt.Sprintf("%d workers after each other met the same failure (%s): its cause is something that all share. If you meet it too, work around it or say so in your result; do not try again.", n, f.Text))
	}
	return out
}

// advice returns what to do about a category, "" for nothing.
func advice(category string) string {
	switch category {
	case "denied":
		return ": what is not permitted stays so. Reach the goal without it, or say in your result what is missing."
	case "timeout":
		return ": run less at once, or in the background."
	}
	return ". Read the failures below before you go on."
}

// most returns the newest failure of the largest group, the group's size and
// how many workers are in it. Of groups of one size the first one counts.
func most(fs []Failure, key func(Failure) string) (last Failure, n, workers int) {
	sizes, best := map[string]int{}, ""
	for _, f := range fs {
		k := key(f)
		if sizes[k]++; sizes[k] > n {
			best, n = k, sizes[k]
		}
	}
	seen := map[string]bool{}
	for _, f := range fs {
		if key(f) == best {
			last, seen[f.Worker] = f, true
		}
	}
	return last, n, len(seen)
}

// cascade returns the newest failure and how many different workers met its
// cause with no other failure in between.
func (l *Lessons) cascade() (Failure, int) {
	if len(l.failures) == 0 {
		return Failure{}, 0
	}
	last := l.failures[len(l.failures)-1]
	workers := map[string]bool{}
	for _, f := range slices.Backward(l.failures) {
		if f.cause() != last.cause() {
			break
		}
		workers[f.Worker] = true
	}
	return last, len(workers)
}

// Guidance returns the text about the lessons for a worker's prompt, "" for none.
func (l *Lessons) Guidance() string {
	var b strings.Builder
	for _, s := range l.Insights() {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	told := map[string]bool{}
	for _, f := range slices.Backward(l.failures) {
		if told[f.action()] || len(told) == maxTold {
			continue
		}
		told[f.action()] = true
		fmt.Fprintf(&b, "- `%s` failed (%s): %s\n", f.action(), f.Category, f.Text)
	}
	return b.String()
}

func count(n int, thing string) string {
	if n == 1 {
		return "one " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
