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
// a cancellation, a sign-in, a file saved by the editor, changes of the mode and the effort, the list, a session loaded again and deleted. Its schemas
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
			modes, ways, first, saved := "modes:ask ", "[key openrouter]", []string{"map[error:-32602]"}, []string{"map[saved:new.txt]"}
			if version == "2" {
				modes, ways, first, saved = "", "[]", nil, nil
			}
			want := slices.Concat(
				[]string{"map[hello:" + version + " ways:" + ways + "]"}, first, []string{
					"map[" + modes + "options:[mode model effort]]",
					"map[asked:write new.txt (new, +1) options:[allow_once allow_always allow_always allow_always reject_once reject_always]]",
				}, saved, []string{
					"map[stop:end_turn]", "map[stop:cancelled]", "map[mode:plan]", "map[effort:low]", "map[error:-32602]", "map[listed:true]",
					"map[loading:true]", "map[loaded:true]", "map[left:0]", "map[error:-32002]", "map[exit:0]",
				})
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q\n%s%s", got, want, out, said)
			}
			if strings.Contains(said, "nvalid") {
				t.Errorf("a message is not of the schema:\n%s", said)
			}
		})
	}
}
