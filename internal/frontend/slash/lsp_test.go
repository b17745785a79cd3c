package slash

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// running are language servers that run.
type running struct {
	tool.Code
	restarted []string
}

func (r *running) Status() []lsp.Status {
	return []lsp.Status{
		{Name: "gopls", Root: ".", State: "running", PID: 7, Memory: 300 << 20, Documents: 2, Starts: 3, Idle: time.Minute, Can: []string{"definition", "rename"}},
		{Name: "pyright", Root: "tool", State: "absent", Problem: "it is not installed"},
	}
}

func (r *running) Restart(_ context.Context, name string) int {
	if name == "none" {
		return 0
	}
	r.restarted = append(r.restarted, name)
	return 1
}

func (r *running) Logs() map[string][]string {
	return map[string][]string{"gopls .": {"one\x1b[31m", "two"}}
}

// SPEC 12.3: /lsp shows server, state, capabilities and memory.
func TestLsp(t *testing.T) {
	r := &running{}
	for _, c := range []struct{ args, want, fails string }{
		{"", "gopls in .: running, process 7, 300 MB, 2 files open, idle for 1m0s, started 3 times\n  definition, rename\npyright in tool: absent: it is not installed\n", ""},
		{"restart gopls", "stopped; they start again", ""},
		{"restart", "stopped;", ""},
		{"restart none", "", "the language server none was not used"},
		{"logs", "gopls .:\n  one", ""},
		{"stop", "", "restart [NAME] or logs"},
	} {
		var out bytes.Buffer
		err := lspRun(t.Context(), r, &out, c.args)
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) || !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q: %q, %v", c.args, out.String(), err)
		}
	}
	if strings.Join(r.restarted, ",") != "gopls," {
		t.Errorf("restarted %q", r.restarted)
	}
	if err := lspRun(t.Context(), nil, &bytes.Buffer{}, ""); err == nil {
		t.Error("a session without servers")
	}
}
