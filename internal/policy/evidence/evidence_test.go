package evidence

import (
	"encoding/json"
	"slices"
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
		{"the whole is stopped", []event.Body{change, part, event.Checked{Command: "go test ./...", Why: "stopped"}}, "only a part was checked: go test ./a, exit code 0; go test ./...: stopped"},
		{"one is missing, one passes", []event.Body{change, event.Checked{Command: "pytest", Exit: ptr(1), Why: "not installed"}, check("go test ./...", 0)}, "pytest: not installed"},
		{"the folder is not trusted", []event.Body{change, inert}, "npm test: not run"},
		{"the folder is not trusted, the model's pass", []event.Body{change, bash("go test ./a", 0), inert}, "go test ./a 0"},
		{"the folder is not trusted, the model's fail", []event.Body{change, bash("go test ./a", 1), inert}, "go test ./a 1"},
		{"the folder is not trusted, the model's does not end", []event.Body{change, event.CallDone{ID: "1", Tool: "bash", Command: "go test ./a"}, inert}, "go test ./a: it did not run to its end"},
		{"the folder is not trusted, the model changes more", []event.Body{change, bash("go test ./a", 0), change, inert}, "npm test: not run; before the last change: go test ./a, exit code 0"},
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
	const many = "go test ./one ./two ./three ./four ./five ./six ./seven ./eight ./nine ./ten ./eleven ./twelve ./thirteen ./fourteen"
	for want, bs := range map[string][]event.Body{
		"go test ./...: " + why + "; passed: go test ./a":                                 {change, bash("go test ./a", 0), event.Checked{Command: "go test ./...", Why: why}},
		"go test ./...: " + why + "; failed: go test ./b; passed: go vet ./..., npm test": {change, bash("go vet ./...", 0), bash("npm test", 0), bash("go test ./b", 1), event.Checked{Command: "go test ./...", Why: why}},
		"go test ./...: " + why: {change, bash("go test ./a", 0), change, event.Checked{Command: "go test ./...", Why: why}},
		"go test ./one ./two ./three ./four ./five ./six … ./ten ./eleven ./twelve ./thirteen ./fourteen: " + why: {change, event.Checked{Command: many, Why: why}},
		long[:50] + " … " + long[len(long)-50:] + ": " + why:                                                      {change, event.Checked{Command: long, Why: why}},
	} {
		if got := fold(bs...).Reason(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// SPEC 13.3, 20.2: a check that cannot run here is named beside those that ran. It does not
// decide, unless it would have run tests and nothing that the model ran shows more.
func TestCannotRun(t *testing.T) {
	change := edit("a.js", "1", "2")
	own := func(command string, tests int) event.Body {
		return event.Checked{Command: command, Exit: ptr(0), Tests: tests, Untested: map[bool]string{true: RunsNone}[tests == 0]}
	}
	const untrusted = "not run: this folder is not trusted"
	lacks := func(command, what string) event.Body {
		return event.Checked{Command: command, Why: "it could not run: " + what + " is not installed", Unrun: true}
	}
	failed := []event.Failure{{Name: "TestX", Cause: "no"}}
	fails := func(command string) event.Body {
		return event.Checked{Command: command, Exit: ptr(1), Failed: failed}
	}
	past := func(command string) event.Body { return event.Baseline{Of: command, Failed: failed} }
	for want, bs := range map[string][]event.Body{
		"verified: npm test, exit code 0, 3 tests; npm run lint could not run: eslint is not installed":                          {change, own("npm test", 3), lacks("npm run lint", "eslint")},
		"not verified: npm test: " + untrusted + "; before the last change: npm test, exit code 0":                               {change, bash("npm test", 0), change, event.Checked{Command: "npm test", Inert: true, Why: untrusted}},
		"not verified: npm test could not run: jest is not installed; before the last change: npx jest, exit code 0":             {change, bash("npx jest", 0), change, lacks("npm test", "jest")},
		"not verified: npm test could not run: jest is not installed; passed: npm run lint":                                      {change, lacks("npm test", "jest"), own("npm run lint", 0)},
		"not verified: npm test could not run: jest is not installed; passed: go test ./...":                                     {change, own("go test ./...", 3), lacks("npm test", "jest")},
		"not verified: npm test could not run: jest is not installed; npm run lint could not run: eslint is not installed":       {change, lacks("npm run lint", "eslint"), lacks("npm test", "jest")},
		"verified: go test ./a, exit code 0, 1 test; pytest could not run: pytest is not installed":                              {change, bash("go test ./a", 0), lacks("pytest", "pytest")},
		"not verified: npm test, exit code 1; npm run lint could not run: eslint is not installed":                               {change, event.Checked{Command: "npm test", Exit: ptr(1)}, lacks("npm run lint", "eslint")},
		"not verified: npm test, exit code 1; passed: npm run typecheck; npm run lint: it was stopped after 5m0s without an end": {change, event.Checked{Command: "npm test", Exit: ptr(1)}, own("npm run typecheck", 0), event.Checked{Command: "npm run lint", Stopped: true, Why: "it was stopped after 5m0s without an end"}},
		"verified: go test ./a, exit code 0, 1 test; npm test: not run: its definition changed in this run":                      {change, bash("go test ./a", 0), event.Checked{Command: "npm test", Inert: true, Why: "not run: its definition changed in this run"}},
		"built: npm run typecheck, exit code 0, and no test ran; npm run lint could not run: eslint is not installed":            {change, own("npm run typecheck", 0), lacks("npm run lint", "eslint")},
		// What is whole did not end; a part did.
		"not verified: only a part was checked: go test ./a, exit code 0, 3 tests; go test ./...: it was stopped after 5m0s without an end":               {change, event.Checked{Command: "go test ./a", Part: true, Exit: ptr(0), Tests: 3}, event.Checked{Command: "go test ./...", Stopped: true, Why: "it was stopped after 5m0s without an end"}},
		"not verified: only a part was checked: go test ./a, exit code 0; go test ./...: it was stopped; with a changed test: a_test.go":                  {edit("a_test.go", "1", "2"), event.Checked{Command: "go test ./a", Part: true, Exit: ptr(0)}, event.Checked{Command: "go test ./...", Stopped: true, Why: "it was stopped"}},
		"not verified: go test ./...: it was stopped; passed: 7 tests":                                                                                    {change, event.Checked{Command: "go test ./...", Stopped: true, Why: "it was stopped", Tests: 7}},
		"not verified: nothing new fails: go test ./a, exit code 1; failed as before: TestX; go test ./...: it was stopped":                               {change, event.Checked{Command: "go test ./a", Part: true, Exit: ptr(1), Failed: failed}, event.Checked{Command: "go test ./...", Stopped: true, Why: "it was stopped", Failed: failed}, past("go test ./a"), past("go test ./...")},
		"not verified: nothing new fails, in 2 checks; go test ./a, exit code 1; failed as before: TestX; npm test, exit code 2; failed as before: TestX": {change, fails("go test ./a"), event.Checked{Command: "npm test", Exit: ptr(2), Failed: failed}, past("go test ./a"), past("npm test")},
		// One reason is told once.
		"not verified: go test ./a, go test ./... could not run: m is not installed; before the last change: go vet ./..., exit code 0": {bash("go vet ./...", 0), change, lacks("go test ./a", "m"), lacks("go test ./...", "m")},
		"not verified: npm test, exit code 1; pytest, npm run lint could not run: x is not installed":                                   {change, event.Checked{Command: "npm test", Exit: ptr(1)}, lacks("pytest", "x"), lacks("npm run lint", "x")},
		"not verified: nothing new fails: go test ./a, go test ./b, exit code 1; failed as before: TestX":                               {change, fails("go test ./a"), fails("go test ./b"), past("go test ./a"), past("go test ./b")},
		"not verified: npm run lint could not run: eslint is not installed":                                                             {change, lacks("npm run lint", "eslint")},
		"not verified: go test ./...: it was stopped after 5m0s without an end; passed: npm test; npm run lint: it was killed by KILL":  {change, own("npm test", 2), event.Checked{Command: "npm run lint", Why: "it was killed by KILL"}, event.Checked{Command: "go test ./...", Stopped: true, Why: "it was stopped after 5m0s without an end"}},
	} {
		if got := fold(bs...).Proof(); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}

// SPEC 13.3: a command stands under one heading; what the model ran itself is not told as not
// run, and neither is a failure that a later and wider run has proven gone.
func TestOneHeading(t *testing.T) {
	const ok, clear = "ok  \tm/a\t0.1s\n", "without -v it does not show whether a test ran or all were skipped"
	ran := func(command string, exit int, output string) event.Body {
		return event.CallDone{Tool: "bash", Command: command, Exit: ptr(exit), Result: llm.Result{Text: output}}
	}
	not := func(command string) event.Body { return event.Checked{Command: command, Why: "not run", Inert: true} }
	fails := event.Checked{Command: "go test ./...", Exit: ptr(1), Took: 1}
	change := edit("a.go", "1", "2")
	long := "go test ./providers/anthropic ./providers/openai ./providers/google ./providers/openrouter ./internal/agent"
	for name, c := range map[string]struct {
		bs   []event.Body
		want string
	}{
		"long":              {[]event.Body{change, ran(long, 0, ok)}, "not verified: " + short(long) + ": " + clear},
		"the same":          {[]event.Body{change, ran("go test ./...", 0, ok), not("go test ./...")}, "not verified: go test ./...: " + clear},
		"the same, failing": {[]event.Body{change, ran("go test ./...", 1, "FAIL"), not("go test ./...")}, "not verified: go test ./..., exit code 1"},
		"the same, verbose": {[]event.Body{change, ran("go test -v -count=1 ./...", 0, passing), not("go test ./...")}, "verified: go test -v -count=1 ./..., exit code 0, 1 test"},
		"in its folder":     {[]event.Body{event.Opened{Dir: "/w"}, change, ran("cd /w && go test ./...", 0, ok), not("go test ./...")}, "not verified: go test ./...: " + clear},
		"limited":           {[]event.Body{change, ran("NO_COLOR=1 timeout 60 go test ./...", 0, ok), not("go test ./...")}, "not verified: NO_COLOR=1 timeout 60 go test ./...: " + clear},
		"stopped":           {[]event.Body{change, ran("timeout 60 go test ./...", 124, "")}, "not verified: timeout 60 go test ./...: it was stopped by timeout"},
		"not found":         {[]event.Body{change, ran("pytest", 127, ""), event.Checked{Command: "pytest", Why: "it could not run: pytest is not installed", Unrun: true}}, "not verified: pytest could not run: pytest is not installed"},
		"wider":             {[]event.Body{change, ran("go test -v ./...", 0, passing), not("go test ./a")}, "verified: go test -v ./..., exit code 0, 1 test"},
		"narrower":          {[]event.Body{change, ran("go test -v ./a", 0, passing), not("go test ./...")}, "verified: go test -v ./a, exit code 0, 1 test; go test ./...: not run"},
		"one of two":        {[]event.Body{change, ran("go test -v ./...", 0, passing), not("go test ./..."), not("make check")}, "verified: go test -v ./..., exit code 0, 1 test; make check: not run"},
		"before the edit":   {[]event.Body{ran("go test ./...", 0, ok), change, not("go test ./...")}, "not verified: go test ./...: not run; before the last change: go test ./..., exit code 0"},
		"killed":            {[]event.Body{change, event.CallDone{Tool: "bash", Command: "go test ./..."}, not("go test ./...")}, "not verified: go test ./...: not run"},
		"pawl's runs, too":  {[]event.Body{change, ran("go test ./...", 0, ok), fails}, "not verified: go test ./..., exit code 1"},
		"pawl's is wider":   {[]event.Body{change, ran("go test ./a", 0, ok), fails}, "not verified: go test ./..., exit code 1; passed: go test ./a"},
		"another fails":     {[]event.Body{change, ran("go test ./b", 1, "FAIL"), ran("go test -v ./a", 0, passing)}, "verified: go test -v ./a, exit code 0, 1 test; failed: go test ./b"},
		"a wider one later": {[]event.Body{change, ran("go test -run TestB ./b", 1, "FAIL"), ran("go test -v ./...", 0, passing)}, "verified: go test -v ./..., exit code 0, 1 test; failed, and passed when run again on the same files: go test -run TestB ./b"},
		"two of pawl's":     {[]event.Body{change, check("npm test", 1), event.Prompted{Source: event.Autofix}, change, check("npm test", 1), event.Prompted{Source: event.Autofix}, change, check("npm test", 1), check("npm run lint", 2)}, "not verified: 2 checks fail, after 2 attempts to fix it; npm test, exit code 1; npm run lint, exit code 2"},
		"a part":            {[]event.Body{change, event.Checked{Command: "go test ./a", Exit: ptr(0), Tests: 1, Part: true}}, "not verified: only a part was checked: go test ./a, exit code 0, 1 test"},
		"-race fails":       {[]event.Body{change, ran("go test -race ./...", 1, "FAIL"), event.Checked{Command: "go test ./...", Exit: ptr(0), Tests: 1}}, "verified: go test ./..., exit code 0, 1 test; failed: go test -race ./..."},
	} {
		if got := fold(c.bs...).Proof(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// SPEC 13.3: of a line with several commands each check counts by its own exit code, and only
// as long as nothing behind it may have changed something.
func TestChecksOfALine(t *testing.T) {
	change := edit("a.go", "1", "2")
	for name, c := range map[string]struct {
		line   string
		exit   int
		checks []tool.Ended
		want   string
	}{
		"hidden failure":     {"go test ./...; echo done", 0, []tool.Ended{{Command: "go test ./...", Exit: 1}}, "not verified: go test ./..., exit code 1"},
		"hidden pass":        {"go test -v ./...; echo done", 0, []tool.Ended{{Command: "go test -v ./..."}}, "verified: go test -v ./..., exit code 0, 1 test"},
		"others print":       {"go test -v ./...; cat log", 0, []tool.Ended{{Command: "go test -v ./..."}}, "not verified: go test -v ./...: other commands of the line also print, so its output proves no test"},
		"names of files":     {"go test -v ./... 2>&1 | tail -8; git diff --stat | tail -3", 0, []tool.Ended{{Command: "go test -v ./..."}}, "verified: go test -v ./..., exit code 0, 1 test"},
		"names before it":    {"git diff --stat | tail -3; go test -v ./... | tail -8", 0, []tool.Ended{{Command: "git diff --stat | tail -3; go test -v ./..."}}, "verified: go test -v ./..., exit code 0, 1 test"},
		"a variable":         {"go test -v ./... | tail -8; echo \"exit ${PIPESTATUS[0]}\"", 0, []tool.Ended{{Command: "go test -v ./..."}}, "verified: go test -v ./..., exit code 0, 1 test"},
		"a patch":            {"go test -v ./...; git diff -p --stat", 0, []tool.Ended{{Command: "go test -v ./..."}}, "not verified: go test -v ./...: other commands of the line also print, so its output proves no test"},
		"a file, by a word":  {"go test -v ./...; echo \"$(cat log)\"", 0, []tool.Ended{{Command: "go test -v ./..."}}, "not verified: go test -v ./...: other commands of the line also print, so its output proves no test"},
		"a file, piped":      {"go test -v ./...; cat log | tail -3", 0, []tool.Ended{{Command: "go test -v ./..."}}, "not verified: go test -v ./...: other commands of the line also print, so its output proves no test"},
		"a fake":             {"go test -v ./...; echo '--- PASS: TestY (0.00s)'", 0, []tool.Ended{{Command: "go test -v ./..."}}, "not verified: go test -v ./...: other commands of the line also print, so its output proves no test"},
		"a change behind it": {"go test -v ./...; sed -i s/a/b/ a.go", 0, []tool.Ended{{Command: "go test -v ./..."}}, "not verified: no check ran after the last change; before it: go test -v ./..., exit code 0"},
		"a change before it": {"sed -i s/a/b/ a.go; go test -v ./... && echo", 0, []tool.Ended{{Command: "sed -i s/a/b/ a.go; go test -v ./..."}}, "not verified: go test -v ./...: other commands of the line also print, so its output proves no test"},
		"two":                {"go vet ./... && go test -v ./...", 1, []tool.Ended{{Command: "go vet ./..."}, {Command: "go vet ./... && go test -v ./...", Exit: 1}}, "not verified: go test -v ./..., exit code 1; passed: go vet ./..."},
		"the first fails":    {"go vet ./... && go test -v ./...", 1, []tool.Ended{{Command: "go vet ./...", Exit: 1}}, "not verified: go vet ./..., exit code 1"},
		"none ran":           {"cd nowhere && go test ./...", 1, []tool.Ended{}, "not verified: no check ran after the last change"},
		"nobody told":        {"go vet ./... && go test ./...", 1, nil, "not verified: go vet ./... && go test ./..., exit code 1"},
		"nobody told, 0":     {"go vet ./... && go test -v ./...", 0, nil, "verified: go test -v ./..., exit code 0, 1 test"},
		"a filter":           {"go test -v ./... | tail -5; echo", 0, []tool.Ended{{Command: "go test -v ./...", Exit: 1}}, "not verified: go test -v ./..., exit code 1"},
	} {
		done := event.CallDone{Tool: "bash", Command: c.line, Exit: ptr(c.exit), Checks: c.checks, Result: llm.Result{Text: passing}}
		if got := fold(event.Opened{Dir: "/w"}, change, done).Proof(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// SPEC 13.3: of what was refused only what stayed undone is told.
func TestUndone(t *testing.T) {
	asks := func(id, tool, args string) event.Body {
		a := event.CallAsked{ID: id, Tool: tool, Args: json.RawMessage(args)}
		if tool == "write" {
			a.Target = "AGENTS.md"
		}
		return a
	}
	no := func(id, tool, args string) []event.Body {
		return []event.Body{
			event.Opened{Dir: "/w"}, asks(id, tool, args), event.Blocked{Call: id, Tool: tool, What: tool + " " + id},
			event.CallDone{ID: id, Tool: tool, Outcome: event.Denied},
		}
	}
	ran := func(line string, exit int) []event.Body {
		return []event.Body{asks("9", "bash", `{"command":"`+line+`"}`), event.CallDone{ID: "9", Tool: "bash", Outcome: event.OK, Command: line, Exit: ptr(exit)}}
	}
	const test = `{"command":"go test ./... > out.txt"}`
	for name, c := range map[string]struct {
		bs   []event.Body
		want string
	}{
		"stays undone":       {no("1", "bash", `{"command":"rm x"}`), "bash 1"},
		"asked again":        {slices.Concat(no("1", "bash", `{"command":"rm x"}`), ran("rm x", 0)), ""},
		"it ran and failed":  {slices.Concat(no("1", "bash", test), ran("go test ./... | tail -5", 1)), ""},
		"another form":       {slices.Concat(no("1", "bash", `{"command":"cd /w; ls && rm x"}`), ran("rm x", 0)), ""},
		"a wider form":       {slices.Concat(no("1", "bash", `{"command":"go test ./a"}`), ran("go test ./...", 0)), ""},
		"a narrower form":    {slices.Concat(no("1", "bash", test), ran("go test ./a", 0)), "bash 1"},
		"half of it":         {slices.Concat(no("1", "bash", `{"command":"rm x; rm y"}`), ran("rm x", 0)), "bash 1"},
		"elsewhere":          {slices.Concat(no("1", "bash", `{"command":"rm x"}`), ran("cd a && rm x", 0)), "bash 1"},
		"into another file":  {slices.Concat(no("1", "bash", `{"command":"echo a > AGENTS.md"}`), ran("echo a > b", 0)), "bash 1"},
		"refused again":      {slices.Concat(no("1", "bash", `{"command":"rm x"}`), no("2", "bash", `{"command":"rm x"}`)), "bash 1, bash 2"},
		"refused as it runs": {append(no("1", "bash", `{"command":"curl h"}`), asks("2", "bash", `{"command":"curl h"}`), event.Blocked{Call: "2", Tool: "bash", What: "bash 2"}, event.CallDone{ID: "2", Tool: "bash", Outcome: event.Failed, Command: "curl h", Exit: ptr(6)}), "bash 2"},
		"pawl's own check":   {append(no("1", "bash", test), check("go test ./...", 1)), ""},
		"a check not run":    {append(no("1", "bash", test), event.Checked{Command: "go test ./...", Why: "not run"}), "bash 1"},
		"a file":             {no("1", "write", `{"path":"AGENTS.md"}`), "write 1"},
		"a file, written":    {append(no("1", "write", `{"path":"AGENTS.md"}`), edit("AGENTS.md", "1", "2")), ""},
		"by the person":      {append(no("1", "write", `{"path":"AGENTS.md"}`), event.FileChanged{Tool: "command", Path: "AGENTS.md", Before: "1", After: "2"}), "write 1"},
		"another tool":       {append(no("1", "web_fetch", `{"url":"h"}`), asks("2", "web_fetch", `{"url":"h"}`), event.CallDone{ID: "2", Tool: "web_fetch", Outcome: event.OK}), ""},
	} {
		var got []string
		for _, d := range fold(c.bs...).Denials {
			got = append(got, d.What)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
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

// SPEC 13.3: what checks leave in the tree is no edit: it is named as what it is. What the
// model writes itself, or tells a check to write, is an edit.
func TestLeft(t *testing.T) {
	change := edit("a.go", "1", "2")
	ran := func(command, file, before string) []event.Body {
		return []event.Body{
			event.CallAsked{Tool: "bash"},
			event.FileChanged{Tool: "bash", Does: tool.Exec, Path: file, Before: tool.Hash(before), After: "x"},
			bash(command, 0),
		}
	}
	own := []event.Body{event.Checking{Command: "make test"}, edit("prog", "", "1"), event.Checked{Command: "make test", Exit: ptr(0)}}
	for name, c := range map[string]struct {
		bs   []event.Body
		want string
	}{
		"pawl's own":              {own, "prog by make test"},
		"the model's":             {ran("make test", "prog", ""), "prog by make test"},
		"first one, then both":    {slices.Concat(ran("make test", "prog", ""), own), "prog by make test"},
		"then the model edits it": {slices.Concat(own, []event.Body{edit("prog", "1", "2")}), ""},
		"it was there":            {ran("make test", "golden", "old"), ""},
		"told to write":           {ran("go test ./... -update", "golden", ""), ""},
		"another command wrote":   {ran("touch x.go && go test ./...", "x.go", ""), ""},
		"no check":                {ran("cc -o prog a.c", "prog", ""), ""},
	} {
		var got []string
		r := fold(append([]event.Body{change}, c.bs...)...)
		for _, x := range r.Files {
			if x.Left != "" {
				got = append(got, x.Path+" by "+x.Left)
			}
		}
		if strings.Join(got, ", ") != c.want || (c.want != "") != (len(r.Changed()) == 1) {
			t.Errorf("%s: %q, want %q; changed %+v", name, got, c.want, r.Changed())
		}
	}
}

// SPEC 13.3: what a check of pawl's own found flaky is named, also if the model runs the same
// check after it, and it fails; and a check that failed and then passed is named.
func TestFlakyIsNamed(t *testing.T) {
	const line = "go test ./..."
	found := event.Checked{Command: line, Exit: ptr(1), Tests: 3, Failed: []event.Failure{{Unit: "x/c", Name: "TestFirst", Cause: "no"}}}
	r := fold(edit("a.go", "1", "2"), found, event.Baseline{Of: line, Units: []string{"x/c"}, Again: true}, bash(line, 1))
	if got, want := r.Proof(), "not verified: nothing new fails: go test ./..., exit code 1; failing, and passing when run again: TestFirst (x/c); passed: 3 tests"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, failed := range []string{"go test ./...", "go test ./c"} {
		r = fold(edit("a.go", "1", "2"), bash(failed, 1), check(line, 0))
		if got, want := r.Proof(), "verified: go test ./..., exit code 0, 1 test; failed, and passed when run again on the same files: "+failed; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// SPEC 13.3: changed data of tests is told apart from changed tests, and named.
func TestChangedTestData(t *testing.T) {
	r := fold(edit("a_test.go", "1", "2"), edit("b_test.go", "1", "2"), edit("x/testdata/logo.png", "1", "2"), check("go test ./...", 0))
	if got, want := r.Proof(), "verified: go test ./..., exit code 0, 1 test, with 2 changed test files: a_test.go, …, with changed test data: x/testdata/logo.png"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
