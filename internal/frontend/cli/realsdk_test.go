//go:build realsdk

package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// SPEC 17.6: the real Agent SDK drives pawl: two turns, a permission, a change of
// the mode, an interrupt. PAWL_SDK is the folder of the npm package. `.ci/run`
// installs it.
func TestRealAgentSDK(t *testing.T) {
	sdk := filepath.Join(os.Getenv("PAWL_SDK"), "sdk.mjs")
	if _, err := os.Stat(sdk); err != nil {
		t.Fatalf("PAWL_SDK must be the folder of @anthropic-ai/claude-agent-sdk: %v", err)
	}
	out, said := byNode(t, "testdata/sdk/conversation.mjs", sdk)
	var kinds []string
	for line := range bytes.Lines(out) {
		var m struct {
			Type, Subtype, Asked, Event string
			Interrupted, Ended          bool
			IsError                     bool `json:"is_error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case m.Asked != "":
			kinds = append(kinds, "asked "+m.Asked)
		case m.Interrupted:
			kinds = append(kinds, "interrupted")
		case m.Ended:
			kinds = append(kinds, "ended")
		case m.Type == "system" && m.Subtype == "status", m.Type == "stream_event":
		case m.Type == "system" || m.Type == "result":
			kinds = append(kinds, m.Type+" "+m.Subtype)
		default:
			kinds = append(kinds, m.Type)
		}
	}
	// The interrupt is acknowledged at once or after what it ended.
	got := strings.Join(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == "interrupted" }), ", ")
	if want := "system init, assistant, asked Write, user, assistant, result success, system init, assistant, user, user, result error_during_execution, ended"; got != want || !slices.Contains(kinds, "interrupted") {
		t.Errorf("got  %s\nwant %s\n%s%s", got, want, out, said)
	}
}

// SPEC 17.6: the real Agent SDK has pawl call back its hooks, and its own tools.
func TestRealAgentSDKInside(t *testing.T) {
	sdk := filepath.Join(os.Getenv("PAWL_SDK"), "sdk.mjs")
	zod := filepath.Join(os.Getenv("PAWL_SDK"), "../../zod/index.js")
	out, said, dir := scriptOf(t, "testdata/sdk/inside.mjs", sdk, func(n int, body []byte) llmtest.Turn {
		switch n {
		case 0:
			if !bytes.Contains(body, []byte("What does a hat cost? Write it down.")) {
				return llmtest.Say("the command was not expanded")
			}
			return llmtest.Use("mcp__shop__price", `{"thing":"hat"}`)
		case 1:
			return llmtest.Use("write", `{"path":"secret.txt","content":"7\n"}`)
		case 2:
			return llmtest.Use("write", `{"path":"open.txt","content":"7\n"}`)
		}
		return llmtest.Say("7")
	}, "ZOD="+zod)
	text := string(out)
	for _, want := range []string{`{"lists":true}`, `{"asked":"mcp__shop__price"}`, `{"tool":"hat"}`, `{"after":"mcp__shop__price"}`, "a hat costs 7", `{"hook":"Write"}`, "no secrets", `{"asked":"Write"}`, `{"after":"Write"}`, `{"ended":"success"}`, `{"end":"other"}`} {
		at := strings.Index(text, want)
		if at < 0 {
			t.Fatalf("there is no %s, in this order:\n%s%s", want, out, said)
		}
		text = text[at:]
	}
	if _, err := os.Stat(filepath.Join(dir, "secret.txt")); err == nil {
		t.Error("a hook denied it, and it was written")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "open.txt")); string(b) != "7\n" {
		t.Errorf("%q %v", b, err)
	}
}

// SPEC 16.17: every option of the package has a row in the table that decides what becomes
// of it, and every request and every event of its hooks is known. A new one needs a
// decision.
func TestRealAgentSDKOptions(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(os.Getenv("PAWL_SDK"), "sdk.d.ts"))
	must.Do(t, err)
	_, body, found := strings.Cut(string(raw), "export declare type Options = {")
	body, _, closed := strings.Cut(body, "\n};")
	if !found || !closed {
		t.Fatal("the package declares its options in another way")
	}
	body = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(body, "")
	n := 0
	for _, m := range regexp.MustCompile(`(?m)^    (\w+)\??:`).FindAllStringSubmatch(body, -1) {
		n++
		if agentsdk.Table[m[1]].Use == 0 {
			t.Errorf("the option %s has no row", m[1])
		}
	}
	if n < len(agentsdk.Table)/2 {
		t.Errorf("only %d options were found", n)
	}
	_, inner, _ := strings.Cut(string(raw), "declare type SDKControlRequestInner = ")
	inner, _, _ = strings.Cut(inner, ";")
	// pawl sends these.
	known := append(agentsdk.Requests(), "can_use_tool", "hook_callback", "elicitation", "request_user_dialog")
	kinds := regexp.MustCompile(`\w+`).FindAllString(inner, -1)
	for _, kind := range kinds {
		_, declared, _ := strings.Cut(string(raw), "declare type "+kind+" = {")
		m := regexp.MustCompile(`subtype: '(\w+)'`).FindStringSubmatch(declared)
		if m == nil || !slices.Contains(known, m[1]) {
			t.Errorf("the request %s is not known: %v", kind, m)
		}
	}
	if len(kinds) < 20 {
		t.Errorf("only %d requests were found", len(kinds))
	}
	_, events, _ := strings.Cut(string(raw), "export declare const HOOK_EVENTS: readonly [")
	events, _, _ = strings.Cut(events, "]")
	all := slices.Concat(hook.Events, hook.Elsewhere())
	names := regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(events, -1)
	for _, m := range names {
		if !slices.Contains(all, hook.Event(m[1])) {
			t.Errorf("the event %s of hooks is not known", m[1])
		}
	}
	if len(names) < 10 {
		t.Errorf("only %d events were found", len(names))
	}
}
