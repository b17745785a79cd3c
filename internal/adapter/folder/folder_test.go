package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

func put(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	must.WriteMode(t, filepath.Join(dir, name), text, mode)
}

// SPEC 16.1: what a folder configures besides checks is found, and what cannot
// be read is told of.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".mcp.json", `{"mcpServers": {"a": {"command": "evil"}}}`, 0o600)
	put(t, dir, ".envrc", "x", 0o600)
	put(t, dir, ".git/config", "[core]\n\tfsmonitor = evil\n", 0o600)
	put(t, dir, ".git/hooks/pre-commit", "evil", 0o700)
	put(t, dir, ".git/hooks/post-merge", "no program", 0o600)
	put(t, dir, ".git/hooks/pre-push.sample", "evil", 0o700)
	put(t, dir, ".claude/settings.json", strings.Repeat(" ", maxFile+1), 0o600)
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(dir, ".git/hooks/update")))
	must.Do(t, os.Symlink("/dev/zero", filepath.Join(dir, "opencode.json")))
	must.Do(t, os.Mkdir(filepath.Join(dir, "mise.toml"), 0o700))
	for i := range 3 * maxHooks {
		put(t, dir, fmt.Sprintf(".husky/h%d", i), "x", 0o700)
	}
	ps := must.Get(Look(dir))(t)
	var got []string
	husky := 0
	for _, p := range ps {
		if strings.HasPrefix(p.Name, ".husky/") {
			husky++
			continue
		}
		got = append(got, fmt.Sprint(p.Kind, " ", p.Name, " ", p.Hash != ""))
	}
	want := []string{
		"other .claude/settings.json false", "mcp a (.mcp.json) true", "other opencode.json false", "env .envrc true",
		"git .git/config true", "git .git/hooks/pre-commit true", "git .git/hooks/update false",
	}
	if !slices.Equal(got, want) || husky != maxHooks {
		t.Errorf("%q, %d hooks", got, husky)
	}
	if s, there := Servers(dir); !there || s.Unread || s.Name != ".mcp.json" || !strings.Contains(s.Text, "evil") {
		t.Errorf("%+v %v", s, there)
	}
	if _, there := Servers(t.TempDir()); there {
		t.Error("there is none")
	}
	if ps, err := Look(t.TempDir()); len(ps) != 0 || err != nil {
		t.Errorf("%v %v", ps, err)
	}
	if slices.ContainsFunc(ps, func(p trust.Part) bool { return p.Kind.Runs() && p.Kind != trust.MCP }) {
		t.Error("pawl would run it")
	}
}

// SPEC 16.1: a folder that is put in the place of another is another.
func TestIdentity(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	seen := map[string]bool{}
	for range 20 { // a number that is free again is given anew
		must.Do(t, os.Mkdir(dir, 0o700))
		id := must.Get(Identity(dir))(t)
		put(t, dir, "x/y", "z", 0o600)
		if again, err := Identity(dir); again != id || err != nil {
			t.Errorf("%q is %q with a file in it, %v", id, again, err)
		}
		if seen[id] && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
			t.Errorf("two folders are %q", id)
		}
		seen[id] = true
		must.Do(t, os.RemoveAll(dir))
	}
	if _, err := Identity(dir); err == nil {
		t.Error("a folder that is not there has an identity")
	}
}

// SPEC 16.1: a hook that pawl never runs is no part of what a folder is trusted with.
func TestIdleHooksAreNoPart(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, ".claude"), 0o700))
	hooks := `{"hooks": {"PreToolUse": [{"hooks": [{"type": "agent", "prompt": "safe?"}, {"type": "command", "command": "true"}]}]}}`
	must.Write(t, filepath.Join(dir, ".claude", "settings.json"), hooks)
	rules, parts, err := Hooks(dir)
	if err != nil || len(rules) != 1 || len(parts) != 1 || rules[0].Command != "true" {
		t.Errorf("%v %v %v", rules, parts, err)
	}
	all, err := Look(dir)
	if n := slices.IndexFunc(all, func(p trust.Part) bool { return p.Kind == trust.Hook && strings.Contains(fmt.Sprint(p), "safe?") }); n >= 0 || err != nil {
		t.Errorf("%v %v", all, err)
	}
	idle, err := IdleHooks(dir)
	if err != nil || len(idle) != 1 || idle[0].InactiveBecause == "" {
		t.Errorf("%v %v", idle, err)
	}
}
