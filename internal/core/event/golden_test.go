package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

var update = flag.Bool("update", false, "write testdata/golden anew: only for a kind or a version that no released pawl wrote")

// full has one of every body with every field set. It is what old logs look
// like: a line of it only changes together with the body's version.
func full() []event.Body {
	const before, after = tool.Hash("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
		tool.Hash("486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7")
	info := llm.Info{
		Provider: "anthropic", Model: "claude-x", API: "anthropic-messages", From: "api.anthropic.com", Family: "claude",
		Window: 200000, MaxOutput: 32000, Images: true, PDF: true, Audio: true,
		Price: &llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, CacheLong: 6, Search: 0.01}, ListPrice: true, Search: true,
		Effort: "high", SideEffort: "low", Bound: true,
	}
	result := llm.Result{
		ID: "call_1", Name: "bash", Text: "FAIL <a> & \u2028 ✓\nexit code 1", Error: true,
		Images: []llm.Media{{Type: "image/png", Data: []byte{0x89, 'P', 'N', 'G', 0}}},
	}
	return []event.Body{
		event.Opened{
			Dir: "/home/ann/prj", Pawl: "0.1.0", Mode: "accept-edits",
			Origin: &event.Origin{Session: "0198c0de", At: 12}, Front: "headless", Durable: true, Branch: "main",
			Parent: &event.ParentCall{Session: "0198c0dd", Call: "call_9", Agent: "explore"},
		},
		event.Resumed{Pawl: "0.1.1", Mode: "ask", Branch: "mend"},
		event.Rebased{Why: "start", Info: info, Head: llm.Head{
			Model: "claude-x", System: "You are <pawl>.", Effort: "high",
			Tools: []llm.ToolSpec{{Name: "read", Doc: "Read files", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "web_search", Schema: json.RawMessage(`{}`), Server: llm.ServerSearch}},
		}},
		event.Prompted{ID: "1", Source: event.Person, Text: "fix the <test> && run it", Typed: "fix the <test>", Images: []llm.Media{{Type: "image/png", Data: []byte{1}}}, Attached: "== a.go =="},
		event.Noted{Why: "rules", Text: "AGENTS.md changed"},
		event.Requested{Attempt: 1, Bytes: 9000, Model: "anthropic/claude-x", Reserved: new(0.125), Messages: 3, Tools: 20, Tokens: 2500},
		event.Retried{
			Loop:    "and again ",
			Attempt: 1, Error: event.Fault{Category: "provider", Retryable: true, Message: "529 overloaded"},
			Wait: 1500 * time.Millisecond, Left: 4 * time.Minute, Most: 5, Shown: true, Model: "anthropic/claude-y",
		},
		event.Replied{
			Reply: llm.Reply{
				Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
					{Kind: llm.Reasoning, Text: "let me think", Parsed: true, Wire: "anthropic-messages", Raw: json.RawMessage(`{"signature":"Eq+/<>=="}`)},
					{Kind: llm.Text, Text: "I will look."},
					{Kind: llm.Image, Media: "image/png", Data: []byte{2}},
					{Kind: llm.CallPart, Call: &llm.Call{
						ID: "call_1", Name: "bash", Args: json.RawMessage(`{"command":"go test ./..."}`),
						Sent: "{'command': 'go test ./...'}", Bad: "offset 1: single quotes",
					}},
					{Kind: llm.Output, Result: &result},
				}},
				Stop: llm.StopCalls, Finish: "tool_use", Refusal: "no", Model: "claude-x-1", Response: "msg_1",
				Usage:    llm.Usage{Known: true, Input: 10, CacheRead: 20, CacheWrite: 30, Output: 40, Reasoning: 5, Searches: 2, CostUSD: new(0.5)},
				UsageRaw: json.RawMessage(`{"input_tokens":10}`),
			},
			Cost: new(0.25), Took: 2 * time.Second,
		},
		event.CallAsked{ID: "call_1", Tool: "bash", Args: json.RawMessage(`{"command":"go test ./..."}`), Sent: "{'command'…", Fix: "quotes", Does: tool.Exec, Target: "./...", Title: "bash go test ./..."},
		event.CallStarted{ID: "call_1", Confine: &process.Confine{Level: process.Workspace, Reads: []string{"/r"}, Writes: []string{"/w"}, Hosts: []string{"example.com"}, Asks: true, Editors: []string{"cp"}}},
		event.CallDone{
			ID: "call_1", Tool: "bash", Outcome: event.Failed, Result: result, Note: "1 failed", Diff: "--- a\n+++ b\n",
			Command: "go test ./... | tail", Checks: []tool.Ended{{Command: "go test ./...", Exit: 1}}, Exit: new(1), Took: 3 * time.Second, Bytes: 70000, Spill: "/tmp/spill/1",
			Does: tool.Exec, Listing: true, Repeatable: true, Untouched: true,
		},
		event.FileSeen{Call: "call_1", Spans: []tool.Span{{Path: "a.go", From: 1, To: 9, Hash: before}, {Path: "dir", Dir: true}}},
		event.FileChanged{
			Call: "call_1", Tool: "edit", Path: "a.go", Before: before, After: after, Mode: 0o644, ModeBefore: 0o755, Kept: true, Added: 3, Removed: 2, From: 4, To: 5, Unattributed: true,
			Folders: []string{"sub", "sub/deep"}, Does: tool.Edit, Whole: true, Stored: true,
			Child: &event.ChildEvent{Session: "0198c0e0", Seq: 17, Call: "call_3"},
		},
		event.Kept{Call: "call_1", Tool: "bash", Path: "node_modules", Set: "0198c0e0/3", Files: 10000, Bytes: 70000, Child: &event.ChildEvent{Session: "0198c0e0", Seq: 17, Call: "call_3"}},
		event.Undone{What: "turn", Prompt: 3, Changes: []int64{5, 7}, Paths: []string{"a.go", "b/<c>.go"}, Kept: []string{"a.go"}},
		event.Asked{
			ID: "ask_1", From: "explore", Questions: []event.Question{{
				Call: "call_1", Tool: "bash", Title: "rm -r build", Wants: "remove build", Preview: "rm -r build", Reason: "not read-only",
				Pattern: "bash(rm -r build)", Always: true, Edits: true,
			}},
			Why: "budget", Text: "Which one?", Options: []string{"the first", "the second"},
		},
		event.Answered{ID: "ask_1", Verdicts: []event.Verdict{{Call: "call_1", Scope: event.No, Why: "keep it"}}, Text: "the first"},
		event.Granted{Rule: "bash(go test *)", Scope: event.Session},
		event.Blocked{Call: "call_1", Tool: "bash", What: "rm -rf /", Reason: "never", By: "refusal", Ran: true},
		event.Narrowed{By: "the command /commit", Rules: []string{"Bash(git add:*)", "Read"}, Not: []string{"bash(git add -A)"}, Hooks: ".claude/commands/commit.md", File: "/w/.claude/commands/commit.md"},
		event.ModeSet{Mode: "plan"},
		event.Planned{Items: []tool.Item{{Text: "write a test", Status: "in_progress"}}},
		event.Remembered{Sort: "preference", Text: "tests need -race"},
		event.PersonRan{Command: "go vet | cat", Output: "clean\n", Exit: new(0), Checks: []tool.Ended{{Command: "go vet", Exit: 1}}},
		event.OpStarted{Op: "command", Text: "make"},
		event.OpDone{Op: "command", Outcome: event.Cancelled, Error: &event.Fault{Category: "cancellation", Retryable: true, Message: "interrupted"}},
		event.Interrupted{By: "person"},
		event.Stuck{
			Level: "block", Rule: "identical", Text: "You are going in circles: <again>", Evidence: []string{"call 3: bash go test → FAIL"},
			Fingerprint: "identical:9f", Steps: []int{2, 3, 4}, Call: "bash:0011",
		},
		event.Ended{End: event.EndProvider, Error: &event.Fault{Category: "provider", Retryable: true, Message: "gave up"}, Git: []event.GitFile{{Path: ".husky/pre-commit", In: "in the index", By: "git", More: 2}}, Obeyed: []event.Obeyed{{Path: ".npmrc", By: "npm", More: 1}}},
		event.Ticked{},
		event.Warned{What: "budget.usd", Text: "80 % of the budget of $5.00 is spent"},
		event.Extended{What: "budget.usd", To: 10},
		event.Charged{By: "child", Child: true, Model: "anthropic/m", Usage: llm.Usage{Known: true, Input: 7000, CacheRead: 5, CacheWrite: 6, Output: 300, Reasoning: 7, Searches: 1, CostUSD: new(0.25)}, USD: new(0.25), Guess: true, Unknown: true, Requests: 2, Calls: 3, Request: "1"},
		event.SideRequest{ID: "1", By: "compaction", Model: "anthropic/m", Input: 7000, Reserved: new(0.125)},
		event.Compacted{
			Why: "person", Focus: "the port", By: "model", Older: 40, Summary: "The port is <8080>.",
			Start: []llm.Message{{Role: llm.User, Parts: []llm.Part{
				llm.TextPart("[…]\nThe port is <8080>."),
				{Kind: llm.Image, Media: "image/png", Data: []byte{3}},
				{Kind: llm.Reasoning, Text: "hm", Parsed: true, Wire: "anthropic-messages", Raw: json.RawMessage(`{"signature":"Eq"}`)},
				{Kind: llm.CallPart, Call: &llm.Call{ID: "call_1", Name: "read", Args: json.RawMessage(`{}`), Sent: "{", Bad: "offset 1"}},
				{Kind: llm.Output, Result: &result},
			}}},
			Pointers: []event.Pointer{{Message: 2, Part: 1, Text: "[dropped]"}}, Before: 90000, After: 30000,
			Error: &event.Fault{Category: "provider", Retryable: true, Message: "529 overloaded"},
		},
		event.Writing{
			Call: "call_1", Tool: "edit", Does: tool.Edit, Whole: true, Files: []event.FileChanged{{Call: "call_1", Tool: "edit", Path: "a.go", Before: before, After: after, Mode: 0o644, ModeBefore: 0o755, Kept: true, Added: 3, Removed: 2, From: 4, To: 5, Unattributed: true, Folders: []string{"sub"}, Does: tool.Edit, Whole: true, Stored: true, Child: &event.ChildEvent{Session: "0198c0e0", Seq: 17, Call: "call_3"}}},
			Undone: &event.Undone{What: "file", Prompt: 3, Changes: []int64{5}, Paths: []string{"a.go"}, Kept: []string{"a.go"}},
			Redone: &event.Redone{Undone: 9, Paths: []string{"a.go"}},
		},
		event.Redone{Undone: 9, Paths: []string{"a.go"}},
		event.Checking{Name: "go test", Command: "go test ./...", Part: true, Attempt: 2, Before: true, Again: true},
		event.Checked{Name: "go test", Command: "go test ./...", Exit: new(1), Why: "the definition changed", Output: "--- FAIL: <T>", Took: 1500, Part: true, Attempt: 2, Stopped: true, Inert: true, Unrun: true, Failures: 3, Tests: 4, Untested: "it ran no tests", Wrapped: true, Changed: []string{"a.go"}, Failed: []event.Failure{{Name: "TestX", Unit: "example.com/x", Cause: "x_test.go:3: no", Digest: "1cf2", Hangs: true, Unrun: "modules missing", Sure: true}}},
		event.Baseline{Of: "go test ./...", Units: []string{"example.com/x"}, Why: "stopped", Failed: []event.Failure{{Name: "TestX", Unit: "example.com/x", Cause: "x_test.go:3: no", Digest: "1cf2", Hangs: true, Unrun: "modules missing", Sure: true}}, Took: 1500, Again: true, Stopped: true},
		event.Diagnosed{
			Call: "call_1", More: 3, Errors: 2,
			Found: []tool.Diagnostic{{Path: "a.go", Line: 3, Column: 5, Severity: tool.SeverityError, Source: "compiler", Code: "UndeclaredName", Message: "undefined: x", Earlier: true}},
		},
		event.Phased{Number: 2, Text: "wire it", Expected: 60, Failed: true, By: "person", Plan: []event.PhaseStep{{Text: "wire it", Expected: 60}}},
		event.LimitSet{What: "budget.tokens", To: 500000},
		event.Revoked{Rule: "bash(go test *)"},
		event.AsideAsked{ID: "btw_1", Text: "what is <this>?"},
		event.AsideAnswered{ID: "btw_1", Text: "it is <that>", Cost: new(0.25), Error: &event.Fault{Category: "provider", Retryable: true, Message: "529 overloaded"}},
		event.PlanWritten{Text: "# Plan\n\n## Phase 1: <wire> it\n", By: "model"},
		event.PlanDecided{Approved: true, Why: "go on"},
		event.RemoteAct{Device: "Ada's phone", What: "prompt"},
		event.Routed{Route: "read", By: "pattern", Why: "what does", Path: []string{"route", "plan_read", "read"}, Rights: []string{"read"}, Explicit: true},
		event.Cleaned{Results: []string{"r17"}, Summary: "two hits in <a.go>", Reason: "not needed"},
		event.Recalled{Key: "9f", Text: "it is in <a.go>", Age: 60, Took: 7},
		event.Forgotten{Text: "tabs", Sort: "preference"},
		event.AgentStarted{Call: "call_9", Child: "0198c0e0", Agent: "explore", Title: "find <the port>", Background: true, Isolated: true},
		event.AgentCalled{Call: "call_9", Child: event.ChildEvent{Session: "0198c0e0", Seq: 18, Call: "call_1"}, Done: event.CallDone{
			ID: "call_1", Tool: "bash", Outcome: event.Failed, Result: result, Note: "1 failed", Diff: "--- a\n+++ b\n",
			Command: "go test ./... | tail", Checks: []tool.Ended{{Command: "go test ./...", Exit: 1}}, Exit: new(1), Took: 3 * time.Second, Bytes: 70000, Spill: "/tmp/spill/1",
			Does: tool.Exec, Listing: true, Repeatable: true, Untouched: true,
		}},
		event.AgentEnded{Call: "call_9", Child: "0198c0e0", End: event.EndBudget, Calls: 12, Error: &event.Fault{Category: "budget", Retryable: true, Message: "$1.00 is used up"}, Tree: &event.AgentTree{Dir: "/w/.claude/worktrees/agent-0198c0e0", Branch: "worktree-agent-0198c0e0"}},
		event.SwarmPlanned{
			Goal: "move to v2", Base: "4b825dc6", Verify: []string{"go test ./..."},
			Tasks: []event.Task{{
				ID: "store", Title: "the store", Goal: "move store to v2", After: []string{"api"}, Accept: []string{"go test ./store"},
				Size: 3, Agent: "general", Model: "anthropic/claude-x", Resolves: "api",
				Timeout: "30m", Setup: []string{"npm ci"}, Labels: []string{"linux", "cargo"}, Review: true,
			}},
		},
		event.TaskTaken{Task: "store", Worker: "w1", Fence: 7, Until: time.Date(2026, 11, 22, 4, 5, 6, 0, time.UTC), Base: "4b825dc6", Machine: "box-1"},
		event.TaskReturned{
			Task: "store", Worker: "w1", Fence: 7, Outcome: event.TaskFailed, Commit: "8f14e45f", Session: "0198c0df",
			Model: "anthropic/claude-x", Error: "the checks failed", USD: new(0.25), Tokens: 1200,
			Fault: event.FaultTool, Files: []string{"store.go"},
			Checks: []event.TaskCheck{{Command: "go test ./store", Exit: new(1), Took: 1500, Output: "FAIL", Missing: "go"}},
		},
		event.TaskMerged{Task: "store", Commit: "45c48cce"},
		event.TaskConflicted{Task: "store", Files: []string{"a.go"}, By: "merge-1-store"},
		event.TaskSteered{ID: "8f14e45f", Task: "store", Do: event.OrderMessage, Text: "use v3"},
		event.SwarmEnded{
			Outcome: event.SwarmVerified, Commit: "45c48cce", Error: "none",
			Checks: []event.TaskCheck{{Command: "go test ./...", Exit: new(0), Took: 1500, Output: "ok", Missing: "go"}},
		},
		event.SwarmPaused{Fault: event.FaultBudget, Error: "the budget is used up", Commit: "45c48cce"},
		event.SwarmResumed{},
		event.Progressed{Calls: 10, Files: 2, Tests: 1, Errors: 3, Since: 4, Phase: "wire it", PhasesDone: 1, PhasesTotal: 3, Elapsed: 90},
		event.HookRan{
			Event: "PreToolUse", Command: "./check.sh", From: ".claude/settings.json", Call: "call_1", Verdict: "deny", Reason: "no", Context: "c",
			Input: json.RawMessage(`{"command":"ls"}`), Broken: "b", Once: "a.md PreToolUse 1", Exit: 2, Took: time.Second,
		},
		event.FolderTrust{State: "changed", By: "person", Inert: []event.InertPart{{Kind: "check", Name: "node in .", Runs: []string{"npm test"}, Why: "it is new"}}},
		event.TextDelta{Text: "I will"},
		event.ReasoningDelta{Text: "let me"},
		event.CallDelta{Index: 1, Name: "bash", Text: `{"comm`},
		event.Waiting{Attempt: 2, Left: 12},
		event.OutputDelta{Call: "call_1", Text: "ok  pkg\n"},
		event.TaskCalled{Worker: "w1", What: "bash go test ./..."},
	}
}

