package agentsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// sample has a value for each key of initialize.
var sample = map[string]any{
	"subtype": "initialize", "hooks": object{"PreToolUse": matcher("Write", "h")}, "sdkMcpServers": []string{"shop"}, "jsonSchema": object{"type": "object"},
	"sdkMcpServerConfigs": object{"shop": object{"tools": []object{{"name": "buy", "permission_policy": "always_deny"}}}}, "disallowedTools": []string{"Bash(rm:*)"},
	"systemPrompt": []string{"be brief"}, "appendSystemPrompt": "x", "sdkMcpServerManifests": object{"shop": object{}}, "agents": object{"a": object{"description": "d", "prompt": "p"}},
	"sdkMcpServerManifestsOrigin": "host_per_send", "skills": []string{"x"}, "planModeInstructions": "x", "appendSubagentSystemPrompt": "x", "title": "x",
	"settings": `{"permissions": {"deny": ["Read(x)"]}}`, "managedSettings": object{"disableAutoMode": "disable"}, "mcpServers": object{"a": object{"command": "b"}},
	"supportedDialogKinds": []string{"x"}, "webSearchIsolationExemptMcpServers": []string{"x"}, "codeRunningMcpTools": []string{"x"},
}

// ends reads how a run ends whose initialize failed: with a result that names why and no
// request to a model.
func (p *program) ends(want string) {
	p.t.Helper()
	if r := p.replied("init"); r["subtype"] != "error" || !strings.Contains(fmt.Sprint(r["error"]), want) {
		p.t.Errorf("%s: the answer is %v", want, r)
	}
	p.say("go")
	m := p.next("result")
	if m["is_error"] != true || !strings.Contains(string(encode(m["errors"])), want) {
		p.t.Errorf("%s: the result is %v", want, m)
	}
	<-p.ended
	if bad := (*InputError)(nil); !errors.As(p.err, &bad) { // exit code 2
		p.t.Errorf("%s: %v", want, p.err)
	}
	if slices.ContainsFunc(p.all, func(m map[string]any) bool { return m["type"] == "assistant" }) {
		p.t.Errorf("%s: a model was asked: %v", want, p.all)
	}
}

// SPEC 16.17: every key of initialize is kept, is known to guard nothing, or ends the
// run; a new row of the table needs a value here.
func TestOptionsOfInitialize(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		value, set := sample[name]
		if !set {
			value = true
		}
		p := converse(t, llmtest.New(llmtest.Say("done")), nil)
		p.ask("init", object{"subtype": "initialize", name: value})
		if r := p.replied("init"); r["subtype"] != "success" {
			t.Errorf("%s: %v", name, r)
		}
		if name != "hooks" && name != "sdkMcpServers" && name != "jsonSchema" {
			p.say("go")
			p.next("result/success")
		}
		p.end()
		if told := strings.Contains(p.warn.String(), name); told != (options[name] == left) {
			t.Errorf("%s: the program is told %q", name, p.warn.String())
		}
	}
	for name, value := range map[string]any{
		"settings": object{"permissions": object{"deny": []string{"Bsh(x)"}}}, "managedSettings": object{"permissions": object{"x": 1}}, "agents": object{"a": object{"description": "d", "prompt": "p", "isolation": "worktree"}},
		"toolAliases": object{"Bash": "mcp__x"}, "plugins": []string{"x"}, "fence": true, "hooksV2": object{"a": 1},
	} {
		p := converse(t, llmtest.New(), nil)
		p.ask("init", object{"subtype": "initialize", name: value})
		p.ends(name)
	}
	// What is empty says nothing.
	p := converse(t, llmtest.New(llmtest.Say("done")), nil)
	p.ask("init", object{"subtype": "initialize", "settings": nil, "plugins": []string{}, "fence": false, "toolAliases": object{}})
	if r := p.replied("init"); r["subtype"] != "success" {
		t.Error(r)
	}
}

