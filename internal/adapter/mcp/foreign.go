package mcp

import (
	"encoding/json"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// elsewhereVariable is how opencode writes ${NAME}.
var elsewhereVariable = lazyregexp.New(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// Foreign reads the servers in another agent's settings, by name: mcpServers of
// Claude Code and Gemini CLI, servers of VS Code, mcp of opencode.
func Foreign(raw []byte) (map[string]Entry, error) {
	var all struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
		MCP        map[string]json.RawMessage `json:"mcp"`
	}
	if err := json.Unmarshal(jsonc.Plain(raw), &all); err != nil {
		return nil, err
	}
	out := map[string]Entry{}
	for _, of := range []map[string]json.RawMessage{all.MCP, all.Servers, all.MCPServers} {
		for name, one := range of {
			var e struct {
				Entry
				Environment map[string]string `json:"environment"`
				Enabled     *bool             `json:"enabled"`
			}
			if json.Unmarshal(elsewhereVariable().ReplaceAll(one, []byte("$${$1}")), &e) != nil {
				continue // not one: opencode has settings there, too
			}
			if len(e.Command) == 0 && e.URL == "" && e.HTTPURL == "" {
				continue
			}
			if e.Env == nil {
				e.Env = e.Environment
			}
			e.Disabled = e.Disabled || e.Enabled != nil && !*e.Enabled
			e.Sandbox, e.Hosts = "", nil // pawl's own keys, which other agents do not have
			out[name] = e.Entry
		}
	}
	return out, nil
}
