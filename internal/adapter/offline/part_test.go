package offline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// SPEC 14.2: a worker repairs the packages that its task's checks test, and
// those alone; what is not known to be limited is the whole project.
func TestPartsOfATask(t *testing.T) {
	modules := []string{"", "tools", "tools/gen"}
	for _, c := range []struct {
		accept []string
		want   []target
	}{
		{[]string{"go test ./gcd"}, []target{{only: "./gcd"}}},
		{[]string{"go test ./gcd/..."}, []target{{only: "./gcd/..."}}},
		{[]string{"go test -count=1 -run TestX ./a ./b"}, []target{{only: "./a"}, {only: "./b"}}},
		{[]string{"go vet ./a", "go test -race -short ./a"}, []target{{only: "./a"}}},
		{[]string{"go test ./a", "grep -q x a/doc.md"}, []target{{only: "./a"}}},
		{[]string{"go test ./tools/x ./tools/gen"}, []target{{dir: "tools", only: "./x"}, {dir: "tools/gen", only: "."}}},
		// The whole project.
		{[]string{"go test ./..."}, nil},
		{[]string{"go test ./a", "go test ./..."}, nil},
		{[]string{"make test"}, nil},
		{[]string{"go test -C tools ./x"}, nil},
		{[]string{"cd a && go test ./b"}, nil},
		{[]string{"go test example.com/x/a"}, nil},
		{[]string{"go test ../x"}, nil},
		{[]string{"go test /etc"}, nil},
	} {
		if got := targets(modules, partsOf("", swarm.TaskPrompt{Accept: c.accept})); !slices.Equal(got, c.want) {
			t.Errorf("%q: %+v, want %+v", c.accept, got, c.want)
		}
	}
	for prompt, want := range map[string][]target{
		"fix the failing tests of ./gcd":       {{only: "./gcd"}},
		"fix the tests in ./a and ./tools/gen": {{only: "./a"}, {dir: "tools/gen", only: "."}},
		"repair ./a/...":                       {{only: "./a/..."}},
		"fix the bug":                          nil,
		"make go test ./... pass":              nil,
		"fix the tests, see ./notes.txt":       nil,
		"fix ./../x":                           nil,
	} {
		if got := targets(modules, partsOf(prompt, swarm.TaskPrompt{})); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", prompt, got, want)
		}
	}
}

// SPEC 5.2, 14.2: two workers of a broken project each repair their own package,
// run their checks, and leave what is another's as it is.
func TestWorkersRepairTheirOwn(t *testing.T) {
	files := []string{
		"go.mod", mod,
		"one/one.go", "package one\n\nfunc Max(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
		"one/one_test.go", "package one\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) {\n\tif Max(1, 2) != 2 || Max(5, 3) != 5 || Max(4, 4) != 4 {\n\t\tt.Error(\"max\")\n\t}\n}\n",
		"two/two.go", "package two\n\nfunc Size(s string) int { return lne(s) }\n",
		"two/only/x_test.go", "package only\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n",
	}
	prompt := func(goal string, accept ...string) string {
		var s swarm.Schedule
		s.Apply(event.Event{Body: event.SwarmPlanned{Goal: "all is green", Tasks: []event.Task{{ID: "a", Goal: goal, Accept: accept}}}})
		task, _ := s.Task("a")
		return swarm.Prompt(&s, &swarm.Lessons{}, task)
	}
	for _, c := range []struct {
		prompt       string
		says, hasNot string
		file, has    string
	}{
		{prompt("Fix the failing tests.", "go test ./one"), "-timeout=10s ./one` ended with exit code 0", "lne", "one/one.go", "a > b"},
		{prompt("Fix the build.", "go vet ./two", "go test ./two/only"), "`go build ./two` ends", "TestMax", "two/two.go", "return len(s)"},
		{prompt("Design a web server.", "go test ./one"), "beyond the built-in model", "go test", "one/one.go", "a < b"},
	} {
		r := workspace(t, files...)
		said, _ := r.do(c.prompt)
		contains(t, said, c.says)
		if has := r.get(c.file); !strings.Contains(has, c.has) || strings.Contains(said, c.hasNot) {
			t.Errorf("%s:\n%s\nit said: %s", c.file, has, said)
		}
		if n := r.get("two/two.go"); c.file != "two/two.go" && !strings.Contains(n, "lne") {
			t.Error("the other's package was changed")
		}
	}
}

// SPEC 14.2: the built-in model plans a task for each package with tests.
func TestPlanGraph(t *testing.T) {
	r := workspace(t, "go.mod", mod, "root_test.go", "package x\n", "a/a_test.go", "package a\n", "a/z_test.go", "package a\n", "a/b/b_test.go", "package b\n", "no/x.go", "package no\n", "vendor/v/v_test.go", "package v\n")
	_, said := r.do(swarm.PlanPrompt("Fix the failing tests."))
	text, err := swarm.GraphIn(said)
	var g swarm.Graph
	if err != nil || json.Unmarshal([]byte(text), &g) != nil || g.Check() != nil {
		t.Fatalf("%v, %v: %s", err, g.Check(), said)
	}
	var got []string
	for _, k := range g.Tasks {
		got = append(got, k.Accept...)
	}
	if want := []string{"go test ./a", "go test ./a/b", "go test ./."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	_, said = r.do(swarm.PlanPrompt("Design a web server."))
	contains(t, said, "beyond")
}
