//go:build realacp

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 17.2: the official library drives pawl in both versions: two turns, a permission,
// a cancellation, a change of the mode, the list, a session loaded again. Its schemas
// check every message. PAWL_ACP is the folder of the npm package. `.ci/run` installs it.
func TestRealACP(t *testing.T) {
	sdk := os.Getenv("PAWL_ACP")
	if _, err := os.Stat(filepath.Join(sdk, "package.json")); err != nil {
		t.Fatalf("PAWL_ACP must be the folder of @agentclientprotocol/sdk: %v", err)
	}
	for _, version := range []string{"1", "2"} {
		t.Run("version "+version, func(t *testing.T) {
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
			script, err := filepath.Abs("testdata/acp/client.mjs")
			if err != nil {
				t.Fatal(err)
			}
			node := exec.Command("node", script)
			node.Dir = dir
			node.Env = slices.Concat(c.Env, []string{"SDK=" + sdk, "PAWL=" + c.Path, "DIR=" + dir, "VERSION=" + version, "MODEL=anthropic/claude-script", "PATH=" + os.Getenv("PATH")})
			var said bytes.Buffer
			node.Stderr = &said
			out, err := node.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, said.Bytes())
			}
			var got []string
			for line := range bytes.Lines(out) {
				var m map[string]any
				if err := json.Unmarshal(line, &m); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				if m["update"] == nil {
					delete(m, "call")
					got = append(got, strings.TrimSpace(fmt.Sprint(m)))
				}
			}
			modes := "modes:ask "
			if version == "2" {
				modes = ""
			}
			want := []string{
				"map[hello:" + version + "]", "map[" + modes + "options:[mode model]]",
				"map[asked:write new.txt (new, +1) options:[allow_once allow_always allow_always allow_always reject_once]]", "map[stop:end_turn]",
				"map[stop:cancelled]",
				"map[mode:plan]", "map[listed:true]", "map[loading:true]", "map[loaded:true]", "map[error:-32002]", "map[exit:0]",
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q\n%s%s", got, want, out, said.Bytes())
			}
			if strings.Contains(said.String(), "nvalid") {
				t.Errorf("a message is not of the schema:\n%s", said.Bytes())
			}
			if b, err := os.ReadFile(filepath.Join(dir, "new.txt")); string(b) != "one\n" {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}
