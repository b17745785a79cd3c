package evidence

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func ptr(n int) *int { return &n }

func fold(bs ...event.Body) Report {
	var f Fold
	f.Apply(event.Event{Body: event.Prompted{Source: event.Person}})
	for _, b := range bs {
		f.Apply(event.Event{Body: event.Completed(b)})
	}
	return f.Report()
}

func edit(path, before, after string) event.FileChanged {
	return event.FileChanged{Tool: "edit", Path: path, Before: tool.Hash(before), After: tool.Hash(after)}
}

// passing is what go test -v prints.
const passing = "=== RUN   TestX\n--- PASS: TestX (0.00s)\nPASS\nok  \texample.com/x\t0.003s\nexit code 0"

func bash(command string, exit int) event.CallDone {
	return event.CallDone{Tool: "bash", Command: command, Exit: ptr(exit), Result: llm.Result{Text: passing}}
}

func check(command string, exit int) event.Checked {
	return event.Checked{Command: command, Exit: ptr(exit), Tests: 1}
}

// SPEC 13.3: success is only what a recorded exit code newer than the last
// change says, and of the whole; the rest says why it is not.
func TestVerdict(t *testing.T) {
	change := edit("a.go", "1", "2")
	inert := event.Checked{Command: "npm test", Why: "not run", Inert: true}
	part := event.Checked{Command: "go test ./a", Exit: ptr(0), Part: true}
	for _, c := range []struct {
		name string
		bs   []event.Body
		want string // the check that decides and its exit code, or why there is none
	}{
		{"nothing ran", []event.Body{change}, "no check ran after the last change"},
		{"a check of the model", []event.Body{change, bash("go test ./...", 0)}, "go test ./... 0"},
		{"a change after it", []event.Body{bash("go test ./...", 0), change}, "no check ran after the last change; before it: go test ./..., exit code 0"},
		{"a command that may change something after it", []event.Body{change, bash("go test ./...", 0), bash("sed -i s/a/b/ x", 0)}, "no check ran after the last change; before it: go test ./..., exit code 0"},
		{"a look at something after it", []event.Body{change, bash("go test ./...", 0), bash("git status", 0)}, "go test ./... 0"},
		{"the newest of the model's", []event.Body{change, bash("go vet ./...", 1), bash("go test ./...", 0)}, "go test ./... 0"},
		{"pawl's own", []event.Body{change, check("go test ./...", 0)}, "go test ./... 0"},
		{"one of pawl's fails", []event.Body{change, check("npm run lint", 1), check("npm test", 0)}, "npm run lint 1"},
		{"it fails and is mended", []event.Body{change, check("npm test", 1), change, check("npm test", 0)}, "npm test 0"},
		{"it is run again", []event.Body{change, check("npm test", 1), check("npm test", 0)}, "npm test 0"},
		{"only a part", []event.Body{change, part}, "only a part was checked: go test ./a, exit code 0"},
		{"a part, then the whole", []event.Body{change, part, check("go test ./...", 0)}, "go test ./... 0"},
		{"the whole fails behind a part", []event.Body{change, part, check("go test ./...", 2)}, "go test ./... 2"},
		{"the whole is stopped", []event.Body{change, part, event.Checked{Command: "go test ./...", Why: "stopped"}}, "go test ./...: stopped"},
		{"one is missing, one passes", []event.Body{change, event.Checked{Command: "pytest", Exit: ptr(1), Why: "not installed"}, check("go test ./...", 0)}, "pytest: not installed"},
		{"the folder is not trusted", []event.Body{change, inert}, "npm test: not run"},
		{"the folder is not trusted, the model's pass", []event.Body{change, bash("go test ./a", 0), inert}, "go test ./a 0"},
		{"the folder is not trusted, the model's fail", []event.Body{change, bash("go test ./a", 1), inert}, "go test ./a 1"},
		{"the folder is not trusted, the model's does not end", []event.Body{change, event.CallDone{ID: "1", Tool: "bash", Command: "go test ./a"}, inert}, "go test ./a: it did not run to its end"},
		{"the folder is not trusted, the model changes more", []event.Body{change, bash("go test ./a", 0), change, inert}, "npm test: not run"},
		{"it changed what it checks", []event.Body{change, event.Checked{Command: "make check", Exit: ptr(0), Changed: []string{"a.go"}}}, "make check: it changed a.go while it ran"},
		{"none was found", []event.Body{change, event.Checked{Why: "no check found"}}, "no check found"},
		{"none was found, then a change", []event.Body{change, event.Checked{Why: "no check found"}, change}, "no check ran after the last change"},
		{"a prompt that joins the turn", []event.Body{change, check("go test ./...", 0), event.Prompted{Source: event.Person}}, "go test ./... 0"},
		{"the next turn", []event.Body{change, check("go test ./...", 0), event.Ended{}, event.Prompted{Source: event.Person}}, "no check ran after the last change"},
		{"words prove nothing", []event.Body{change, event.Replied{}}, "no check ran after the last change"},
		{"what a check writes itself is no change", []event.Body{change, event.Checking{}, edit("cover.out", "", "1"), check("go test ./...", 0)}, "go test ./... 0"},
	} {
		r := fold(c.bs...)
		got := r.Unverified
		if r.Verified != nil {
			got = r.Verified.Command + " " + string(rune('0'+r.Verified.Exit))
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if r.Verified != nil && r.Verified.OK != (r.Verified.Exit == 0) {
			t.Errorf("%s: %+v", c.name, r.Verified)
		}
	}
}

// SPEC 13.3: a check of pawl's that did not run hides no check of the model's;
// long command lines are cut.
func TestReasonNamesWhatPassed(t *testing.T) {
	const why = "not run: this folder is not trusted"
	long := "go test ./" + strings.Repeat("a", 200)
	change := edit("a.go", "1", "2")
	for want, bs := range map[string][]event.Body{
		"go test ./...: " + why + "; passed: go test ./a":                                 {change, bash("go test ./a", 0), event.Checked{Command: "go test ./...", Why: why}},
		"go test ./...: " + why + "; failed: go test ./b; passed: go vet ./..., npm test": {change, bash("go vet ./...", 0), bash("npm test", 0), bash("go test ./b", 1), event.Checked{Command: "go test ./...", Why: why}},
		"go test ./...: " + why:   {change, bash("go test ./a", 0), change, event.Checked{Command: "go test ./...", Why: why}},
		long[:100] + " …: " + why: {change, event.Checked{Command: long, Why: why}},
	} {
		if got := fold(bs...).Reason(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Files of a check are told apart, and the number of changes is the model's.
func TestChanges(t *testing.T) {
	r := fold(edit("a.go", "1", "2"), event.Checking{}, edit("cover.out", "", "1"), edit("a.go", "2", "3"), event.Checked{Command: "x"})
	if len(r.Files) != 2 || r.Files[0].ByCheck || !r.Files[1].ByCheck || r.Changes != 1 {
		t.Errorf("%+v", r)
	}
	r = fold(edit("a.go", "1", "2"), bash("go test ./...", 1), bash("make check", 0), bash("cat x", 0))
	if r.Changes != 1 {
		t.Errorf("checks and looks count as changes: %+v", r)
	}
	if r = fold(bash("make generate", 0), bash("rm x", 0)); r.Changes != 2 {
		t.Errorf("%+v", r)
	}
	if r = fold(event.Prompted{Source: event.Autofix}, edit("a.go", "1", "2"), event.Prompted{Source: event.Autofix}, bash("sed -n 1p x", 0)); r.Attempts != 1 || len(r.Files) != 1 {
		t.Errorf("%+v", r)
	}
	if r = fold(edit("a.go", "1", "2"), edit("a.go", "2", "1")); len(r.Files) != 0 {
		t.Errorf("what is back to what it was is listed: %+v", r)
	}
}

// SPEC 13.3: a model that edits the test to pass is told of.
func TestChangedTests(t *testing.T) {
	r := fold(edit("a.go", "1", "2"), edit("a_test.go", "1", "2"), edit("new_test.go", "", "2"), edit("tests/x.py", "1", ""), edit("src/a.spec.ts", "1", "2"),
		edit("test_a.py", "1", "2"), edit("latest.go", "1", "2"), edit("contest/x.js", "1", "2"), edit("b_test.go", "1", "2"), edit("b_test.go", "2", "1"))
	if got := strings.Join(r.ChangedTests(), " "); got != "a_test.go tests/x.py src/a.spec.ts test_a.py" {
		t.Error(got)
	}
}
