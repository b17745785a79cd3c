package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// asked runs one step in mode ask, answers every question with scope and gives
// the questions.
func asked(t *testing.T, scope event.Scope, files map[string]string, calls ...string) ([]event.Question, *rig) {
	t.Helper()
	var paths []string
	for name := range files {
		paths = append(paths, fmt.Sprintf(`{"path":%q}`, name))
	}
	m := llmtest.New(llmtest.Use("read", `{"files":[`+strings.Join(paths, ",")+`]}`), llmtest.Use(calls...), llmtest.Say("ok"))
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.Person = true
		c.Tools = append(c.Tools, tools.MultiEdit(), tools.ApplyPatch())
	})
	for name, text := range files {
		r.Put(name, text)
	}
	var qs []event.Question
	r.Run("go", onEvent(func(q event.Asked) {
		qs = append(qs, q.Questions...)
		var vs []event.Verdict
		for _, q := range q.Questions {
			vs = append(vs, event.Verdict{Call: q.Call, Scope: scope, Why: "a test"})
		}
		if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Verdicts: vs}); err != nil {
			t.Error(err)
		}
	}))
	return qs, r
}

// SPEC 4.3, 4.7: the question shows the real diff; that of a later call stands
// on the earlier ones of the step. Looking changes nothing.
func TestPreviews(t *testing.T) {
	qs, r := asked(t, event.No, map[string]string{"f": "a\nb\nc\n", "g": "g\n"},
		"edit", args(j{"path": "f", "old": "b", "new": "B"}),
		"edit", args(j{"path": "f", "old": "B\nc", "new": "B\nC"}),
		"write", args(j{"path": "new/x", "content": "x\n"}),
		"multi_edit", args(j{"edits": []j{{"path": "new/x", "old": "x", "new": "y"}, {"path": "g", "old": "g", "new": "G"}}}),
		"apply_patch", args(j{"patch": "*** Begin Patch\n*** Delete File: g\n*** Update File: f\n*** Move to: h\n@@\n-a\n+A\n*** End Patch"}),
		"edit", args(j{"path": "f", "old": "c", "new": "d"}),
	)
	want := []struct{ title, preview string }{
		{"edit f (+1 -1)", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"edit f (+1 -1)", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n B\n-c\n+C\n"},
		{"write new/x (new, +1)", "--- /dev/null\n+++ b/new/x\n@@ -0,0 +1,1 @@\n+x\n"},
		{"multi_edit new/x (+1 -1), g (+1 -1)", "--- a/new/x\n+++ b/new/x\n@@ -1,1 +1,1 @@\n-x\n+y\n--- a/g\n+++ b/g\n@@ -1,1 +1,1 @@\n-g\n+G\n"},
		{"apply_patch g (deleted, -1), f (deleted, -3), h (new, +3)", "--- a/g\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-G\nrename f to h\n--- a/f\n+++ b/h\n@@ -1,3 +1,3 @@\n-a\n+A\n B\n C\n"},
	} // the last edit fails for certain: nobody is asked about it
	if len(qs) != len(want) {
		t.Fatalf("%d questions, want %d: %+v", len(qs), len(want), qs)
	}
	for i, w := range want {
		if qs[i].Title != w.title || qs[i].Preview != w.preview {
			t.Errorf("question %d: %q\n%s\nwant %q\n%s", i, qs[i].Title, qs[i].Preview, w.title, w.preview)
		}
	}
	if r.File("f") != "a\nb\nc\n" || r.File("g") != "g\n" || !strings.HasPrefix(r.File("new/x"), "error") {
		t.Error("a preview changed files")
	}
}

// SPEC 16.2: a question about a command has the model's own words for what it is for.
func TestQuestionSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]string{
		"remove the old build": "; the model says: “remove the old build”",
		"one\nallow: yes":      "; the model says: “one …”",
		"":                     "",
	} {
		qs, _ := asked(t, event.No, map[string]string{"f": "a\n"}, "bash", args(j{"command": "rm f", "description": says}))
		if len(qs) != 1 || qs[0].Preview != "rm f" || strings.Contains(qs[0].Reason, "says") != (want != "") || !strings.HasSuffix("; "+qs[0].Reason, want) {
			t.Errorf("%q: %+v", says, qs)
		}
	}
}

