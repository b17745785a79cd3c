package cli

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 10.4, 16.7: an export has the session, and nothing of a secret-looking
// file that was read in it.
func TestExportLeavesSecretsOut(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{".env": "DATABASE=not-for-export\n", "a.txt": "for export\n"} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	web := httptest.NewServer(&llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		if n == 0 {
			return llmtest.Use("read", `{"files":[{"path":".env"}]}`, "read", `{"files":[{"path":"a.txt"}]}`)
		}
		return llmtest.Say("seen")
	}})
	defer web.Close()
	env := []string{"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + web.URL}
	out, err := pawl(t, dir, home, env, "run", "-m", "anthropic/claude-script", "--permission-mode", "yolo", "--output-format", "json", "look").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var r struct{ Session string }
	must.Do(t, json.Unmarshal(out, &r))
	for _, format := range []string{"jsonl", "markdown", "html"} {
		out, err := pawl(t, dir, home, env, "sessions", "export", r.Session[:8], "--format", format).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if text := string(out); strings.Contains(text, "not-for-export") || !strings.Contains(text, "seen") {
			t.Errorf("%s:\n%s", format, text)
		}
		if format == "jsonl" && !strings.Contains(string(out), "for export") {
			t.Error("the other file's text is missing")
		}
	}
	show, err := pawl(t, dir, home, env, "sessions", "show", r.Session).CombinedOutput()
	if err != nil || !strings.Contains(string(show), "look") {
		t.Errorf("%v: %s", err, show)
	}
	if out, err := pawl(t, dir, home, env, "sessions", "delete", "--yes", r.Session).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := pawl(t, dir, home, env, "sessions", "show", r.Session).CombinedOutput(); err == nil {
		t.Errorf("a deleted session is shown: %s", out)
	}
}
