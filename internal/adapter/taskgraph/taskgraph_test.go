package taskgraph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// SPEC 14.2: what is wrong with a graph is told with the file, the line, and
// what was most likely meant, everything at once.
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		`{"goal":"g","tasks":[{"id":"a","goal":"g","accept":["true"]}]}`:                                       "",
		"goal: g\ntasks: [{id: a, goal: g, accept: ['true']}]":                                                 "",
		"---\ngoal: g\ntasks:\n- {id: a, goal: g, accept: [x], agent: explore, model: m, size: 3, title: t}\n": "",
		"x: &t\n  - {id: a, goal: g, accept: [x]}\n":                                                           `g.yaml:1: unknown field "x"`,

		// What cannot be read.
		" \n":                           "g.yaml: the file is empty",
		"# nothing\n":                   "no tasks",
		"goal: [":                       "g.yaml:1: ",
		"goal: g\ngoal: h\ntasks: []\n": "g.yaml:2: ",
		"goal: g\ntasks: 7":             "g.yaml:2: \"7\" was found where a sequence must be",
		"goal: g\ntasks:\n  - 7":        "g.yaml:3: ",
		"goal: g\ntasks: {a: b}":        "g.yaml:2: ",
		"- goal: g":                     "g.yaml:1: ",
		"just text":                     "g.yaml:1: ",
		"goal: g\ntasks:\n  - id: [a]":  "g.yaml:3: ",
		"goal: g\ntasks: [{id: a, goal: g, accept: ['true'], size: big}]": `g.yaml:2: "big" was found where a number must be`,
		"goal: g\ntasks:\n- {id: a, goal: g, accept: x}":                  "g.yaml:3: ",
		"goal: g\n---\ngoal: h\n":                                         "g.yaml:3: a second document",

		// Fields.
		"goal: g\nverifi: []":                          `g.yaml:2: unknown field "verifi": did you mean verify?`,
		"goal: g\naccept: [x]\ntasks: []":              `g.yaml:2: unknown field "accept": there are goal, tasks, verify`,
		"goal: g\ntasks:\n  - id: a\n    goall: g":     `g.yaml:4: unknown field "goall": did you mean goal?`,
		"tasks:\n  - id: a\n    depends_on: [b]":       `g.yaml:3: unknown field "depends_on": there are id, title`,
		"tasks:\n  - id: a\n    resolves: b":           `g.yaml:3: unknown field "resolves"`,
		"tasks:\n- {id: a, acept: [x]}\n- {idd: b}\n":  "g.yaml:3: unknown field \"idd\": did you mean id?",
		"tasks:\n- {id: a, acept: [x]}\n- {idd: b}\n ": "g.yaml:2: unknown field \"acept\": did you mean accept?",

		// The graph.
		"goal: g":            "g.yaml: the graph has no tasks",
		"goal: g\ntasks: []": "g.yaml:2: the graph has no tasks",
		"tasks:\n- {id: a, goal: g, accept: [x]}\n- id: b\n  goal: g\n  accept: [x]\n  after: [bb, cc, dd, abcdeg]\n- {id: abcdef, goal: g, accept: [x]}\n": `"abcdeg", which is not a task: did you mean abcdef?`,
		"tasks:\n- id: a\n  goal: g\n":                                                                           `g.yaml:2: task 1 ("a"): it has no acceptance check`,
		"tasks:\n- id: a\n  goal: g\n  accept: []\n":                                                             `g.yaml:4: task 1 ("a"): it has no acceptance check`,
		"tasks:\n- {id: a, goal: g, accept: [x]}\n- {id: a, goal: g, accept: [x]}\n":                             `g.yaml:3: task 2 ("a"): task 1 has the same id`,
		"tasks:\n- {id: a, goal: g, accept: [x], after: [b]}\n- id: b\n  goal: g\n  accept: [x]\n  after: [a]\n": "tasks wait for each other: a → b → a",
		`{"goal": "x",
		  "tasks": [
		    {"id": "a", "goal": "g", "accept": []}]}`: `g.yaml:3: task 1 ("a"): it has no acceptance check`,
	} {
		f, err := Parse("g.yaml", []byte(in))
		if want == "" && (err != nil || len(f.Tasks) == 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q:\n%v\nwant %s", in, err, want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x00\x1b") {
			t.Errorf("%q: control characters in %q", in, err)
		}
	}
	var many strings.Builder
	many.WriteString("tasks:\n")
	for i := range 100 {
		fmt.Fprintf(&many, "- {id: t%d, goal: g}\n", i)
	}
	_, err := Parse("g", []byte(many.String()))
	if err == nil || strings.Count(err.Error(), "\n") != maxFaults || !strings.Contains(err.Error(), "and 80 faults more") || !errors.Is(err, swarm.ErrGraph) {
		t.Errorf("a hundred faults: %v", err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "none"), "none"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Read(dir, "dir"); err == nil {
		t.Error("a folder is read")
	}
	large := filepath.Join(dir, "large")
	must.Do(t, os.WriteFile(large, nil, 0o600))
	must.Do(t, os.Truncate(large, maxFile+1))
	if _, err := Read(large, "large"); err == nil || !strings.Contains(err.Error(), "larger than 64 MB") {
		t.Error(err)
	}
}

// SPEC 14.2: what is written for editing is read as the same graph, whatever is
// in its texts.
func TestFormat(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"a", " ", "\n", "\t", ":", ": ", "#", " #", "- ", "---", "'", `"`, `\`, "|", ">", "{", "}", "[", "]", "*x", "&x", "!!int", "%", "@", "`", "true", "null",
		"~", "0x1", "1e3", "é", "\u2028", "\u0085", "\r", "\x01", "\x7f", "<<", "? ", "\n  - id: x", "\ntasks:\n", "yes", "...", "\u200b", "😀",
	}
	text := func() string {
		var b strings.Builder
		b.WriteString("x")
		for range random.IntN(6) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		if random.IntN(2) == 0 {
			return strings.TrimPrefix(b.String(), "x") + "y"
		}
		return b.String()
	}
	asYAML := 0
	for range 3000 {
		g := swarm.Graph{Goal: text(), Verify: []string{text()}}
		for i := range 1 + random.IntN(3) {
			k := event.Task{ID: fmt.Sprint("t", i), Title: text(), Goal: text(), Accept: []string{text(), text()}, Size: random.IntN(5), Agent: text()}
			if i > 0 {
				k.After = []string{"t0"}
			}
			g.Tasks = append(g.Tasks, k)
		}
		raw := must.Get(Format(g))(t)
		f, err := Parse("f", raw)
		if err != nil || !reflect.DeepEqual(f.Graph, g) {
			t.Fatalf("%+v\nis written as\n%s\nand read as %+v (%v)", g, raw, f, err)
		}
		if raw[0] != '{' {
			asYAML++
		}
	}
	if asYAML < 300 {
		t.Errorf("only %d of 3000 were written as YAML", asYAML)
	}
	raw, err := Format(swarm.Graph{Goal: "move it", Tasks: []event.Task{
		{ID: "a", Goal: "Do it.\nThen check it.", Accept: []string{"go test ./..."}}, {ID: "b", Goal: "More.", After: []string{"a"}, Accept: []string{"true"}},
	}})
	want := "goal: move it\ntasks:\n  - id: a\n    goal: |-\n      Do it.\n      Then check it.\n    accept:\n      - go test ./...\n\n  - id: b\n    goal: More.\n    after:\n      - a\n    accept:\n      - \"true\"\n"
	if err != nil || string(raw) != want {
		t.Errorf("%v\n%s", err, raw)
	}
}