func goldenPath(b event.Body) string {
	return filepath.Join("testdata", "golden", fmt.Sprintf("%s.v%d.json", b.Kind(), event.VersionOf(b)))
}

// A log that an older pawl wrote is read for ever: the JSON of every body is
// what it was (SPEC 10.4). The files keep it indented, so that a change is a
// readable diff.
func TestGolden(t *testing.T) {
	for _, b := range full() {
		t.Run(b.Kind(), func(t *testing.T) {
			raw := must.Get(event.Encode(b))(t)
			var pretty bytes.Buffer
			must.Do(t, json.Indent(&pretty, raw, "", "  "))
			pretty.WriteByte('\n')
			if *update {
				must.Do(t, os.WriteFile(goldenPath(b), pretty.Bytes(), 0o644))
			}
			want, err := os.ReadFile(goldenPath(b))
			if err != nil {
				t.Fatalf("a kind without a golden file: %v", err)
			}
			if diff := cmp.Diff(string(want), pretty.String()); diff != "" {
				t.Errorf("old logs look different: raise the version, or undo it\n%s", diff)
			}
			var flat bytes.Buffer
			must.Do(t, json.Compact(&flat, want))
			for _, stored := range [][]byte{flat.Bytes(), raw} {
				got := must.Get(event.Decode(b.Kind(), event.VersionOf(b), stored))(t)
				if diff := cmp.Diff(b, got); diff != "" {
					t.Errorf("decoded from the file: %s", diff)
				}
				again := must.Get(event.Encode(got))(t)
				if !bytes.Equal(again, raw) {
					t.Errorf("encoded again:\n%s\nwas\n%s", again, raw)
				}
			}
		})
	}
}

