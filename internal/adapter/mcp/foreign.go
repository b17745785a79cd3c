package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file reads servers from other agents' settings, for import. Values are copied as
// written; a variable is not expanded.

// Agent is another agent whose settings name servers.
type Agent string

// The agents whose settings differ in more than the names of keys.
const (
	Codex  Agent = "codex"  // TOML
	Gemini Agent = "gemini" // $NAME is a variable, url the address of an SSE server
)

var (
	// bracedVariable is opencode's form of ${NAME}, envVariable that of VS Code.
	bracedVariable = lazyregexp.New(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	envVariable    = lazyregexp.New(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	bareVariable   = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
)

// foreign is a server in another agent's settings.
type foreign struct {
	Entry
	Environment map[string]string `json:"environment"` // opencode
	ServerURL   string            `json:"serverUrl"`   // Windsurf
	// Only Codex has these.
	HTTPHeaders    map[string]string `json:"http_headers"`
	EnvHTTPHeaders map[string]string `json:"env_http_headers"`
	BearerEnv      string            `json:"bearer_token_env_var"`
	EnvVars        []json.RawMessage `json:"env_vars"` // names, or {name: …}
	ToolTimeout    float64           `json:"tool_timeout_sec"`
}

// Foreign returns the servers in another agent's settings, by name. It reads mcpServers
// of Claude Code (also those for dir) and Gemini CLI, servers of VS Code, mcp of
// opencode, and mcp_servers of Codex. refused are those with a limit that pawl cannot keep.
func Foreign(agent Agent, raw []byte, dir string) (found map[string]Entry, refused map[string]error, err error) {
	if agent == Codex {
		var all map[string]any
		err := toml.Unmarshal(raw, &all)
		if err == nil {
			raw, err = json.Marshal(map[string]any{"mcpServers": all["mcp_servers"]})
		}
		if err != nil {
			return nil, nil, err
		}
	}
	type named = map[string]json.RawMessage
	var all struct {
		MCPServers named `json:"mcpServers"`
		Servers    named `json:"servers"`
		MCP        named `json:"mcp"`
		Projects   map[string]struct {
			MCPServers named `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := json.Unmarshal(jsonc.Plain(raw), &all); err != nil {
		return nil, nil, err
	}
	found, refused = map[string]Entry{}, map[string]error{}
	for _, of := range []named{all.MCP, all.Servers, all.MCPServers, all.Projects[dir].MCPServers} {
		for name, one := range of {
			one = envVariable().ReplaceAll(one, []byte("$${$1}"))
			one = bracedVariable().ReplaceAll(one, []byte("$${$1}"))
			if agent == Gemini {
				one = bareVariable().ReplaceAll(one, []byte("$${$1}"))
			}
			var f foreign
			if json.Unmarshal(one, &f) != nil {
				continue // not a server: opencode and Gemini have other settings there, too
			}
			e, ok := f.entry(agent)
			if !ok {
				continue
			}
			delete(refused, name)
			delete(found, name)
			if err := unkept(one); err != nil {
				refused[name] = err
				continue
			}
			found[name] = e
		}
	}
	return found, refused, nil
}

// entry returns the server in pawl's own form; ok is false if it is not a server.
func (f foreign) entry(agent Agent) (e Entry, ok bool) {
	e = f.Entry
	e.Sandbox, e.Hosts = "", nil // pawl's own keys, which other agents do not have
	e.URL = cmp.Or(e.URL, f.ServerURL)
	if len(e.Command) == 0 && e.URL == "" && e.HTTPURL == "" {
		return e, false
	}
	if agent == Gemini && e.Type == "" && e.HTTPURL == "" && e.URL != "" {
		e.Type = "sse"
	}
	e.Env = merged(e.Env, f.Environment)
	for _, v := range f.EnvVars {
		var name string
		if json.Unmarshal(v, &name) != nil {
			var of struct{ Name string }
			_ = json.Unmarshal(v, &of)
			name = of.Name
		}
		if name != "" {
			e.Env = merged(e.Env, map[string]string{name: "${" + name + "}"})
		}
	}
	e.Headers = merged(e.Headers, f.HTTPHeaders)
	for _, k := range slices.Sorted(maps.Keys(f.EnvHTTPHeaders)) {
		e.Headers = merged(e.Headers, map[string]string{k: "${" + f.EnvHTTPHeaders[k] + "}"})
	}
	if f.BearerEnv != "" {
		e.Headers = merged(e.Headers, map[string]string{"Authorization": "Bearer ${" + f.BearerEnv + "}"})
	}
	if f.ToolTimeout > 0 {
		e.Timeout = int64(f.ToolTimeout * 1000)
	}
	e.Disabled, e.Enabled = e.off(), nil
	return e, true
}

// merged returns m with the keys of more that m does not have.
func merged(m, more map[string]string) map[string]string {
	if len(more) == 0 {
		return m
	}
	out := maps.Clone(more)
	maps.Copy(out, m)
	return out
}

// ParseEntry parses one server from JSON.
func ParseEntry(raw []byte) (Entry, error) {
	var f foreign
	if err := json.Unmarshal(jsonc.Plain(raw), &f); err != nil {
		return Entry{}, err
	}
	if err := unkept(jsonc.Plain(raw)); err != nil {
		return Entry{}, err
	}
	if f.Sandbox != "" || len(f.Hosts) > 0 {
		return Entry{}, errors.New("sandbox and hosts are not taken from JSON that was copied: add them to the file by hand")
	}
	e, ok := f.entry("")
	if !ok {
		return Entry{}, fmt.Errorf("it names neither a command nor an address")
	}
	if s := strings.ToLower(e.Type); s != "" && transport(e) != "stdio" && transport(e) != "http" && transport(e) != "sse" {
		return Entry{}, fmt.Errorf("its type %q is not known: stdio, http or sse", e.Type)
	}
	return e, nil
}
