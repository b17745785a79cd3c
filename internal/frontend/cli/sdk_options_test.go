package cli

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
)

// values has what the SDK gives for a flag; "" for one without a value.
var values = map[string]string{
	"add-dir": ".", "allowedTools": "Read", "permission-prompt-tool": "stdio", "disallowedTools": "WebFetch", "initialize-fields": "settings", "effort": "high",
	"fallback-model": "anthropic/claude-other", "managed-settings": `{"permissions":{"deny":["Read(x)"]}}`, "max-budget-usd": "1", "max-thinking-tokens": "9000", "max-turns": "5",
	"mcp-config": `{"mcpServers":{}}`, "model": "anthropic/claude-sonnet-4-5", "json-schema": `{}`, "permission-mode": "bypassPermissions", "permission-prompts": "none",
	"session-id": "3f0c6f3e-0000-4000-8000-000000000000", "settings": `{"sandbox":{"enabled":false},"theme":"dark"}`, "tools": "Bash,Read", "thinking": "adaptive", "thinking-display": "omitted",
	"betas": "context-1m-2025-08-07", "debug-file": "x.log", "setting-sources": "", "agent": "x", "plugin-dir": "x", "plugin-dir-no-mcp": "x", "project-config-root": "/x",
	"resume-drops-turn": "x", "resume-session-at": "x", "task-budget": "5", "resume": "latest",
}

// SPEC 16.17: whatever flag the SDK gives, the guard beside it holds, or the run does not
// start and says which flag it was. A flag of a new row needs no new case.
func TestNoGuardIsDroppedByFlags(t *testing.T) {
	root := t.TempDir()
	script := filepath.Join(root, "replies.json")
	if err := os.WriteFile(script, []byte(`[{"calls":[{"name":"bash","args":{"command":"touch made.txt","description":"make it"}}]},{"text":"{}"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(agentsdk.Table)) {
		row := agentsdk.Table[name]
		for flag := range strings.FieldsSeq(row.Flags) {
			if flag == "continue" || flag == "resume" || flag == "fork-session" { // of a session that is there: TestResumed
				continue
			}
			srv := httptest.NewServer(replies(script))
			at, err := os.MkdirTemp(root, "")
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(at, "proj")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			arg := "--" + flag
			if value, some := values[flag]; some {
				arg += "=" + value
			}
			env := []string{"HOME=" + filepath.Dir(dir) + "/home", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-sonnet-4-5"}
			prompt := `{"type":"control_request","request_id":"1","request":{"subtype":"initialize","disallowedTools":["Bash(touch:*)"]}}` + "\n" + `{"type":"user","message":{"role":"user","content":"go"}}` + "\n"
			o := runPawl(t, dir, env, prompt, "--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--permission-mode=acceptEdits", arg)
			srv.Close()
			if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
				t.Errorf("%s: the guard does not hold: %+v", arg, o)
			}
			switch row.Use {
			case agentsdk.Refused:
				if o.code != 2 || !strings.Contains(o.stderr, "--"+flag) || !strings.Contains(o.stderr, row.Note) {
					t.Errorf("%s: %+v", arg, o)
				}
			case agentsdk.Left:
				if told := strings.Contains(o.stderr, "--"+flag+" is not used: "+row.Note); !told && flag != "debug" {
					t.Errorf("%s: %+v", arg, o)
				}
				fallthrough
			default:
				if o.code != 0 || !strings.Contains(o.stdout, `"subtype":"success"`) {
					t.Errorf("%s: %+v", arg, o)
				}
			}
		}
	}
}

// SPEC 16.17: settings that are handed over forbid as a folder's do, and what is not used
// of them is named; a hook in them, or a key that may forbid something, stops the start.
func TestGivenSettings(t *testing.T) {
	root := t.TempDir()
	script := filepath.Join(root, "replies.json")
	if err := os.WriteFile(script, []byte(`[{"calls":[{"name":"bash","args":{"command":"touch made.txt","description":"make it"}}]},{"text":"done"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "settings.json")
	if err := os.WriteFile(file, []byte(`{"permissions":{"deny":["Bash(touch:*)"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		flag, value, says string
		code              int
		made              bool
	}{
		{"settings", `{"permissions":{"deny":["Bash(touch:*)"]}}`, "denies it", 0, false},
		{"settings", file, "denies it", 0, false},
		{"managed-settings", `{"permissions":{"ask":["Bash(touch:*)"]}}`, "", 8, false},
		{"settings", `{"permissions":{"allow":["Bash(touch:*)"]},"theme":"dark"}`, "theme is not used", 0, true},
		{"settings", `{"permissions":{"allow":["Bash(touch:*)"]},"env":{"A":"b"}}`, "permissions.allow is not used", 0, true},
		{"settings", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 2"}]}]}}`, "hooks", 2, false},
		{"settings", `{"permissions":{"forbid":["Bash"]}}`, "permissions.forbid", 2, false},
		{"settings", `{"permission`, "not JSON", 2, false},
		{"settings", filepath.Join(root, "none.json"), "cannot read", 2, false},
		{"tools", "Read,Grep", "", 0, false},
		{"tools", "", "", 0, false},
		{"tools", "Read,Bsh", "Bsh", 2, false},
		{"tools", "default", "", 0, true},
		{"tools", "Bash", "", 0, true},
	} {
		srv := httptest.NewServer(replies(script))
		dir := filepath.Join(root, fmt.Sprint(i), "proj")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		env := []string{"HOME=" + filepath.Dir(dir) + "/home", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-sonnet-4-5"}
		o := runPawl(t, dir, env, "", "run", "--yolo", "--"+c.flag+"="+c.value, "go")
		srv.Close()
		_, err := os.Stat(filepath.Join(dir, "made.txt"))
		if o.code != c.code || (err == nil) != c.made || !strings.Contains(o.stderr, c.says) {
			t.Errorf("--%s=%s: made %v, %+v", c.flag, c.value, err == nil, o)
		}
	}
}