// Every version that was ever written is still read.
func TestGoldenFilesAreRead(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		i := bytes.Index([]byte(name), []byte(".v"))
		kind, version := name[:i], 0
		if _, err := fmt.Sscanf(name[i:], ".v%d.json", &version); err != nil {
			t.Fatal(name, err)
		}
		raw := must.Get(os.ReadFile(f))(t)
		b, err := event.Decode(kind, version, raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := b.(event.Unknown); ok {
			t.Errorf("%s: the kind is not known any more", name)
		}
	}
}

// No kind is forgotten here, and no field of a body.
func TestGoldenIsComplete(t *testing.T) {
	have := map[string]bool{}
	for _, b := range full() {
		have[b.Kind()] = true
		set := map[string]bool{}
		fields(reflect.ValueOf(b), set)
		for field, ok := range set {
			if !ok {
				t.Errorf("%s: %s is never set", b.Kind(), field)
			}
		}
	}
	for _, kind := range event.Kinds() {
		if !have[kind] {
			t.Errorf("kind %s has no golden file", kind)
		}
		if e := event.New(kind); e == nil || e.Kind() != kind || event.VersionOf(e) < 1 {
			t.Errorf("New(%q) is %#v", kind, e)
		}
	}
	if len(have) != len(event.Kinds()) {
		t.Errorf("%d golden bodies, %d kinds", len(have), len(event.Kinds()))
	}
}

