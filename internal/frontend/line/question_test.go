package line

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// SPEC 4.7: several calls of a step are asked about once, with every preview
// and a count; all, none, or one by one.
func TestConsent(t *testing.T) {
	two := llmtest.Use("bash", `{"command":"touch a"}`, "bash", `{"command":"touch b\ntouch c"}`)
	for name, c := range map[string]struct {
		answers []string
		files   string // that exist afterwards
		end     event.End
	}{
		"all":            {[]string{"y"}, "abc", event.EndDone},
		"none":           {[]string{"n"}, "", event.EndPermission},
		"none-and-why":   {[]string{"no, neither"}, "", event.EndDone},
		"one-by-one":     {[]string{"hm", "o", "y", "no not that"}, "a", event.EndDone},
		"first-no":       {[]string{"o", "n"}, "", event.EndPermission},
		"first-for-good": {[]string{"one", "s", "y"}, "abc", event.EndDone},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestConversation(t, llmtest.New(two), keysOf(append([]string{"go"}, c.answers...)...)...)
			_, seen := r.run()
			shown(t, "consent-"+name, seen)
			got := ""
			for _, f := range []string{"a", "b", "c"} {
				if r.file(f) == "" {
					got += f
				}
			}
			if e := events[event.Ended](r, "s1"); got != c.files || len(e) != 1 || e[0].End != c.end {
				t.Errorf("files %q, want %q; %+v", got, c.files, e)
			}
		})
	}
}

// SPEC 4.7, 18.3: one by one is one by one: what was allowed runs, the plain No
// cancels what is behind it, and the turn ends after them.
func TestEachAnswerStands(t *testing.T) {
	three := llmtest.Use("bash", `{"command":"touch a"}`, "bash", `{"command":"mkdir b"}`, "bash", `{"command":"tee c </dev/null"}`, "bash", `{"command":"chmod 700 a"}`)
	r := newTestConversation(t, llmtest.New(three), keysOf("go", "o", "y", "s", "n")...)
	_, seen := r.run()
	shown(t, "consent-each-stands", seen)
	var outcomes []event.Outcome
	for _, d := range events[event.CallDone](r, "s1") {
		outcomes = append(outcomes, d.Outcome)
	}
	if want := []event.Outcome{event.OK, event.OK, event.Denied, event.Denied}; !slices.Equal(outcomes, want) {
		t.Errorf("the calls ended %v, want %v", outcomes, want)
	}
	if e := events[event.Ended](r, "s1"); len(e) != 1 || e[0].End != event.EndPermission || len(events[event.Interrupted](r, "s1")) != 1 {
		t.Errorf("the turn ended %+v", e)
	}
}

// SPEC 4.7, 18.3: "all edits from now on" is an answer, and a slash command at a
// question is a command: neither is told to the model as a reason.
func TestEditsFromNowOn(t *testing.T) {
	step := llmtest.Use("write", `{"path":"a","content":"1\n"}`, "bash", `{"command":"touch b"}`, "write", `{"path":"c","content":"2\n"}`)
	for name, c := range map[string]struct {
		answers []string
		mode    string
		asked   int
	}{
		"edits-answer":      {[]string{"e", "y"}, "accept-edits", 1},
		"edits-one-by-one":  {[]string{"o", "all edits from now on", "y"}, "accept-edits", 1},
		"edits-mode":        {[]string{"/hepl", "/undo", "/mode accept-edits", "y"}, "accept-edits", 1},
		"edits-not-changed": {[]string{"/mode", "y"}, "ask", 2},
	} {
		t.Run(name, func(t *testing.T) {
			later := llmtest.Use("write", `{"path":"d","content":"3\n"}`)
			keys := append([]string{"go"}, c.answers...)
			if c.asked > 1 {
				keys = append(keys, "y")
			}
			r := newTestConversation(t, llmtest.New(step, later), keysOf(keys...)...)
			_, seen := r.run()
			shown(t, name, seen)
			for _, f := range []string{"a", "b", "c", "d"} {
				if strings.HasPrefix(r.file(f), "open ") {
					t.Errorf("%s was not written", f)
				}
			}
			if n := len(events[event.Asked](r, "s1")); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
		})
	}
}

