package agentsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/unknown"
	"github.com/pawl-agent/pawl/internal/team/structured"
)

// This file reads initialize, in which the program sets the session up. Programs do not
// look at the answer, so an error in it must end the run: otherwise a run would go on
// without the hooks and rules that the program relies on (SPEC 16.17).

// serverOptions are the keys of a server in sdkMcpServerConfigs.
var serverOptions = map[string]Use{
	"tools": Used, "timeout": Host, "disableAutoBackground": Host, "connectorId": Host, "autoModeVerdictTools": Host,
	"remoteControlMetaKeys": Host, "dataFlowServer": Host, "onPersonsMachine": Host,
}

// initialize handles the session's settings.
func (t *conversation) initialize(raw json.RawMessage) (any, error) {
	var all map[string]json.RawMessage
	var r initializeRequest
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	switch {
	case t.setUp == "":
	case sameJSON(json.RawMessage(t.setUp), raw): // the program asks once more what there is
		return t.initialized(), nil
	default: // its guards would take the place of the first one's
		return nil, errors.New("it was sent before, with other keys")
	}
	if t.s != nil {
		return nil, errors.New("the session has begun")
	}
	unused, err := unknownOptions("initialize", all, options)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	set := Setup{System: string(r.SystemPrompt), Append: r.Append, Answer: t.Answer, Servers: &Servers{Names: r.Servers, requester: t.requester, own: map[string]chan []byte{}}, Deny: r.Denied}
	var idle []string
	if set.Hooks, idle, err = hooksOf(t.requester, r.Hooks); err != nil {
		return nil, err
	}
	if set.Ask, err = set.servers(r.Configs); err != nil {
		return nil, err
	}
	for _, given := range []struct {
		name string
		text json.RawMessage
	}{{"settings", r.Settings}, {"managedSettings", r.Managed}} {
		if text := asObject(given.text); text != nil {
			set.Settings = append(set.Settings, claudecode.File{Name: given.name, Text: text, Given: true})
		}
	}
	for _, f := range set.Settings {
		if err := claudecode.Read(f).Err(); err != nil {
			return nil, err
		}
	}
	if given(r.MCP) {
		set.MCP = string(encode(map[string]any{"mcpServers": r.MCP}))
	}
	if set.Agents, err = t.agentsOf(r.Agents); err != nil {
		return nil, err
	}
	for _, p := range r.Plugins {
		if p.Type != "local" || p.Path == "" {
			return nil, fmt.Errorf("a plugin of the type %.40q cannot be used: use local, with a path", p.Type)
		}
	}
	set.Plugins, set.Skills = r.Plugins, r.Skills
	if given(r.Schema) {
		if set.Answer, err = structured.New(r.Schema); err != nil {
			return nil, err
		}
	}
	t.setup, t.setUp = set, string(raw)
	for _, name := range unused {
		t.say("%s of initialize is not used: %s", name, noteOf(name))
	}
	if len(idle) > 0 {
		t.say("pawl has no event for these hooks of the program, which can block nothing: %s", strings.Join(idle, ", "))
	}
	return t.initialized(), nil
}

// initialized is the answer to initialize.
func (t *conversation) initialized() any {
	return object{
		"commands": t.commands(), "agents": t.kinds(), "models": t.models(), "account": struct{}{}, "hooks_applied": t.setup.Hooks != nil,
		"mcp_servers_applied": t.setup.MCP != "", "output_style": "default", "available_output_styles": []string{"default"}, "claude_code_version": t.Version,
	}
}

// initializeRequest has the keys of initialize that pawl keeps.
type initializeRequest struct {
	SystemPrompt systemPrompt                          `json:"systemPrompt"`
	Append       string                                `json:"appendSystemPrompt"`
	Schema       json.RawMessage                       `json:"jsonSchema"`
	Hooks        map[string]json.RawMessage            `json:"hooks"`
	Servers      []string                              `json:"sdkMcpServers"`
	Configs      map[string]map[string]json.RawMessage `json:"sdkMcpServerConfigs"`
	Denied       []string                              `json:"disallowedTools"`
	Settings     json.RawMessage                       `json:"settings"`
	Managed      json.RawMessage                       `json:"managedSettings"`
	MCP          json.RawMessage                       `json:"mcpServers"`
	Agents       map[string]json.RawMessage            `json:"agents"`
	Plugins      []Plugin                              `json:"plugins"`
	Skills       []string                              `json:"skills"`
}

// asObject returns settings, which may be a text with JSON; nil if there are none.
func asObject(raw json.RawMessage) []byte {
	var text string
	switch {
	case !given(raw):
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return []byte(text)
	}
	return raw
}

// agentsOf reads the kinds of agents that the program defines.
func (t *conversation) agentsOf(all map[string]json.RawMessage) (out []agents.Kind, err error) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		k, notes, err := agents.Defined(name, all[name])
		if err != nil {
			return nil, fmt.Errorf("agents: %s: %w", name, err)
		}
		for _, n := range notes {
			t.say("agents: %s: %s", name, n)
		}
		out = append(out, k)
	}
	return out, nil
}

// kinds lists the agents that a model may start.
func (t *conversation) kinds() []object {
	all := t.setup.Agents
	if t.Kinds != nil {
		all = agents.Before(all, t.Kinds(t.setup))
	}
	out := []object{}
	for _, k := range all {
		out = append(out, object{"name": k.Name, "description": k.Description, "model": k.Model})
	}
	return out
}

