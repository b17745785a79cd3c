//go:build realacp

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
			out, said := byNode(t, "testdata/acp/client.mjs", sdk, "VERSION="+version, "MODEL=anthropic/claude-script")
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
				"map[asked:write new.txt (new, +1) options:[allow_once allow_always allow_always allow_always reject_once reject_always]]", "map[stop:end_turn]",
				"map[stop:cancelled]",
				"map[mode:plan]", "map[listed:true]", "map[loading:true]", "map[loaded:true]", "map[error:-32002]", "map[exit:0]",
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q\n%s%s", got, want, out, said)
			}
			if strings.Contains(said, "nvalid") {
				t.Errorf("a message is not of the schema:\n%s", said)
			}
		})
	}
}