// SPEC 16.17: a hook of any event is called, can block nothing, or ends the run.
func TestHookEvents(t *testing.T) {
	for _, e := range slices.Concat(hook.Events, hook.Elsewhere(), []hook.Event{"Teatime"}) {
		p := converse(t, llmtest.New(llmtest.Say("done")), nil)
		p.ask("init", object{"subtype": "initialize", "hooks": object{string(e): matcher("", "h")}, "systemPrompt": "x"})
		if !slices.Contains(hook.Events, e) && e.CouldBlock() {
			p.ends(string(e))
			continue
		}
		if r := p.replied("init"); r["subtype"] != "success" {
			t.Errorf("%s: %v", e, r)
		}
		p.end()
		if told := strings.Contains(p.warn.String(), string(e)); told == slices.Contains(hook.Events, e) {
			t.Errorf("%s: the program is told %q", e, p.warn.String())
		}
	}
}

// SPEC 16.17: what else in initialize would be dropped ends the run.
func TestInitializeFails(t *testing.T) {
	server := func(config object) object { return object{"sdkMcpServerConfigs": object{"shop": config}} }
	for want, o := range map[string]object{
		"schema":    {"jsonSchema": object{"type": 12}},
		"onFailure": {"hooks": object{"UserPromptSubmit": []any{object{"hookCallbackIds": []string{"h"}, "onFailure": "block"}}}},
		"audience":  server(object{"audience": "all"}),
		"no name":   server(object{"tools": []object{{"permission_policy": "always_deny"}}}),
		"tools":     server(object{"tools": "none"}),
		"Denied":    nil,
	} {
		p := converse(t, llmtest.New(), nil)
		if o == nil {
			o, want = object{"disallowedTools": "Bash"}, "disallowedTools"
		}
		o["subtype"] = "initialize"
		p.ask("init", o)
		p.ends(want)
	}
	// Neither a change of the mode nor the end of the input goes around it.
	p := converse(t, llmtest.New(), nil)
	p.ask("init", object{"subtype": "initialize", "fence": true})
	p.replied("init")
	p.ask("mode", object{"subtype": "set_permission_mode", "mode": "plan"})
	if r := p.replied("mode"); r["subtype"] != "error" {
		t.Error(r)
	}
	if p.end(); p.err == nil || p.all[len(p.all)-1]["is_error"] != true {
		t.Errorf("%v %v", p.err, p.all)
	}
	// A program that reads the answer can do better.
	p = converse(t, llmtest.New(llmtest.Say("done")), nil)
	p.ask("init", object{"subtype": "initialize", "fence": true})
	p.replied("init")
	p.ask("again", object{"subtype": "initialize"})
	if r := p.replied("again"); r["subtype"] != "success" {
		t.Error(r)
	}
	p.say("go")
	p.next("result/success")
	// An initialize that comes too late ends what runs without it.
	p = converse(t, llmtest.New(llmtest.Say("done")), nil)
	p.say("go")
	p.next("result/success")
	p.ask("late", object{"subtype": "initialize", "hooks": object{"PreToolUse": matcher("", "h")}})
	if m := p.next("result"); m["is_error"] != true || !strings.Contains(string(encode(m)), "begun") {
		t.Error(m)
	}
	<-p.ended
}

// The policies of a server's tools are rules.
func TestPoliciesOfTools(t *testing.T) {
	var configs map[string]map[string]json.RawMessage
	if err := json.Unmarshal([]byte(`{"shop": {"timeout": 5, "tools": [{"name": "a", "permission_policy": "always_deny"}, {"name": "b", "permission_policy": "always_ask"},
		{"name": "c", "permission_policy": "always_allow"}, {"name": "d", "permission_policy": "sometimes"}, {"name": "e", "org_max_permission": "blocked"}, {"name": "f"}]}}`), &configs); err != nil {
		t.Fatal(err)
	}
	s := Setup{Deny: []string{"x"}}
	ask, err := s.servers(configs)
	if got := fmt.Sprint(ask, s.Deny, err); got != "[mcp__shop__b mcp__shop__d] [x mcp__shop__a mcp__shop__e] <nil>" {
		t.Error(got)
	}
}
