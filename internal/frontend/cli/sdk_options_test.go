package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.17: settings that are handed over forbid as a folder's do, and what is not used
// of them is named; a hook in them, or a key that may forbid something, stops the start.
func TestGivenSettings(t *testing.T) {
	root := t.TempDir()
	script := filepath.Join(root, "replies.json")
	must.Write(t, script, `[{"calls":[{"name":"bash","args":{"command":"touch made.txt","description":"make it"}}]},{"text":"done"}]`)
	file := filepath.Join(root, "settings.json")
	must.Write(t, file, `{"permissions":{"deny":["Bash(touch:*)"]}}`)
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
		must.Do(t, os.MkdirAll(dir, 0o700))
		env := []string{"HOME=" + filepath.Dir(dir) + "/home", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-sonnet-4-5"}
		o := runPawl(t, dir, env, "", "run", "--yolo", "--"+c.flag+"="+c.value, "go")
		srv.Close()
		_, err := os.Stat(filepath.Join(dir, "made.txt"))
		if o.code != c.code || (err == nil) != c.made || !strings.Contains(o.stderr, c.says) {
			t.Errorf("--%s=%s: made %v, %+v", c.flag, c.value, err == nil, o)
		}
	}
}
