//go:build realsdk

package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 17.6: the real Agent SDK drives pawl: two turns, a permission, a change of
// the mode, an interrupt. PAWL_SDK is the folder of the npm package. `.ci/run`
// installs it.
func TestRealAgentSDK(t *testing.T) {
	sdk := filepath.Join(os.Getenv("PAWL_SDK"), "sdk.mjs")
	if _, err := os.Stat(sdk); err != nil {
		t.Fatalf("PAWL_SDK must be the folder of @anthropic-ai/claude-agent-sdk: %v", err)
	}
	srv := httptest.NewServer(&llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
		switch n {
		case 0:
			return llmtest.Use("write", `{"path":"new.txt","content":"one\n"}`)
		case 1:
			return llmtest.Say("it is written")
		}
		return llmtest.Use("bash", `{"command":"sleep 1000","description":"wait"}`)
	}})
	t.Cleanup(srv.Close)
	dir, home := t.TempDir(), t.TempDir()
	c := pawl(t, dir, home, []string{"ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL})
	script, err := filepath.Abs("testdata/sdk/conversation.mjs")
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", script)
	node.Dir = dir
	node.Env = slices.Concat(c.Env, []string{"SDK=" + sdk, "PAWL=" + c.Path, "DIR=" + dir, "PATH=" + os.Getenv("PATH")})
	var said bytes.Buffer
	node.Stderr = &said
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, said.Bytes())
	}
	var kinds []string
	for line := range bytes.Lines(out) {
		var m struct {
			Type, Subtype, Asked, Event string
			Interrupted, Ended          bool
			IsError                     bool `json:"is_error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case m.Asked != "":
			kinds = append(kinds, "asked "+m.Asked)
		case m.Interrupted:
			kinds = append(kinds, "interrupted")
		case m.Ended:
			kinds = append(kinds, "ended")
		case m.Type == "system" && m.Subtype == "status", m.Type == "stream_event":
		case m.Type == "system" || m.Type == "result":
			kinds = append(kinds, m.Type+" "+m.Subtype)
		default:
			kinds = append(kinds, m.Type)
		}
	}
	// The interrupt is acknowledged at once or after what it ended.
	got := strings.Join(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == "interrupted" }), ", ")
	if want := "system init, assistant, asked Write, user, assistant, result success, system init, assistant, user, result error_during_execution, ended"; got != want || !slices.Contains(kinds, "interrupted") {
		t.Errorf("got  %s\nwant %s\n%s%s", got, want, out, said.Bytes())
	}
	if b, err := os.ReadFile(filepath.Join(dir, "new.txt")); string(b) != "one\n" {
		t.Errorf("%q, %v", b, err)
	}
}
