package processtest

import (
	"os"
	"os/exec"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// Git is git in a folder, as tests make repositories with it. Of the caller's
// environment it has the search path only: no GIT_DIR, no configuration of the
// person or the machine, no clean-up that goes on after it has ended.
func Git(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=gc.auto", "GIT_CONFIG_VALUE_0=0", "GIT_CONFIG_KEY_1=maintenance.auto", "GIT_CONFIG_VALUE_1=false",
		"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x",
	}
	return cmd
}

// RunGit runs git in a folder, which has to succeed, and returns its output.
func RunGit(t must.T, dir string, args ...string) string {
	t.Helper()
	out, err := Git(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatal("git", args, err, string(out))
	}
	return string(out)
}

// Commit makes a repository of a folder, with one commit of all its files.
func Commit(t must.T, dir string) {
	t.Helper()
	RunGit(t, dir, "init", "-q")
	RunGit(t, dir, "add", "-A")
	RunGit(t, dir, "commit", "-qm", "one", "--allow-empty")
}
