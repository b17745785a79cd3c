//go:build unix

package cli

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// agentServer is an MCP server whose tool makes a file.
const agentServer = `cd "$AT" && echo > started
while read -r line; do
	id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case $line in
	*'"initialize"'*) r='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}' ;;
	*'"tools/list"'*) r='{"tools":[{"name":"make","description":"makes a file","inputSchema":{"type":"object"}}]}' ;;
	*'"tools/call"'*) echo one >made.txt; r='{"content":[{"type":"text","text":"made it"}]}' ;;
	*) r='{}' ;;
	esac
	[ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done
`

// SPEC 14.1, 16.17, 17.1: the MCP servers that an agent's file describes run only while this
// agent works, judged like those of the folder or of the person; an agent whose servers may
// not start does not work.
func TestServersOfAgents(t *testing.T) {
	t.Parallel()
	const (
		list  = "mcpServers: [other, {fake: {command: sh, args: [SERVER], env: {AT: PROJ}}}]"
		named = "mcpServers: {fake: {command: sh, args: [SERVER], env: {AT: PROJ}}, other: }"
		given = `{"type":"control_request","request_id":"1","request":{"subtype":"initialize","agents":{"served":{"description":"g","prompt":"You are served.","mcpServers":["other",{"fake":{"command":"sh","args":["SERVER"],"env":{"AT":"PROJ"}}}]}}}}
{"type":"user","message":{"role":"user","content":"go"}}
`
	)
	agrees := []string{"config", "set", "claude_settings", "true"}
	for name, c := range map[string]struct {
		at, keys string // the agent, below the root
		before   []string
		flags    []string
		stdin    string
		alone    bool // the session is the agent's
		made     bool // the tool of its server runs
		begun    bool // it works
		says     string
	}{
		"of a trusted folder":    {at: "proj/.claude/agents/a.md", keys: list, flags: []string{"--trust"}, begun: true, made: true},
		"as a map":               {at: "proj/.claude/agents/a.md", keys: named, flags: []string{"--trust"}, begun: true, made: true},
		"a tool is forbidden":    {at: "proj/.claude/agents/a.md", keys: list + "\ndisallowedTools: mcp__fake__make", flags: []string{"--trust"}, begun: true},
		"others are not listed":  {at: "proj/.claude/agents/a.md", keys: list + "\ntools: Read", flags: []string{"--trust"}, begun: true, made: true},
		"of another folder":      {at: "proj/.claude/agents/a.md", keys: list, says: "it is not trusted"},
		"the session's":          {at: "proj/.claude/agents/a.md", keys: list, flags: []string{"--trust", "--agent", "served"}, alone: true, begun: true, made: true},
		"the session's, refused": {at: "proj/.claude/agents/a.md", keys: list, flags: []string{"--agent", "served"}, alone: true, says: "it is not trusted"},
		"of the person":          {at: "home/.claude/agents/a.md", keys: list, before: agrees, begun: true, made: true},
		"without their word":     {at: "home/.claude/agents/a.md", keys: list, says: "claude_settings true"},
		"of pawl's own folder":   {at: "home/.config/pawl/agents/a.md", keys: list, begun: true, made: true},
		"of a plugin":            {at: "plugin/agents/a.md", keys: list, flags: []string{"--plugin-dir", "PLUGIN"}, says: "a plugin's agent cannot have any"},
		"of a program":           {flags: []string{"--input-format", "stream-json", "--output-format", "claude-stream-json"}, stdin: given, begun: true, made: true},
		"there is no command":    {at: "proj/.claude/agents/a.md", keys: strings.Replace(list, "command: sh", "command: ./nothing-here", 1), flags: []string{"--trust"}, begun: true, says: "nothing-here"},
		"a guard of a server":    {at: "proj/.claude/agents/a.md", keys: strings.Replace(list, "env:", "excludeTools: [make], env:", 1), flags: []string{"--trust"}, says: "excludeTools"},
		"a name of the session":  {at: "proj/.claude/agents/a.md", keys: list, before: []string{"mcp", "add", "fake", "--", "sh", "SERVER"}, flags: []string{"--trust"}, says: "another server has this name"},
		"a number":               {at: "proj/.claude/agents/a.md", keys: "mcpServers: [7]", flags: []string{"--trust"}, says: "neither the name of a server"},
		"of the wrong form":      {at: "proj/.claude/agents/a.md", keys: "mcpServers: {fake: npx}", flags: []string{"--trust"}, says: "must be described once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := must.Dir(t)
			dir, home, plugin, server := filepath.Join(root, "proj"), filepath.Join(root, "home"), filepath.Join(root, "plugin"), filepath.Join(root, "server.sh")
			if strings.HasPrefix(c.at, "proj/") { // where a confined one is read
				server = filepath.Join(dir, "server.sh")
			}
			must.Do(t, os.MkdirAll(dir, 0o700))
			must.Do(t, os.MkdirAll(home, 0o700))
			must.Write(t, server, agentServer)
			fill := strings.NewReplacer("SERVER", server, "PROJ", dir, "PLUGIN", plugin).Replace
			must.Write(t, filepath.Join(plugin, ".claude-plugin/plugin.json"), `{"name": "p"}`)
			prefix := ""
			if c.at != "" {
				must.Write(t, filepath.Join(root, c.at), "---\nname: served\ndescription: g\n"+fill(c.keys)+"\n---\nYou are served.")
			}
			if strings.HasPrefix(c.at, "plugin/") {
				prefix = "p:"
			}
			var used, calls, leaks atomic.Int32
			srv := httptest.NewServer(&llmtest.Server{Reply: func(n int, body []byte) llmtest.Turn {
				inside := strings.Contains(string(body), "You are served.")
				if inside {
					used.Add(1)
				} else if strings.Contains(string(body), `"mcp__fake__make"`) && c.before == nil {
					leaks.Add(1)
				}
				switch {
				case n == 0 && !c.alone:
					return llmtest.Use("agent", `{"description":"d","prompt":"go","agent":"`+prefix+`served"}`)
				case inside && calls.Add(1) == 1:
					return llmtest.Use("mcp__fake__make", `{}`)
				}
				return llmtest.Say("done")
			}})
			defer srv.Close()
			env := []string{"HOME=" + home, "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script"}
			filled := func(args []string) (out []string) {
				for _, a := range args {
					out = append(out, fill(a))
				}
				return out
			}
			if c.before != nil {
				if out, err := pawl(t, dir, home, env, filled(c.before)...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			args := append([]string{"--yolo"}, filled(c.flags)...)
			if c.stdin == "" {
				args = append(args, "go")
			}
			o := runPawl(t, dir, env, fill(c.stdin), args...)
			logged, _ := pawl(t, dir, home, env, "sessions", "export", "--format", "jsonl").Output() // none if nothing began
			_, err := os.Stat(filepath.Join(dir, "made.txt"))
			_, started := os.Stat(filepath.Join(dir, "started"))
			if (used.Load() > 0) != c.begun || (err == nil) != c.made || leaks.Load() > 0 || !strings.Contains(o.stdout+o.stderr+string(logged), c.says) {
				t.Errorf("used %d times, made %v, %d leaks: %+v\n%s", used.Load(), err == nil, leaks.Load(), o, logged)
			}
			if !c.begun && started == nil && c.before == nil {
				t.Error("its server was started")
			}
		})
	}
}
