package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

var notInID = lazyregexp.New(`[^A-Za-z0-9]+`)

// planGraph splits a repair into a task for each package with tests. It does
// not know whether they fail: planning changes nothing, so it runs nothing.
func planGraph(h *hands, prompt string) {
	work, _ := swarm.ReadPlanPrompt(prompt)
	dirs, err := modules(h)
	if err != nil {
		h.Stop(err)
		return
	}
	tests, err := h.List("**/*_test.go")
	if err != nil {
		h.Stop(err)
		return
	}
	only := targets(dirs, partsOf(work, swarm.TaskPrompt{}))
	g := swarm.Graph{Goal: firstLine(work)}
	used := map[string]bool{}
	var packages []string
	for _, f := range tests {
		if d := path.Dir(f); !skipped(f) && !slices.Contains(packages, d) {
			packages = append(packages, d)
		}
	}
	for _, p := range packages {
		for _, t := range targets(dirs, []part{{pattern: "./" + strings.TrimPrefix(p, ".")}}) {
			if len(only) > 0 && !slices.ContainsFunc(only, func(o target) bool { return o.has(t) }) {
				continue
			}
			id := strings.Trim(notInID().ReplaceAllString(p, "-"), "-")
			id = cmp.Or(id, "root")
			if id = clipID(id); used[strings.ToLower(id)] {
				id = fmt.Sprintf("%s-%d", id, len(g.Tasks))
			}
			used[strings.ToLower(id)] = true
			g.Tasks = append(g.Tasks, event.Task{ID: id, Goal: "Fix the failing tests of " + p + ".", Accept: []string{in(t.dir, "go test "+t.only)}})
		}
	}
	if len(g.Tasks) == 0 {
		h.Decline(beyond("There is no Go package with tests here, and the built-in model plans repairs of those only"))
		return
	}
	for _, d := range dirs {
		g.Verify = append(g.Verify, in(d, "go test ./..."))
	}
	text, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		h.Stop(err)
		return
	}
	h.Say("One task for each package with tests:\n```yaml\n" + string(text) + "\n```")
}

func clipID(id string) string { return id[:min(len(id), 50)] }

// has reports whether another target's package is one of these.
func (t target) has(o target) bool {
	if t.dir != o.dir {
		return false
	}
	for _, p := range strings.Fields(t.only) {
		all, tree := strings.CutSuffix(p, "...")
		if p == o.only || tree && (strings.HasPrefix(o.only, all) || o.only == strings.TrimSuffix(all, "/")) {
			return true
		}
	}
	return false
}
