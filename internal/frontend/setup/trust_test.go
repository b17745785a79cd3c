package setup

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// SPEC 16.1: a worker's copy of a trusted folder is trusted for what has the same
// content there, and not for what a worker changed, added, or replaced.
func TestTrustInAWorkersTree(t *testing.T) {
	person, tree, other := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(dir, name, text string) {
		t.Helper()
		must.Write(t, filepath.Join(dir, name), text)
	}
	const hook = `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "sh hook.sh"}]}]}}`
	for _, dir := range []string{person, tree, other} {
		put(dir, ".claude/settings.json", hook)
		put(dir, "hook.sh", "touch hooked\n")
	}
	store := settings.Trust{Dir: t.TempDir()}
	parts := func(dir string) []trust.Part {
		t.Helper()
		_, parts, err := folder.Hooks(dir)
		if err != nil || len(parts) == 0 {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		return parts
	}
	id := must.Get(folder.Identity(person))(t)
	must.Do(t, store.Keep(trust.Accept(person, id, time.Now(), true, parts(person))))
	state := func(dir, as string) trust.State {
		t.Helper()
		v := must.Get((&Trust{Dir: dir, as: as, home: "/home/nobody", store: store}).compare(parts(dir)))(t)
		return v.State
	}
	if s := state(tree, person); s != trust.Trusted {
		t.Errorf("the same content is %s", s)
	}
	if s := state(tree, ""); s == trust.Trusted {
		t.Error("a folder is trusted since another one with its content is")
	}
	if s := state(tree, other); s == trust.Trusted {
		t.Error("a copy of a folder that is not trusted is trusted")
	}
	for name, text := range map[string]string{
		"hook.sh":               "touch evil\n",
		".claude/settings.json": `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch evil"}]}]}}`,
	} {
		was := must.Get(os.ReadFile(filepath.Join(tree, name)))(t)
		put(tree, name, text)
		if s := state(tree, person); s == trust.Trusted {
			t.Errorf("%s was changed by the worker and is trusted", name)
		}
		put(tree, name, string(was))
	}
	put(person, "hook.sh", "touch other\n")
	if s := state(person, ""); s == trust.Trusted {
		t.Error("the person's own folder changed and is trusted")
	}
}