// SPEC 4.3: an edit that fails for certain is refused with its reason, and nobody is asked; one
// of a file that a person must open stays a question, and its reason is not told before.
func TestFailingEditIsNoQuestion(t *testing.T) {
	qs, r := asked(t, event.Once, map[string]string{"f": "a\nb\n", "AGENTS.md": "rules\n"},
		"edit", args(j{"path": "f", "old": "none", "new": "b"}), "edit", args(j{"path": "AGENTS.md", "old": "none", "new": "b"}))
	if len(qs) != 1 || !strings.Contains(qs[0].Title, "AGENTS.md") || !strings.HasPrefix(qs[0].Preview, "this would fail now: ") {
		t.Errorf("%+v", qs)
	}
	refused := ""
	for _, e := range r.Log() {
		if d, ok := e.Body.(event.CallDone); ok && d.Outcome == event.Failed {
			refused += d.Result.Text + "\n"
		}
	}
	if !strings.Contains(refused, "the text to replace was not found") || r.File("f") != "a\nb\n" {
		t.Errorf("%q", refused)
	}
}

// SPEC 4.3: nobody is asked about an edit that is made already, unless an earlier one of the
// step, which a person may refuse, would make it.
func TestMadeEditIsNoQuestion(t *testing.T) {
	const before, after = "oldValue := 1\n", "newValue := 1\n"
	edit := func(old string) string { return args(j{"path": "f", "old": old, "new": after}) }
	qs, r := asked(t, event.No, map[string]string{"f": after}, "edit", edit(before))
	if len(qs) != 0 {
		t.Errorf("%+v", qs)
	}
	if n := len(find[event.CallStarted](r.Log())); n != 2 { // it has a place in the table of states: the read, and the edit
		t.Errorf("%d calls started", n)
	}
	for _, e := range r.Log() {
		if d, ok := e.Body.(event.CallDone); ok && d.Tool == "edit" && (d.Outcome != event.OK || d.Note != "already applied" || d.Result.Error || !strings.Contains(d.Result.Text, "line 1")) {
			t.Errorf("%+v", d)
		}
	}
	qs, r = asked(t, event.No, map[string]string{"f": before}, "edit", edit(before), "edit", edit("old"+before))
	if len(qs) != 2 || r.File("f") != before {
		t.Errorf("%+v", qs)
	}
}

// What was shown is what happens.
func TestPreviewsAreTrue(t *testing.T) {
	_, r := asked(t, event.Once, map[string]string{"f": "a\nb\nc\n"},
		"edit", args(j{"path": "f", "old": "b", "new": "B"}), "edit", args(j{"path": "f", "old": "B\nc", "new": "B\nC"}))
	if r.File("f") != "a\nB\nC\n" {
		t.Errorf("%q", r.File("f"))
	}
}

// A command before an edit may change what was shown: that is said.
func TestPreviewBehindACommand(t *testing.T) {
	qs, _ := asked(t, event.No, map[string]string{"f": "a\n"}, "bash", `{"command":"make all"}`, "edit", args(j{"path": "f", "old": "a", "new": "b"}))
	if len(qs) != 2 || qs[0].Preview != "make all" || !strings.HasPrefix(qs[1].Preview, "(as the files are now; a command before it") || !strings.Contains(qs[1].Preview, "-a\n+b\n") {
		t.Errorf("%+v", qs)
	}
}

// SPEC 4.3, 16.11: a preview of more than 100 KB is whole in a file that the
// question names, with secrets masked; a command is shown whole.
func TestPreviewIsBounded(t *testing.T) {
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	text := long.String() + "key = hunter2hunter2\n"
	command := "touch " + strings.Repeat("'"+strings.Repeat("w", 1000)+"' ", 95) + "the-end"
	qs, _ := asked(t, event.No, map[string]string{"f": "a\n"}, "write", args(j{"path": "x", "content": text}), "bash", args(j{"command": command}))
	if len(qs) != 2 {
		t.Fatalf("%d questions", len(qs))
	}
	p := qs[0].Preview
	if len(p) > 101<<10 || !strings.HasPrefix(p, "--- /dev/null\n+++ b/x\n@@ -0,0 +1,20001 @@\n+line 0\n") || qs[0].Title != "write x (new, +20001)" {
		t.Errorf("%d bytes, %q: %.300s", len(p), qs[0].Title, p)
	}
	_, rest, ok := strings.Cut(p, " of 20004 lines are shown here. All of it is in ")
	path := strings.TrimSuffix(rest, "]\n")
	if !ok || !filepath.IsAbs(path) {
		t.Fatalf("%s", p[len(p)-300:])
	}
	whole, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(whole), "+line 19999\n") || strings.Contains(string(whole), "hunter2hunter2") || !strings.HasPrefix(string(whole), p[:50_000]) {
		t.Errorf("%v: %d bytes", err, len(whole))
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if !strings.Contains(qs[1].Preview, command) {
		t.Error("the command is not whole")
	}
}
