package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
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

// SPEC 16.7: nothing that a tool said or was told about the content of a
// secret-looking file is left; everything else is.
func TestEvents(t *testing.T) {
	const secret = "PASSWORD=plainword"
	asked := func(id, name, args string) event.CallAsked {
		return event.Completed(event.CallAsked{ID: id, Tool: name, Args: json.RawMessage(args), Sent: args}).(event.CallAsked)
	}
	changed := done("w", "edit", "ok")
	changed.Diff = "+" + secret
	for name, bodies := range map[string][]event.Body{
		"read": {
			replied(call("r", "read", `{"files":[{"path":"src/a.go"},{"path":".env"}]}`)),
			asked("r", "read", `{"files":[{"path":"src/a.go"},{"path":".env"}]}`),
			event.FileSeen{Call: "r", Spans: []tool.Span{{Path: "src/a.go"}, {Path: ".env"}}},
			done("r", "read", secret),
		},
		"read through a link": {
			asked("r", "read", `{"files":[{"path":"innocent"}]}`),
			event.FileSeen{Call: "r", Spans: []tool.Span{{Path: "/home/me/.ssh/id_rsa"}}},
			done("r", "read", secret),
		},
		"write": {
			replied(call("w", "write", `{"path":"conf/.env","content":"`+secret+`"}`)),
			asked("w", "write", `{"path":"conf/.env","content":"`+secret+`"}`),
			event.Asked{ID: "q", Questions: []event.Question{{Call: "w", Preview: secret}}},
			event.FileChanged{Call: "w", Path: "conf/.env"},
			changed,
		},
		"multi edit":                 {replied(call("w", "multi_edit", `{"edits":[{"path":"a"},{"path":"server.key","new":"`+secret+`"}]}`)), changed},
		"changed under another name": {event.FileChanged{Call: "w", Path: "id_rsa"}, changed},
		"patch": {
			asked("p", "apply_patch", `{"patch":"*** Begin Patch\n*** Update File: .env\n+`+secret+`\n*** End Patch"}`),
			done("p", "apply_patch", secret),
		},
		"search":            {done("g", "grep", "a.go:1:x\n.env:3:"+secret)},
		"context":           {done("g", "grep", "a.go:1:x\ndeploy/.env-3-"+secret)},
		"diff":              {done("d", "git_diff", "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n+"+secret)},
		"kept in a summary": {event.Compacted{Summary: "x\n.env:1:" + secret, Start: []llm.Message{{Role: llm.Tool, Parts: []llm.Part{{Kind: llm.Output, Result: &llm.Result{Text: "== .env (lines 1-1 of 1) ==\n1\t" + secret}}}}}}},
		"shown as evidence": {event.Stuck{Evidence: []string{"a.go:1:x", ".env:1:" + secret}}},
		"in a check":        {event.Checked{Output: ".env:1:" + secret}, event.Prompted{Source: event.Autofix, Text: "```\n.env:1:" + secret + "\n```"}},
		"own command":       {event.PersonRan{Command: "git diff", Output: "--- a/.env\n+++ b/.env\n+" + secret}},
	} {
		t.Run(name, func(t *testing.T) {
			redact := Events()
			var out []event.Body
			for _, b := range bodies {
				before := event.Event{Body: event.Completed(b)}
				out = append(out, redact(before).Body)
			}
			raw := must.Get(json.Marshal(out))(t)
			if strings.Contains(string(raw), "plainword") || !strings.Contains(string(raw), LeftOut) {
				t.Errorf("%s", raw)
			}
			if raw, _ := json.Marshal(bodies); !strings.Contains(string(raw), "plainword") {
				t.Error("the events that were given were changed")
			}
		})
	}
}

// Ids are used again; what is not about a secret-looking file stays.
func TestOtherEventsStay(t *testing.T) {
	edited := done("c2", "edit", "edited")
	edited.Diff = "--- a/doc.md\n+++ b/doc.md\n@@ -1 +1 @@\n-a\n+b\n"
	bodies := []event.Body{
		event.Prompted{Text: "Change the doc", Attached: "== a.go (lines 1-2 of 9) ==\n1\tx\n\n== b (folder) ==\nc\n"},
		replied(llm.TextPart("I look"), call("c1", "read", `{"files":[{"path":"doc.md"}]}`)),
		event.CallAsked{ID: "c1", Tool: "read", Args: json.RawMessage(`{"files":[{"path":"doc.md"}]}`)},
		done("c1", "read", "== doc.md (lines 1-1 of 1) ==\n1\ta"),
		event.CallAsked{ID: "c2", Tool: "edit", Args: json.RawMessage(`{"path":"doc.md"}`)}, edited,
		event.PersonRan{Command: "git status", Output: "clean\n"},
		event.FileChanged{Call: "c2", Tool: "edit", Path: "doc.md", Before: "1", After: "2"},
		event.Checked{Name: "go test", Command: "go test ./...", Failures: 2, Output: "--- FAIL: TestX\n[all output: /spill]"},
		event.Prompted{Source: event.Autofix, Text: "It failed:\n--- FAIL: TestX\n"},
		event.FileSeen{Call: "0", Spans: []tool.Span{{Path: ".env"}}}, done("0", "read", "secret"),
		event.FileSeen{Call: "0", Spans: []tool.Span{{Path: "a.go"}}}, done("0", "read", "12:30:11 package a"),
		done("1", "ls", ".env\nid_rsa"), done("2", "bash", "secrets.json was written"),
		event.Unknown{Name: "newer", V: 9, Raw: json.RawMessage(`{"path":".env"}`)},
	}
	redact := Events()
	for i, b := range bodies {
		got := redact(event.Event{Body: b}).Body
		if d, ok := b.(event.CallDone); ok && d.Result.Text == "secret" {
			continue
		}
		if d := cmp.Diff(b, got); d != "" {
			t.Errorf("event %d was changed: %s", i, d)
		}
	}
}
