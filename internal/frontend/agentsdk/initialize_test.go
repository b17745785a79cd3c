package agentsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

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

// SPEC 16.17: a key of initialize that nobody knows ends the run; what is empty says
// nothing; and a second initialize never takes the guards of the first away.
func TestKeysOfInitialize(t *testing.T) {
	for name, value := range map[string]any{
		"toolAliases: a tool has its own name": object{"Bash": "mcp__x"}, "plugins": []string{"x"}, "fence": true, "hooksV2": object{"a": 1},
	} {
		p := converse(t, llmtest.New(), nil)
		key, _, _ := strings.Cut(name, ":") // what follows is the reason
		p.ask("init", object{"subtype": "initialize", key: value})
		p.ends(name)
	}
	// What is empty says nothing.
	p := converse(t, llmtest.New(llmtest.Say("done")), nil)
	p.ask("init", object{"subtype": "initialize", "settings": nil, "plugins": []string{}, "fence": false, "toolAliases": object{}})
	if r := p.replied("init"); r["subtype"] != "success" {
		t.Error(r)
	}
	p = converse(t, llmtest.New(llmtest.Say("done")), nil)
	p.ask("init", object{"subtype": "initialize", "disallowedTools": []string{"Read"}})
	p.ask("again", object{"subtype": "initialize", "disallowedTools": []string{"Read"}})
	if r := p.replied("again"); r["subtype"] != "success" {
		t.Error(r)
	}
	p.ask("init", object{"subtype": "initialize"})
	p.ends("sent before")
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
