//go:build unix

package cli

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.17, from end to end: an SDK program names the skills that the model is offered, by
// their names or by those of a plugin's without the plugin; none, or all.
func TestSkillsOfAProgram(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "proj")
	for _, name := range []string{"one", "two", "twofold"} {
		must.Write(t, filepath.Join(dir, ".claude/skills", name, "SKILL.md"), "---\ndescription: about-"+name+"\n---\nKnow it.\n")
	}
	plug := filepath.Join(root, "plug")
	must.Write(t, filepath.Join(plug, ".claude-plugin/plugin.json"), `{"name": "plug", "version": "1.0.0"}`)
	must.Write(t, filepath.Join(plug, "skills/three/SKILL.md"), "---\ndescription: about-three\n---\nKnow it.\n")
	all := []string{"about-one", "about-two", "about-twofold", "about-three"}
	for given, want := range map[string]string{
		``:                                       "about-one about-two about-twofold about-three",
		`, "skills": null`:                       "about-one about-two about-twofold about-three",
		`, "skills": []`:                         "",
		`, "skills": ["two", "none"]`:            "about-two",
		`, "skills": ["three", "one"]`:           "about-one about-three",
		`, "skills": ["plug:three", "plug:two"]`: "about-three",
		`, "skills": ["fold", ":three", "TWOFOLD"]`: "",
	} {
		var mu sync.Mutex
		sent := ""
		srv := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
			mu.Lock()
			defer mu.Unlock()
			sent = string(body)
			return llmtest.Say("done")
		}})
		env := []string{"HOME=" + root + "/home", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL}
		in := `{"type": "control_request", "request_id": "i", "request": {"subtype": "initialize"` + given + `}}` + "\n" +
			`{"type": "user", "message": {"role": "user", "content": "go on"}}` + "\n"
		o := runPawl(t, dir, env, in, "--input-format", "stream-json", "--output-format", "claude-stream-json", "--plugin-dir", plug, "-m", "anthropic/claude-script")
		srv.Close()
		mu.Lock()
		for _, s := range all {
			if has := strings.Contains(sent, s+`"`) || strings.Contains(sent, s+`\n`); has != strings.Contains(want+" ", s+" ") {
				t.Errorf("%s: %s is offered: %t (%s)", given, s, has, o.stderr)
			}
		}
		if sent == "" || strings.Contains(sent, `"name":"skill"`) != (want != "") {
			t.Errorf("%s: %d %s %s", given, o.code, o.stderr, o.stdout)
		}
		mu.Unlock()
	}
}