// models lists the models that set_model takes.
func (t *conversation) models() []object {
	out := []object{}
	if t.Models != nil {
		for _, ref := range t.Models() {
			out = append(out, object{"value": ref, "displayName": ref, "description": ""})
		}
	}
	return out
}

// given reports whether a value says anything.
func given(raw json.RawMessage) bool {
	switch s := strings.Join(strings.Fields(string(raw)), ""); s {
	case "", "null", "false", "[]", "{}", `""`, `[""]`:
		return false
	}
	return true
}

// unknownOptions returns an error for the options that pawl does not know, and the names
// of those that it leaves.
func unknownOptions(of string, all map[string]json.RawMessage, known map[string]Use) (unused []string, err error) {
	var bad []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case !given(all[name]):
		case known[name] == 0:
			bad = append(bad, name)
		case known[name] == Left:
			unused = append(unused, name)
		case known[name] == Refused:
			return nil, fmt.Errorf("%s: pawl does not support %s: %s", of, name, noteOf(name))
		}
	}
	return unused, unknown.Keys{Others: slices.Sorted(maps.Keys(known))}.Error(of, bad)
}

// servers keeps what the program says of the tools of its servers. It returns the rules
// that ask, and adds those that deny.
func (s *Setup) servers(configs map[string]map[string]json.RawMessage) (ask []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		if _, err := unknownOptions("the MCP server "+name, configs[name], serverOptions); err != nil {
			return nil, err
		}
		var tools []struct {
			Name   string `json:"name"`
			Policy string `json:"permission_policy"`
			Most   string `json:"org_max_permission"`
		}
		if raw := configs[name]["tools"]; given(raw) {
			if err := json.Unmarshal(raw, &tools); err != nil {
				return nil, fmt.Errorf("the tools of the MCP server %s cannot be read: %w", name, err)
			}
		}
		for _, t := range tools {
			rule := "mcp__" + name + "__" + t.Name
			switch {
			case t.Name == "":
				return nil, fmt.Errorf("a tool of the MCP server %s has no name", name)
			case t.Policy == "always_deny", t.Most == "blocked":
				s.Deny = append(s.Deny, rule)
			case t.Policy != "" && t.Policy != "always_allow", t.Most != "" && t.Most != "allow":
				ask = append(ask, rule)
			}
		}
	}
	return ask, nil
}

// Hooks are the hooks of the program. They are a hooks.Runner.
type Hooks struct {
	requester *requester
	rules     []hook.Rule
	ids       map[string]string // of a callback, by the command of its rule
	// reopening: the session is closed and opened again. reopened: that was so before.
	reopening, reopened atomic.Bool
}

// hookMatcher is a matcher of initialize.
type hookMatcher struct {
	Matcher   *string  `json:"matcher"`
	IDs       []string `json:"hookCallbackIds"`
	Timeout   float64  `json:"timeout,omitempty"` // seconds
	OnFailure string   `json:"onFailure"`         // continue, block
}

var matcherKeys = unknown.Keys{Guards: []string{"matcher", "hookCallbackIds", "timeout", "onFailure"}}

// hooksOf reads the hooks of initialize. A hook that may be a guard and would never run
// is refused: it would protect nothing. idle are the events of the others.
func hooksOf(b *requester, raw map[string]json.RawMessage) (h *Hooks, idle []string, err error) {
	h = &Hooks{requester: b, ids: map[string]string{}}
	for _, e := range slices.Sorted(maps.Keys(raw)) {
		var matchers []hookMatcher
		if err := json.Unmarshal(raw[e], &matchers); err != nil {
			return nil, nil, fmt.Errorf("the hooks of %s cannot be read: %w", e, err)
		}
		var keys []map[string]json.RawMessage
		_ = json.Unmarshal(raw[e], &keys) // it was read above
		for i, m := range matchers {
			if err := matcherKeys.Every("a matcher of "+e, maps.Keys(keys[i])); err != nil {
				return nil, nil, err
			}
			if len(m.IDs) == 0 {
				continue
			}
			if event := hook.Event(e); !slices.Contains(hook.Events, event) && !event.CouldBlock() {
				if !slices.Contains(idle, e) {
					idle = append(idle, e)
				}
				continue
			}
			rules, err := h.rulesOf(e, m)
			if err != nil {
				return nil, nil, err
			}
			h.rules = append(h.rules, rules...)
		}
	}
	if len(h.rules) == 0 {
		h = nil
	}
	return h, idle, nil
}

func (h *Hooks) rulesOf(e string, m hookMatcher) ([]hook.Rule, error) {
	matcher := ""
	if m.Matcher != nil {
		matcher = *m.Matcher
	}
	var entries []any
	for _, id := range m.IDs {
		command := "callback " + id
		h.ids[command] = id
		entries = append(entries, map[string]any{"type": "command", "command": command, "timeout": m.Timeout})
	}
	rules, err := hook.Rules("the program", encode(map[string]any{e: []any{map[string]any{"matcher": matcher, "hooks": entries}}}))
	if err != nil {
		return nil, err
	}
	for i, r := range rules {
		switch {
		case r.InactiveBecause != "":
			return nil, fmt.Errorf("pawl cannot run the program's hooks of %s: %s", e, r.InactiveBecause)
		case m.OnFailure == "block" && r.Event.CouldBlock() && !r.Event.FailsClosed():
			return nil, fmt.Errorf("pawl cannot block what a failed hook of %s guards (onFailure)", e)
		}
		rules[i].Config = ""
	}
	return rules, nil
}
