package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// SPEC 17.6: a working tree in which another session works is not removed by the first
// that leaves, but by the last; one whose session was killed holds nothing up.
func TestWorktreeOfTwo(t *testing.T) {
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	processtest.Commit(t, root)
	said := &bytes.Buffer{}
	home := t.TempDir()
	t.Setenv("HOME", home) // git reads its user's configuration
	a := &App{Environment: setup.Environment{Dir: root, Err: said, Now: time.Now, Env: func(k string) string { return map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}[k] }}}
	enter := func() (func(), string) {
		f := &flags{worktree: "two"}
		leave := must.Get(a.inWorktree(t.Context(), f))(t)
		return leave, f.Dir
	}
	first, dir := enter()
	second, again := enter()
	if dir != again || dir != filepath.Join(root, ".claude/worktrees/two") {
		t.Fatal(dir, again)
	}
	first()
	if _, err := os.Stat(dir); err != nil || !strings.Contains(said.String(), "another session works in it") {
		t.Error(err, said)
	}
	dead := filepath.Join(root, ".git/worktrees/two/pawl-9.lock")
	must.Do(t, os.WriteFile(dead, nil, 0o600))
	second()
	if _, err := os.Stat(dir); err == nil || !strings.Contains(said.String(), "and its branch, because nothing changed") {
		t.Error(err, said)
	}
}

// SPEC 17.6: a name may be left out, and a prompt is no name.
func TestWithName(t *testing.T) {
	for in, want := range map[string]string{
		"--worktree feat|fix it":        "--worktree=feat|fix it",
		"-w|fix the bug":                "-w|fix the bug",
		"--worktree|-p|x y":             "--worktree|-p|x y",
		"-w|feat|--|-w|x":               "--worktree=feat|--|-w|x",
		"--worktree|fix it":             "--worktree|fix it",
		"--worktree=a|b":                "--worktree=a|b",
		"-c|-w|../up":                   "-c|--worktree=../up",
		"run|--worktree|one|two|three ": "run|--worktree=one|two|three ",
	} {
		in = strings.Replace(in, "--worktree feat", "--worktree|feat", 1)
		if got := strings.Join(withName(strings.Split(in, "|")), "|"); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
