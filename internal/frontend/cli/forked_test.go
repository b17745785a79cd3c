//go:build unix

package cli

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.17, 17.4, from end to end: a skill with context: fork works in an agent of its
// kind, which gets the skills of its file, and never a tool that the file takes from it.
func TestForkedSkill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "proj")
	for name, text := range map[string]string{
		"settings.json":          `{"outputStyle": "Terse"}`,
		"output-styles/brief.md": "---\nname: Terse\ndescription: short\n---\nAnswer in one word.",
		"skills/find/SKILL.md":   "---\ndescription: finds\ncontext: fork\nagent: finder\ndisable-model-invocation: true\n---\nFind $ARGUMENTS for me.",
		"skills/house/SKILL.md":  "---\ndescription: rules\npaths: x\n---\nHouse rule: be short.",
		"skills/limits/SKILL.md": "---\ndescription: limits\nallowed-tools: Read\n---\nLimited.",
		"agents/finder.md":       "---\nname: finder\ndescription: finds\ndisallowedTools: Write, Bash\nskills: house, limits\nmemory: project\ntemperature: 1\n---\nYou find.",
	} {
		at := filepath.Join(dir, ".claude", name)
		must.Write(t, at, text)
	}
	var mu sync.Mutex
	var sentAgent, sentMain []string
	srv := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		b := string(body)
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(b, "You are the agent finder") {
			if sentAgent = append(sentAgent, b); len(sentAgent) == 1 {
				return llmtest.Turn{Calls: []llm.Call{{Name: "write", Args: json.RawMessage(`{"path":"made.txt","content":"x\n"}`)}}}
			}
			return llmtest.Say("found it")
		}
		if sentMain = append(sentMain, b); len(sentMain) == 1 {
			return llmtest.Use("skill", `{"name":"find","arguments":"the cause"}`)
		}
		return llmtest.Say("all done")
	}})
	defer srv.Close()
	env := []string{"HOME=" + filepath.Dir(dir) + "/home", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL}
	o := runPawl(t, dir, env, "", "--yolo", "-m", "anthropic/claude-script", "/find the cause")
	mu.Lock()
	agent, main := slices.Clone(sentAgent), slices.Clone(sentMain)
	mu.Unlock()
	if o.code != 0 || len(main) != 2 || len(agent) < 2 {
		t.Fatalf("%d %d %+v %s", len(main), len(agent), o, main)
	}
	if strings.Contains(main[0]+main[1], "for me.") || !strings.Contains(main[1], "found it") {
		t.Error("the conversation has the skill's text, or not its answer")
	}
	if !strings.Contains(main[0], "Answer in one word.") || !strings.Contains(main[0], "You are pawl") {
		t.Errorf("the output style is not added: %s", main[0])
	}
	for _, part := range []string{"Find the cause for me.", "House rule: be short.", "You have notes from earlier runs"} {
		if !strings.Contains(agent[0], part) {
			t.Errorf("the agent does not get %q: %s", part, agent[0])
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil || strings.Contains(agent[0], "Limited.") {
		t.Error("the agent wrote a file, or has a skill without its limit")
	}
	for _, line := range []string{`does not get the skill "limits"`, "skills, commands and agents: not used: paths of .claude/skills/house/SKILL.md, temperature of .claude/agents/finder.md"} {
		if !strings.Contains(o.stderr, line) {
			t.Errorf("%q is not in\n%s", line, o.stderr)
		}
	}
	if again := runPawl(t, dir, env, "", "-m", "anthropic/claude-script", "hello"); strings.Contains(again.stderr, "not used: paths") {
		t.Errorf("told twice: %s", again.stderr)
	}
	c := pawl(t, dir, t.TempDir(), env, "doctor", "--offline")
	if out, _ := c.Output(); !strings.Contains(strings.Join(strings.Fields(string(out)), " "), "paths of .claude/skills/house/SKILL.md is not used; pawl offers it for all files") {
		t.Errorf("%s", out)
	}
}
