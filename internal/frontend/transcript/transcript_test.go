package transcript

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func call(id, name, args string) llm.Part {
	return llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: name, Args: json.RawMessage(args)}, Wire: "w", Raw: json.RawMessage(`{"input":` + args + `}`)}
}

func replied(parts ...llm.Part) event.Replied {
	return event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: parts}}}
}

func done(id, name, text string) event.CallDone {
	return event.CallDone{ID: id, Tool: name, Outcome: event.OK, Result: llm.Result{ID: id, Name: name, Text: text}}
}

// conversation is one with everything that a transcript shows.
func conversation() []event.Body {
	one := 1
	edit := done("c2", "edit", "edited")
	edit.Note, edit.Diff = "+1 -1", "--- a/doc.md\n+++ b/doc.md\n@@ -1 +1 @@\n-```go\n+````go\n"
	bash := done("c3", "bash", "FAIL `x`\n```\nexit code 1")
	bash.Outcome, bash.Command, bash.Exit = event.Failed, "go test ./...", &one
	return []event.Body{
		event.Opened{Dir: "/work/it", Mode: "ask"},
		event.Rebased{Why: "start", Info: llm.Info{Provider: "p", Model: "m", From: "host"}},
		event.Prompted{Text: "Change the `doc`,\nplease. \x1b[31m"},
		replied(llm.TextPart("I look:\n\n```go\nfunc open"), call("c1", "read", `{"files":[{"path":"doc.md"}]}`)),
		event.CallAsked{ID: "c1", Tool: "read", Args: json.RawMessage(`{"files":[{"path":"doc.md"}]}`)},
		done("c1", "read", "== doc.md (lines 1-1 of 1) ==\n1\t```go"),
		event.CallAsked{ID: "c2", Tool: "edit", Args: json.RawMessage(`{"path":"doc.md"}`)},
		edit,
		event.CallAsked{ID: "c3", Tool: "bash", Args: json.RawMessage("{\"command\":\"go test `./...`\"}")},
		event.Granted{Rule: "bash(go test *)", Scope: event.Session},
		bash,
		event.Answered{ID: "q1", Text: "blue"},
		event.PersonRan{Command: "git status", Output: "clean\n"},
		event.FileChanged{Call: "c2", Tool: "edit", Path: "doc.md", Before: "1", After: "2"},
		event.Checking{Name: "go test", Command: "go test ./..."},
		event.Checked{Name: "go test", Command: "go test ./...", Exit: &one, Failures: 2, Output: "--- FAIL: TestX\n[all output: /spill]"},
		event.Prompted{Source: event.Autofix, Text: "It failed:\n```\n--- FAIL: TestX\n```"},
		event.Checked{Why: "no check found"},
		event.Interrupted{By: "person"},
		event.Ended{End: event.EndInterrupted, Error: &event.Fault{Message: "interrupted (person)"}},
		event.Undone{Paths: []string{"doc.md"}, Kept: []string{"doc.md"}},
		event.Redone{Paths: []string{"do\x1bc.md"}},
		event.Phased{Number: 1, Text: "look", Plan: []event.PhaseStep{{Text: "look"}, {Text: "mend\n> it"}}},
		event.Phased{Number: 1, Text: "look"},
		event.Phased{},
		event.Phased{Number: 2, Text: "mend"},
		event.Phased{Failed: true},
		event.Prompted{Text: "and? @a.go:1-2 @`b`", Attached: "== a.go (lines 1-2 of 9) ==\n1\tx\n\n== `b` (folder) ==\nc\n", Images: []llm.Media{{Type: "image/png"}}},
		event.Routed{Route: "read", By: "pattern", Why: "and?", Rights: []string{"read"}},
		event.Ended{End: event.EndProvider, Error: &event.Fault{Message: "overloaded \x1b]0;x\x07"}},
	}
}

func write(t *testing.T, to func(event.Event) error, bodies []event.Body) {
	t.Helper()
	for i, b := range bodies {
		e := event.Event{Session: "s1", Seq: int64(i + 1), Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Body: event.Completed(b)}
		must.Do(t, to(e))
	}
}

// SPEC 10.4: a session as a document and as a text; 16.11: neither obeys what
// is in it.
func TestForms(t *testing.T) {
	var md, text bytes.Buffer
	write(t, Markdown(&md), conversation())
	write(t, Text(&text), conversation())
	for name, got := range map[string]string{"session.md": md.String(), "session.txt": text.String()} {
		if strings.ContainsRune(got, 0x1b) {
			t.Errorf("%s holds an escape", name)
		}
		golden.File(t, filepath.Join("testdata", name+".golden"), got)
	}
}

// Nothing in a block ends it, and nothing in a reply swallows what follows.
func TestFences(t *testing.T) {
	for _, s := range []string{"plain", "```", "a\n```\nb", "`````\n", "~~~"} {
		f := fenced("", s)
		fence, body, _ := strings.Cut(f, "\n")
		if strings.Contains(body[:len(body)-len(fence)-1], fence) {
			t.Errorf("%q in %q", s, f)
		}
	}
	for in, want := range map[string]string{
		"x": "x", "```\na": "```\na\n```", "```\na\n```": "```\na\n```", "````go\n```\n": "````go\n```\n\n````",
		"~~~\n```": "~~~\n```\n~~~", "a ``` b": "a ``` b", "    ```": "    ```", "```go\n```js\n```": "```go\n```js\n```",
	} {
		if got := closed(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a": "`a`", "a`b": "``a`b``", "`a`": "`` `a` ``"} {
		if got := code(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
