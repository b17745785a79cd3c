package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.4: an agent's notes are in its prompt as they are when it starts, the first 200
// lines, masked, from the folder of its scope; no link leads out of it.
func TestNotes(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	for scope, at := range map[string]string{
		"user": home + "/.claude/agent-memory/p-rev", "project": project + "/.claude/agent-memory/p-rev", "local": project + "/.claude/agent-memory-local/p-rev",
	} {
		k := Kind{Name: "p:rev", Memory: scope}
		k.Remember(home, project)
		if k.Memory != filepath.FromSlash(at) || !strings.Contains(k.Notes(strings.ToUpper), "There is no MEMORY.md yet") {
			t.Errorf("%s: %+v %s", scope, k, k.Notes(strings.ToUpper))
		}
		must.Write(t, at+"/MEMORY.md", "the first of "+scope+"\n"+strings.Repeat("x\n", 198)+"the last\nleft out\n")
		said := k.Notes(strings.ToUpper)
		if !strings.Contains(said, "THE FIRST OF "+strings.ToUpper(scope)) || !strings.Contains(said, "THE LAST") || strings.Contains(said, "LEFT OUT") || !strings.Contains(said, "Keep them") {
			t.Errorf("%s: %s", scope, said)
		}
	}
	out := filepath.Join(t.TempDir(), "secret")
	must.Write(t, out, "of another place")
	linked := Kind{Name: "linked", Memory: "project", Tools: []string{"Read"}}
	linked.Remember(home, project)
	must.Do(t, os.MkdirAll(linked.Memory, 0o700))
	must.Do(t, os.Symlink(out, linked.Memory+"/MEMORY.md"))
	if said := linked.Notes(strings.Clone); strings.Contains(said, "another place") || strings.Contains(said, "Keep them") {
		t.Error(said)
	}
	if none := (Kind{Name: "none"}); none.Notes(strings.Clone) != "" {
		t.Error(none.Notes(strings.Clone))
	}
	kinds, warnings := Load(Folder{Path: folder(t, map[string]string{"a.md": "---\nname: a\ndescription: d\nmemory: team\n---\nx"})})
	if find(kinds, "a").Memory != "" || len(warnings) != 1 || !strings.Contains(warnings[0], `memory is "team"`) {
		t.Errorf("%+v %q", kinds, warnings)
	}
}
