package line

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// Only a word that stands alone allows anything.
func TestMeaning(t *testing.T) {
	for in, want := range map[string]struct {
		scope event.Scope
		why   string
	}{
		"y": {event.Once, ""}, " YES ": {event.Once, ""}, "yes.": {event.Once, ""},
		"s": {event.Session, ""}, "always": {event.Always, ""}, "A": {event.Always, ""},
		"n": {event.No, ""}, "No": {event.No, ""}, "no, use make": {event.No, "use make"}, "n because": {event.No, "because"},
		"use npm instead": {event.No, "use npm instead"}, "nothing like that": {event.No, "nothing like that"},
		"yes but carefully": {}, "always, please": {}, "ok": {}, "ok then": {}, "": {}, "x": {}, "yn": {}, "  ": {}, "sure thing": {}, "o": {},
	} {
		scope, why := meaning(in)
		if scope != want.scope || why != want.why {
			t.Errorf("%q means %q %q, want %q %q", in, scope, why, want.scope, want.why)
		}
	}
}

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
			r := newRig(t, llmtest.New(two), keysOf(append([]string{"go"}, c.answers...)...)...)
			_, seen := r.run()
			golden(t, "consent-"+name, seen)
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
		"one-by-one": {[]string{"o", "y", "no, leave it", "n"}, plain.None, "func f() int {\n\treturn 1\n}\n"},
		"dark":       {[]string{"n"}, plain.Dark, "func f() int {\n\treturn 1\n}\n"},
		"light":      {[]string{"no, not now"}, plain.Light, "func f() int {\n\treturn 1\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, llmtest.New(llmtest.Use("read", `{"files":[{"path":"f.go"}]}`), step), keysOf(append([]string{"go"}, c.answers...)...)...)
			r.put("f.go", "func f() int {\n\treturn 1\n}\n")
			r.theme = c.theme
			_, seen := r.run()
			// The calls run at once: either file may be the first to change.
			seen = strings.Replace(seen, "changed doc/new.md, f.go;", "changed f.go, doc/new.md;", 1)
			golden(t, "diffs-"+name, seen)
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
		r := newRig(t, llmtest.New(llmtest.Use("write", `{"path":"f.txt","content":"a\nb\u001b[31m\n"}`)), keysOf("/mode yolo", "go", "/diff")...)
		r.theme = theme
		_, seen := r.run()
		if !strings.Contains(seen, want) || strings.Contains(seen, "\x1b[31m") {
			t.Errorf("theme %d: %q is not in:\n%s", theme, want, seen)
		}
	}
}

// SPEC 4.7: a grant for the session is not asked about again.
func TestSessionGrant(t *testing.T) {
	r := newRig(t, llmtest.New(llmtest.Use("bash", `{"command":"touch a"}`), llmtest.Use("bash", `{"command":"touch b"}`)), keysOf("go", "s")...)
	r.run()
	if n := len(events[event.Asked](r, "s1")); n != 1 || r.file("b") != "" {
		t.Errorf("asked %d times; b: %q", n, r.file("b"))
	}
}

// SPEC 16.11: what a permission question is about is never elided, and stands
// before the question.
func TestPreviewIsWhole(t *testing.T) {
	long := "echo " + strings.Repeat("word ", 3000) + "; rm -r the-end"
	r := newRig(t, llmtest.New(llmtest.Use("bash", `{"command":"`+long+`"}`)), keysOf("go", "n")...)
	_, seen := r.run()
	asked := strings.Index(seen, "allow?")
	if at := strings.Index(seen, long); at < 0 || at > asked {
		t.Errorf("the command is not whole before the question (at %d of %d)", at, asked)
	}
}