// SPEC 16.11: of a long diff the beginning is shown with its counts, and all of
// it on demand; a command is whole.
func TestLongDiff(t *testing.T) {
	text := strings.Repeat("line\\n", 500)
	r := newTestConversation(t, llmtest.New(llmtest.Use("write", `{"path":"a","content":"`+text+`the end\n"}`)), keysOf("go", "d", "n")...)
	_, seen := r.run()
	at, whole := strings.Index(seen, "[60 of 504 lines; d shows all]"), strings.Index(seen, "+the end")
	if head := strings.Index(seen, "write a (new, +501)"); head < 0 || at < head || whole < at || strings.Count(seen, "allow?") != 2 {
		t.Errorf("the head is at %d, the note at %d, the end at %d:\n%.3000s", head, at, whole, seen)
	}
}

// SPEC 4.3, 4.7: what edits would do is shown as diffs with their counts, each
// on top of the ones before it, whole, before anything is asked.
func TestConsentShowsDiffs(t *testing.T) {
	step := llmtest.Use("edit", `{"path":"f.go","old":"\treturn 1","new":"\treturn 2"}`,
		"edit", `{"path":"f.go","old":"\treturn 2","new":"\tx := 2\n\treturn x"}`,
		"write", `{"path":"doc/new.md","content":"# New\n\n\u001b[31mred\u202e\n"}`,
		"bash", `{"command":"touch a"}`)
	for name, c := range map[string]struct {
		answers []string
		theme   plain.Theme
		f       string
	}{
		"all":        {[]string{"y"}, plain.None, "func f() int {\n\tx := 2\n\treturn x\n}\n"},
		"one-by-one": {[]string{"o", "y", "no, leave it", "n"}, plain.None, "func f() int {\n\treturn 2\n}\n"},
		"dark":       {[]string{"n"}, plain.Dark, "func f() int {\n\treturn 1\n}\n"},
		"light":      {[]string{"no, not now"}, plain.Light, "func f() int {\n\treturn 1\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestConversation(t, llmtest.New(llmtest.Use("read", `{"files":[{"path":"f.go"}]}`), step), keysOf(append([]string{"go"}, c.answers...)...)...)
			r.put("f.go", "func f() int {\n\treturn 1\n}\n")
			r.theme = c.theme
			_, seen := r.run()
			// The calls run at once: either file may be the first to change.
			seen = strings.Replace(seen, "changed doc/new.md, f.go;", "changed f.go, doc/new.md;", 1)
			shown(t, "diffs-"+name, seen)
			if got := r.file("f.go"); got != c.f {
				t.Errorf("f.go is %q, want %q", got, c.f)
			}
			if c.theme == plain.None {
				safe(t, seen)
			}
		})
	}
}

// SPEC 11.2, 16.11: /diff is coloured where the terminal shows colours, and
// nothing of a file's own is.
func TestDiffIsColoured(t *testing.T) {
	for theme, want := range map[plain.Theme]string{plain.None: "\n+a\n+b\n", plain.Dark: "\n\x1b[92m+a\x1b[0m\n"} {
		r := newTestConversation(t, llmtest.New(llmtest.Use("write", `{"path":"f.txt","content":"a\nb\u001b[31m\n"}`)), keysOf("/mode yolo", "go", "/diff")...)
		r.theme = theme
		_, seen := r.run()
		if !strings.Contains(seen, want) || strings.Contains(seen, "\x1b[31m") {
			t.Errorf("theme %d: %q is not in:\n%s", theme, want, seen)
		}
	}
}

// SPEC 4.7: a grant for the session is not asked about again.
func TestSessionGrant(t *testing.T) {
	r := newTestConversation(t, llmtest.New(llmtest.Use("bash", `{"command":"touch a"}`), llmtest.Use("bash", `{"command":"touch b"}`)), keysOf("go", "s")...)
	r.run()
	if n := len(events[event.Asked](r, "s1")); n != 1 || r.file("b") != "" {
		t.Errorf("asked %d times; b: %q", n, r.file("b"))
	}
}

// SPEC 16.11: what a permission question is about is never elided, and stands
// before the question.
func TestPreviewIsWhole(t *testing.T) {
	long := "echo " + strings.Repeat("word ", 3000) + "; rm -r the-end"
	r := newTestConversation(t, llmtest.New(llmtest.Use("bash", `{"command":"`+long+`"}`)), keysOf("go", "n")...)
	_, seen := r.run()
	asked := strings.Index(seen, "allow?")
	if at := strings.Index(seen, long); at < 0 || at > asked {
		t.Errorf("the command is not whole before the question (at %d of %d)", at, asked)
	}
}
