//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.17, 17.3: the hooks of an agent or a skill hold while it is used, wherever its file
// is: the person's, once they said so, a plugin's, once it is trusted, and a program's. Until
// then the agent or the skill is not used. With once, a hook that succeeded does not run again.
func TestHooksOfFronts(t *testing.T) {
	const (
		forbids = "hooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, command: 'echo forbidden >&2; exit 2'}]}]}"
		count   = "hooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, once: true, command: 'echo x >> ran.txt'}]}]}"
		agent   = "---\nname: guarded\ndescription: g\n%s\n---\nYou are watched."
		skill   = "---\ndescription: g\n%s\n---\nYou are watched."
		sdk     = `{"type":"control_request","request_id":"1","request":{"subtype":"initialize","agents":{"guarded":{"description":"g","prompt":"You are watched.","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo forbidden >&2; exit 2"}]}]}}}}}
{"type":"user","message":{"role":"user","content":"go"}}
`
	)
	config := func(dir string, args ...string) []string { return append([]string{"config", "set"}, args...) }
	agrees := config("", "claude_settings", "true")
	for name, c := range map[string]struct {
		at, text string // below the home, or the plugin with plugin/
		before   []string
		kind     string // the tool that uses it
		flags    []string
		stdin    string
		begun    bool // it is used
		ran      string
		made     bool // its commands run
		says     string
	}{
		"agent of the person":     {at: ".claude/agents/g.md", text: fmt.Sprintf(agent, forbids), before: agrees, kind: "agent", begun: true},
		"without their word":      {at: ".claude/agents/g.md", text: fmt.Sprintf(agent, forbids), kind: "agent", says: "are not in force"},
		"as the session's agent":  {at: ".claude/agents/g.md", text: fmt.Sprintf(agent, forbids), flags: []string{"--agent", "guarded"}, says: "are not in force"},
		"and with their word":     {at: ".claude/agents/g.md", text: fmt.Sprintf(agent, forbids), before: agrees, flags: []string{"--agent", "guarded"}, begun: true},
		"agent of pawl":           {at: ".config/pawl/agents/g.md", text: fmt.Sprintf(agent, forbids), kind: "agent", begun: true},
		"skill of the person":     {at: ".claude/skills/guarded/SKILL.md", text: fmt.Sprintf(skill, forbids), before: agrees, kind: "skill", begun: true},
		"a skill without a word":  {at: ".claude/skills/guarded/SKILL.md", text: fmt.Sprintf(skill, forbids), kind: "skill", says: "are not in force", made: true},
		"an event of nobody":      {at: ".claude/skills/guarded/SKILL.md", text: fmt.Sprintf(skill, "hooks: {PreTool: []}"), before: agrees, kind: "skill", says: "pawl cannot keep it", made: true},
		"once":                    {at: ".claude/skills/guarded/SKILL.md", text: fmt.Sprintf(skill, count), before: agrees, kind: "skill", begun: true, made: true, ran: "x\n"},
		"once on an event later":  {at: ".claude/skills/guarded/SKILL.md", text: fmt.Sprintf(skill, strings.Replace(count, "PreToolUse", "PreCompact", 1)), before: agrees, kind: "skill", begun: true, made: true},
		"agent of a plugin":       {at: "plugin/agents/g.md", text: fmt.Sprintf(agent, forbids), before: []string{"plugin", "trust", "PLUGIN", "--yes"}, kind: "agent", flags: []string{"--plugin-dir", "PLUGIN"}, begun: true},
		"skill of a plugin":       {at: "plugin/skills/guarded/SKILL.md", text: fmt.Sprintf(skill, forbids), before: []string{"plugin", "trust", "PLUGIN", "--yes"}, kind: "skill", flags: []string{"--plugin-dir", "PLUGIN"}, begun: true},
		"an untrusted plugin":     {at: "plugin/agents/g.md", text: fmt.Sprintf(agent, forbids), kind: "agent", flags: []string{"--plugin-dir", "PLUGIN"}, says: "are not trusted"},
		"agent of a program":      {kind: "agent", flags: []string{"--input-format", "stream-json", "--output-format", "claude-stream-json"}, stdin: sdk, begun: true},
		"a plugin's changed hook": {at: "plugin/agents/g.md", text: fmt.Sprintf(agent, forbids), before: []string{"plugin", "trust", "PLUGIN", "--yes"}, kind: "agent", flags: []string{"--plugin-dir", "CHANGED"}, says: "are not trusted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir, home, plugin := filepath.Join(root, "proj"), filepath.Join(root, "home"), filepath.Join(root, "plugin")
			must.Do(t, os.MkdirAll(dir, 0o700))
			must.Do(t, os.MkdirAll(home, 0o700))
			if c.at != "" {
				at := filepath.Join(home, c.at)
				if strings.HasPrefix(c.at, "plugin/") {
					at = filepath.Join(root, c.at)
					must.Write(t, filepath.Join(plugin, ".claude-plugin/plugin.json"), `{"name": "p"}`)
				}
				must.Write(t, at, c.text)
			}
			var used atomic.Int32
			srv := httptest.NewServer(&llmtest.Server{Reply: func(n int, body []byte) llmtest.Turn {
				b, prefix := string(body), ""
				if strings.HasPrefix(c.at, "plugin/") {
					prefix = "p:"
				}
				inside := strings.Contains(b, "You are watched.")
				if inside {
					used.Add(1)
				}
				asked := strings.Count(b, "touch made")
				switch {
				case n == 0 && c.kind == "agent":
					return llmtest.Use("agent", `{"description":"d","prompt":"go","agent":"`+prefix+`guarded"}`)
				case n == 0 && c.kind == "skill":
					return llmtest.Use("skill", `{"name":"`+prefix+`guarded"}`)
				case asked < 2 && (inside || c.kind != "agent"):
					return llmtest.Turn{Calls: []llm.Call{{Name: "bash", Args: json.RawMessage(fmt.Sprintf(`{"command":"touch made%d.txt","description":"make it"}`, asked))}}}
				}
				return llmtest.Say("done")
			}})
			defer srv.Close()
			env := []string{"HOME=" + home, "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script"}
			fill := func(args []string) (out []string) {
				for _, a := range args {
					out = append(out, strings.NewReplacer("PLUGIN", plugin, "CHANGED", plugin).Replace(a))
				}
				return out
			}
			if c.before != nil {
				if out, err := pawl(t, dir, home, env, fill(c.before)...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			if strings.Contains(strings.Join(c.flags, " "), "CHANGED") {
				must.Write(t, filepath.Join(root, c.at), strings.Replace(c.text, "exit 2", "exit 0", 1))
			}
			args := append([]string{"--yolo"}, fill(c.flags)...)
			if c.stdin == "" {
				args = append(args, "go")
			}
			o := runPawl(t, dir, env, c.stdin, args...)
			logged, _ := pawl(t, dir, home, env, "sessions", "export", "--format", "jsonl").Output() // none if nothing began
			_, err := os.Stat(filepath.Join(dir, "made0.txt"))
			ran, _ := os.ReadFile(filepath.Join(dir, "ran.txt"))
			if (used.Load() > 0) != c.begun || (err == nil) != c.made || string(ran) != c.ran || !strings.Contains(o.stdout+o.stderr+string(logged), c.says) {
				t.Errorf("used %d times, made %v, ran %q: %+v\n%s", used.Load(), err == nil, ran, o, logged)
			}
		})
	}
}
