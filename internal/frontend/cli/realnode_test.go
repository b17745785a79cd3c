//go:build realsdk || realacp

package cli

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// byNode runs a script of node that drives pawl with a scripted model: it writes
// new.txt, says that, and then runs a command that only an interrupt ends. It returns
// what the script printed, and its errors.
func byNode(t *testing.T, script, sdk string, env ...string) (out []byte, said string) {
	t.Helper()
	out, said, dir := scriptOf(t, script, sdk, func(n int, _ []byte) llmtest.Turn {
		switch n {
		case 0:
			return llmtest.Use("write", `{"path":"new.txt","content":"one\n"}`)
		case 1:
			return llmtest.Say("it is written")
		}
		return llmtest.Use("bash", `{"command":"sleep 1000","description":"wait"}`)
	}, env...)
	if b, err := os.ReadFile(filepath.Join(dir, "new.txt")); string(b) != "one\n" {
		t.Errorf("%q, %v", b, err)
	}
	return out, said
}

// scriptOf runs a script of node that drives pawl with a model.
func scriptOf(t *testing.T, script, sdk string, reply func(n int, body []byte) llmtest.Turn, env ...string) (out []byte, said, dir string) {
	t.Helper()
	srv := httptest.NewServer(&llmtest.Server{Reply: reply})
	t.Cleanup(srv.Close)
	dir = t.TempDir()
	must.Write(t, filepath.Join(dir, ".claude/commands/price.md"), "What does a $1 cost? Write it down.\n")
	c := pawl(t, dir, t.TempDir(), []string{"ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL})
	script, err := filepath.Abs(script)
	must.Do(t, err)
	node := exec.CommandContext(t.Context(), "node", script)
	node.Dir = dir
	node.Env = slices.Concat(c.Env, []string{"SDK=" + sdk, "PAWL=" + c.Path, "DIR=" + dir, "PATH=" + os.Getenv("PATH")}, env)
	var stderr bytes.Buffer
	node.Stderr = &stderr
	if out, err = node.Output(); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.Bytes())
	}
	return out, stderr.String(), dir
}
