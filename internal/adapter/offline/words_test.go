package offline

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// A machine without Go is told so, and nothing is changed.
func TestNoGo(t *testing.T) {
	r := workspace(t, "go.mod", mod, "x.go", brokenSum)
	r.env = []string{"PATH=/nowhere"}
	before := r.tree()
	_, last := r.do("fix the build")
	contains(t, last, "exit code 127", "go: not found")
	same(t, before, r.tree())
}

// "continue" means what was asked before; a lost result is looked at again.
func TestGoOnAfterCrash(t *testing.T) {
	r := workspace(t, "go.mod", mod, "x.go", "package x\n\nfunc Total(names []int) int { return len(nams) }\n")
	m := New()
	defer m.Close()
	ms := []llm.Message{user("fix the build")}
	for strings.Contains(r.get("x.go"), "nams") {
		reply := ask1(t, m, ms).Message
		ms = append(ms, reply, r.results(reply))
	}
	res := ms[len(ms)-1].Parts[0].Result
	res.Error, res.Text = true, "[Outcome unknown: pawl was stopped before this call's result was recorded.]"
	// The same turn goes on: the file shows that the edit was made.
	_, last := r.finish(m, slices.Clone(ms))
	contains(t, last, "repaired", "exit code 0")
	// Or it goes on in another process, which starts over.
	fresh := New()
	defer fresh.Close()
	all, last := r.finish(fresh, slices.Clone(ms))
	contains(t, said(all), "start over")
	contains(t, last, "nothing to repair")
	// Or a person comes back: no trial was ever in a file, so what is there holds.
	_, last = r.turn(m, ms, "continue")
	contains(t, last, "nothing to repair")
	if got := r.files(); !slices.Equal(got, []string{"go.mod", "x.go"}) {
		t.Errorf("files: %v", got)
	}
}

func (r *runner) finish(m *Model, ms []llm.Message) ([]llm.Message, string) {
	r.t.Helper()
	for range 200 {
		reply := ask1(r.t, m, ms).Message
		ms = append(ms, reply)
		if len(reply.Calls()) == 0 {
			return ms, reply.Text()
		}
		ms = append(ms, r.results(reply))
	}
	r.t.Fatal("the turn does not end")
	return nil, ""
}

// SPEC 5.2: what a repair came to is told with its evidence and its limits.
func TestTellRepair(t *testing.T) {
	best := repair.Edit{Path: "a/a.go", Line: 7, Func: "T.Do", Old: "\tif a < b {", New: "\tif a <= b {", Operator: "comparison"}
	other := best
	other.New = "\tif a != b {"
	rep := repair.Report{
		Outcome: repair.Uncertain, Edit: best, Tests: []string{"x/a: TestDo"}, Command: "go test ./...", Tried: 12,
		Plausible: []repair.Edit{best, other}, Why: "another change does as well",
		Differ: []repair.Difference{{Func: "T.Do", Input: "Do(3, 3)", Outputs: map[string]string{"if a <= b {": "true", "if a != b {": "false"}}},
	}
	got := tellRepair(rep)
	contains(t, got, "`T.Do` (a/a.go:7): comparison", "- \tif a < b {", "+ \tif a <= b {", "TestDo (a) passes", "exit code 0",
		"12 candidates", "1 other passes", "a/a.go:7  if a != b {", "Do(3, 3)", "true  with  if a <= b {", "not sure", "plausible, not correct")
	rep.Outcome, rep.Plausible, rep.Differ = repair.Fixed, rep.Plausible[:1], nil
	got = tellRepair(rep)
	contains(t, got, "only one that passes")
	if strings.Contains(got, "not sure") || strings.Contains(got, "differ") {
		t.Error(got)
	}
	got = tellNoRepair(repair.Report{Outcome: repair.NotFixed, Why: "nothing passed", Tried: 9}, repair.TestRun{Failures: []repair.Failure{{Pkg: "p", Name: "TestX"}}})
	contains(t, got, "could not repair", "Nothing passed.", "9 candidates", "TestX in p failed.", "ANTHROPIC_API_KEY")
}

// Whatever a tool answers, a plan ends in words: nothing of it is trusted.
func FuzzResults(f *testing.F) {
	f.Add("fix the build", "x.go:1:2: undefined: y\nexit code 1", "== x.go (lines 1-1 of 1) ==\n1\tpackage x")
	f.Add("run the tests", "go.mod\nx.go\nexit code 0", "== go.mod (lines 1-1 of 1) ==\n1\tmodule m")
	f.Add("fix the tests", "x.go:1:A", "== x.go (lines 1-9999999 of 99999999) ==\n5\tA")
	f.Fuzz(func(t *testing.T, prompt, one, two string) {
		m := New()
		defer m.Close()
		ms := []llm.Message{user(prompt)}
		for i := range 40 {
			reply := ask1(t, m, ms).Message
			ms = append(ms, reply)
			if len(reply.Calls()) == 0 {
				return
			}
			tm := llm.Message{Role: llm.Tool}
			for _, c := range reply.Calls() {
				tm.Parts = append(tm.Parts, llm.Part{Kind: llm.Output, Result: &llm.Result{ID: c.ID, Name: c.Name, Text: []string{one, two}[(i+len(c.Name))%2]}})
			}
			ms = append(ms, tm)
		}
	})
}

// A command with files laid over the workspace is one call, which a session
// without that tool refuses; nothing is written in the workspace.
func TestOverlay(t *testing.T) {
	r := workspace(t, "go.mod", mod, "x_test.go", "package x\n")
	var calls []llm.Call
	h := newHands(nil, func(a ask) llm.Result {
		calls = append(calls, *a.call)
		return r.run(*a.call)
	})
	before := r.tree()
	files := map[string]string{
		"x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestSeen(t *testing.T) { t.Log(word) }\n",
		"new.go":    "package x\n\nconst word = \"laid over\"\n",
	}
	out, exit, err := h.Overlay("go test -v ./...", files)
	if exit != 0 || err != nil || !strings.Contains(out, "laid over") {
		t.Errorf("%q, %d, %v", out, exit, err)
	}
	if len(calls) != 1 || calls[0].Name != "go_overlay" {
		t.Errorf("calls: %v", calls)
	}
	same(t, before, r.tree())
	h.tools = []string{"bash", "write"}
	if _, _, err := h.Overlay("go test ./...", files); err == nil || !strings.Contains(err.Error(), "no such tool") {
		t.Error(err)
	}
}
