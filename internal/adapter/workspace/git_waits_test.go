//go:build unix

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// SPEC 15.1: pawl's own git does not start where it would wait for a named pipe.
func TestGitOfPipes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HEAD", "index", "config", "packed-refs", "info/exclude", "commondir"} {
		dir := t.TempDir()
		processtest.RunGit(t, dir, "init", "-q")
		pipe := filepath.Join(dir, ".git", name)
		must.Do(t, os.MkdirAll(filepath.Dir(pipe), 0o700))
		_ = os.Remove(pipe) // some are not there yet
		must.Do(t, syscall.Mkfifo(pipe, 0o600))
		git := &Git{Starter: &processtest.Plain{}, Confine: process.Free}
		sub := filepath.Join(dir, "sub")
		must.Do(t, os.Mkdir(sub, 0o700))
		for _, in := range []string{dir, sub} {
			if _, err := git.Run(context.Background(), in, nil, nil, "status"); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