// A body that is missing in the list would be read back as Unknown.
func TestEveryBodyIsListed(t *testing.T) {
	src := must.Get(os.ReadFile("kinds.go"))(t)
	kinds := regexp.MustCompile(`(?m)^func \(\w+\) Kind\(\) string +\{ return "(\w+)" \}$`).FindAllSubmatch(src, -1)
	for _, k := range kinds {
		if event.New(string(k[1])) == nil {
			t.Errorf("%s has a method and no line in the list", k[1])
		}
	}
	if len(kinds) != len(event.Kinds()) {
		t.Errorf("%d methods, %d kinds in the list", len(kinds), len(event.Kinds()))
	}
}

// fields notes for each field below v whether it is set anywhere.
func fields(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fields(v.Elem(), set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), set)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") == "-" {
				continue // no log holds it
			}
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			set[name] = set[name] || !v.Field(i).IsZero()
			fields(v.Field(i), set)
		}
	}
}

// Logs that were written before tools recorded their facts, and before requests beside
// the conversation had ids, still open, and say the same as today's.
func TestReleasedBodies(t *testing.T) {
	for kind, want := range map[string]func(event.Body) bool{
		"call_asked": func(b event.Body) bool {
			c := b.(event.CallAsked)
			return c.Does == tool.Exec && c.Title == "bash go test ./..."
		},
		"call_done": func(b event.Body) bool {
			c := b.(event.CallDone)
			return c.Does == tool.Exec && !c.Listing && !c.Repeatable
		},
		"file_changed": func(b event.Body) bool { c := b.(event.FileChanged); return c.Does == tool.Edit && !c.Whole },
		"writing":      func(b event.Body) bool { return b.(event.Writing).Does == tool.Edit },
		"prompted":     func(b event.Body) bool { p := b.(event.Prompted); return p.Typed == "" && p.Text != "" },
		"aside":        func(b event.Body) bool { r := b.(event.SideRequest); return r.ID == "" && r.By == "compaction" },
		"charged":      func(b event.Body) bool { c := b.(event.Charged); return c.Request == "" && c.By == "child" },
	} {
		raw := must.Get(os.ReadFile("testdata/released/" + kind + ".v1.json"))(t)
		b, err := event.Decode(kind, 1, raw)
		if err != nil || !want(b) {
			t.Errorf("%s: %+v, %v", kind, b, err)
		}
	}
	for name, want := range map[string]tool.Kind{
		"read": tool.Read, "web_fetch": tool.Read, "grep": tool.Search, "glob": tool.Search, "ls": tool.Read, "write": tool.Edit, "apply_patch": tool.Edit,
		"bash_output": tool.Wait, "todo": tool.Note, "mcp__x__y": tool.Exec,
	} {
		if c := event.Completed(event.CallAsked{Tool: name}).(event.CallAsked); c.Does != want {
			t.Errorf("%s: %s, want %s", name, c.Does, want)
		}
	}
}
