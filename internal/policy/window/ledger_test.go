package window

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 9.6, 20.3: what the ledger says of a changed file is of use to a model: how much
// changed, and how the last check after it ended.
func TestLedgerOfFiles(t *testing.T) {
	t.Parallel()
	changed := func(path string, after tool.Hash, added, removed int) event.FileChanged {
		return event.FileChanged{Path: path, Before: "1", After: after, Added: added, Removed: removed}
	}
	ran := func(line string, exit *int) event.CallDone {
		return event.CallDone{Tool: "bash", Command: line, Exit: exit, Outcome: event.OK}
	}
	zero, one := 0, 1
	for name, c := range map[string]struct {
		events []event.Body
		want   string
	}{
		"not checked":        {[]event.Body{changed("a.go", "2", 3, 1), changed("a.go", "3", 1, 1)}, "- a.go (+4 -2 in 2 changes; not checked since)\n"},
		"passed":             {[]event.Body{changed("a.go", "2", 3, 1), ran("go test ./...", &zero)}, "- a.go (+3 -1)\n"},
		"failed":             {[]event.Body{changed("a.go", "2", 3, 1), ran("go test ./...", &one)}, "- a.go (+3 -1)\n"},
		"stopped":            {[]event.Body{changed("a.go", "2", 3, 1), ran("npm test", nil)}, "- a.go (+3 -1; not checked since)\n"},
		"changed since":      {[]event.Body{changed("a.go", "2", 3, 1), ran("go test ./...", &zero), changed("a.go", "3", 1, 0)}, "- a.go (+4 -1 in 2 changes; not checked since)\n"},
		"one of two":         {[]event.Body{changed("a.go", "2", 3, 1), ran("go vet ./...", &zero), changed("b.go", "3", 1, 0)}, "- a.go (+3 -1)\n- b.go (+1 -0; not checked since)\n"},
		"no check":           {[]event.Body{changed("a.go", "2", 3, 1), ran("ls", &zero)}, "- a.go (+3 -1; not checked since)\n"},
		"a check after turn": {[]event.Body{changed("a.go", "2", 3, 1), event.Checked{Command: "go test ./a", Exit: &zero}}, "- a.go (+3 -1)\n"},
		"not run":            {[]event.Body{changed("a.go", "2", 3, 1), event.Checked{Command: "go test ./a", Why: "not trusted"}}, "- a.go (+3 -1; not checked since)\n"},
		"removed":            {[]event.Body{changed("a.go", "", 0, 9)}, "- a.go (removed; not checked since)\n"},
	} {
		var l ledger
		for _, e := range c.events {
			l.apply(e)
			if d, ok := e.(event.CallDone); ok {
				l.done(llm.Call{Name: d.Tool}, d)
			}
		}
		if got := l.text(1000, 0); !strings.Contains(got, "## Files changed, newest last\n"+c.want) {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

// SPEC 9.6: after compaction a call is told as not allowed only if somebody refused it, and
// no longer once it was allowed. What pawl asked to be looked at first is a failure like
// others.
func TestRefusedAndAllowed(t *testing.T) {
	t.Parallel()
	var l ledger
	call := func(id string, outcome event.Outcome, text string) {
		l.done(llm.Call{ID: id, Name: "edit", Args: []byte(`{"path":"p.go"}`)}, event.CallDone{ID: id, Tool: "edit", Outcome: outcome, Result: llm.Result{Text: text}})
	}
	call("1", event.Denied, "lines 4-7 of p.go were not shown")
	if got := l.text(1000, 0); strings.Contains(got, "not allowed") || !strings.Contains(got, "## Tried and failed") {
		t.Errorf("not shown:\n%s", got)
	}
	call("2", event.OK, "done")
	if got := l.text(1000, 0); !strings.Contains(got, "were not shown [worked later]") {
		t.Errorf("shown, and edited:\n%s", got)
	}
	l.apply(event.Blocked{Call: "3", Tool: "edit", By: event.ByPerson})
	call("3", event.Denied, "the user said no")
	if got := l.text(1000, 0); !strings.Contains(got, "- not allowed: edit `p.go`: the user said no\n") {
		t.Errorf("refused:\n%s", got)
	}
	call("4", event.OK, "done")
	if got := l.text(1000, 0); strings.Contains(got, "not allowed") {
		t.Errorf("allowed since:\n%s", got)
	}
}

// SPEC 9.6: after compaction a command that failed is no forbidden one: what was changed
// since may have mended it, and that is said. Other calls have no such note.
func TestFailuresBeforeChanges(t *testing.T) {
	t.Parallel()
	var l ledger
	fail := func(tool, line string) {
		l.done(llm.Call{Name: tool, Args: []byte(`{"path":"p.go"}`)}, event.CallDone{Tool: tool, Command: line, Exit: new(1), Outcome: event.Failed, Result: llm.Result{Text: "no"}})
	}
	fail("bash", "go vet ./... && go test ./... | tail")
	fail("edit", "")
	l.apply(event.FileChanged{Path: "x.go", After: "1"})
	l.apply(event.FileChanged{Path: "x.go", After: "2"})
	fail("bash", "make")
	got := l.text(1000, 0)
	for _, want := range []string{
		"tail`: no (changes of files since: 2)\n", "- edit `p.go`: no\n", "- bash `make` after changes to x.go: no\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "do not try") {
		t.Errorf("a test must be run again:\n%s", got)
	}
}

// SPEC 9.6: after a compaction a failure has its reasons, and what a command said last, not
// what pawl added to its output.
func TestEvidenceIsTheCommands(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"the reasons of a test", "--- FAIL: TestConvert (0.00s)\n    --- FAIL: TestConvert/missing (0.00s)\n        \tError: an error is expected but got nil\nok  \tm/b\nFAIL\nexit code 1", "--- FAIL: TestConvert (0.00s) … --- FAIL: TestConvert/missing (0.00s) … Error: an error is expected but got nil … ok m/b | FAIL"},
		{"what a command said", "13\nexit code 0\n[changed while this ran: a.go, b.go]", "13"},
		{"and pawl's notes", "build-ok\nexit code 0\n[the sandbox refused: write /x]", "build-ok"},
		{"nothing but its end", "exit code 1", "exit code 1"},
		{"its own brackets", "[1,2]\n[3]", "[1,2] | [3]"},
	} {
		if got := evidenceOf(c.output); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// SPEC 9.6: of long words the end stays, too: there decisions stand.
func TestLongWordsKeepTheirEnd(t *testing.T) {
	text := "I read all of it. " + strings.Repeat("wörter und wörter ", 200) + "So I leave the API as it is."
	got := clipMiddle(text, 600)
	if !strings.HasPrefix(got, "I read all of it.") || !strings.HasSuffix(got, "So I leave the API as it is.") || len(got) > 620 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if got := clipMiddle("a\n b ", 600); got != "a b" {
		t.Errorf("%q", got)
	}
}
