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

// This file finds the part of a project that a prompt is about: a worker of a
// swarm is to repair its own packages, while those of others are still broken.

// named matches a package or a pattern as the go command names it, with the end of the
// sentence.
var named = lazyregexp.New("(?:^|[\\s\"'`(])(\\./[A-Za-z0-9_.\\-/]+)")

// partsOf returns the patterns that a prompt limits the work to, nil where it is the
// whole project: those in the acceptance checks of a worker's task, else those in the
// prompt. A check in another folder may mean anything.
func partsOf(prompt string, task swarm.TaskPrompt) []string {
	var parts []string
	text := cmp.Or(strings.Join(task.Accept, "\n"), prompt)
	for _, m := range named().FindAllStringSubmatch(text, -1) {
		p := m[1]
		if !strings.HasSuffix(p, "/...") {
			p = strings.TrimSuffix(p, ".")
		}
		if p == "./..." {
			return nil
		}
		if !outward(p) && path.Ext(strings.TrimSuffix(p, "/...")) == "" {
			parts = append(parts, p)
		}
	}
	if task.Accept != nil && (strings.Contains(text, "cd ") || strings.Contains(text, " -C ")) {
		return nil
	}
	return parts
}

// outward reports whether a path leads out of the project.
func outward(p string) bool {
	return strings.HasPrefix(p, "/") || slices.Contains(strings.Split(p, "/"), "..")
}

// targets assigns parts to the modules that contain them.
func targets(modules, parts []string) []target {
	var out []target
	for _, p := range parts {
		at := path.Clean(strings.TrimSuffix(p, "..."))
		module, found := "", false
		for _, m := range modules { // of those around each other the innermost is the last
			if m == "" || at == m || strings.HasPrefix(at, m+"/") {
				module, found = m, true
			}
		}
		only := "./" + strings.Trim(strings.TrimPrefix(at, module), "/.")
		if strings.HasSuffix(p, "...") {
			only = strings.TrimSuffix(only, "/") + "/..."
		} else if only == "./" {
			only = "."
		}
		if t := (target{module, only}); found && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// planGraph splits a repair into a task for each package of the root's module that has
// tests. Planning changes nothing, so it does not know which of them fail.
func planGraph(h *actions) {
	tests, err := h.List("**/*_test.go")
	if err != nil {
		h.Stop(err)
		return
	}
	g := swarm.Graph{Goal: "all tests pass", Verify: []string{"go test ./..."}}
	for _, f := range tests {
		p := "./" + path.Dir(f)
		if known := slices.ContainsFunc(g.Tasks, func(t event.Task) bool { return t.Accept[0] == "go test "+p }); !known && !skipped(f) {
			g.Tasks = append(g.Tasks, event.Task{
				ID: fmt.Sprintf("package-%d", len(g.Tasks)+1), Goal: "Fix the failing tests of " + p + ".", Accept: []string{"go test " + p},
			})
		}
	}
	text, err := json.MarshalIndent(g, "", "  ")
	if err != nil || len(g.Tasks) == 0 {
		h.Decline(beyond("There is no Go package with tests here, and the built-in model plans repairs of those only"))
		return
	}
	h.Say("One task for each package with tests:\n```yaml\n" + string(text) + "\n```")
}
