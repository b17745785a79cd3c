package swarm

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// mostReferences is how many files of one worker others are told of.
const mostReferences = 50

// Activity is a fold over a worker's log: its calls, and the files that it changed.
type Activity struct {
	worker  string
	args    map[string]string // of open calls
	seen    map[string]bool   // keys of calls
	changed bool              // a file, since the last call
	files   map[string]bool   // that it changed
}

// NewActivity returns the activity of a worker that did nothing yet.
func NewActivity(worker string) *Activity {
	return &Activity{worker: worker, args: map[string]string{}, seen: map[string]bool{}, files: map[string]bool{}}
}

// Apply applies an event. If a call ended with it, Apply returns the call, and its
// failure if it failed.
func (a *Activity) Apply(e event.Event) (c Call, failed *Failure, ended bool) {
	switch b := e.Body.(type) {
	case event.CallAsked:
		a.args[b.ID] = string(b.Args)
	case event.FileChanged:
		a.changed, a.files[b.Path] = true, true
	case event.CallDone:
		c, failed = a.done(b)
		return c, failed, true
	}
	return c, nil, false
}

func (a *Activity) done(b event.CallDone) (c Call, failed *Failure) {
	call := b.Tool + " " + a.args[b.ID]
	delete(a.args, b.ID)
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(call+"\x00"+b.Result.Text)))
	c = Call{Worker: a.worker, Key: key, What: cut.Runes(call, 200), Failed: b.Result.Error || b.Outcome != event.OK, New: a.changed || !a.seen[key]}
	a.seen[key], a.changed = true, false
	if c.Failed {
		failed = &Failure{Worker: a.worker, Tool: b.Tool, Target: c.What, Category: string(b.Outcome), Text: cut.Runes(b.Result.Text, 1000)}
	}
	return c, failed
}

// References returns what later workers may need to know: the files that the worker
// changed, with its task and the first line of its reply.
func (a *Activity) References(task, reply string) []Reference {
	note := "changed by the worker of task " + task
	if first, _, _ := strings.Cut(strings.TrimSpace(reply), "\n"); first != "" {
		note += ", which says: " + cut.Runes(first, 200)
	}
	files := slices.Sorted(maps.Keys(a.files))
	var refs []Reference
	for _, path := range files[:min(len(files), mostReferences)] {
		refs = append(refs, Reference{Value: path, Note: note})
	}
	return refs
}
