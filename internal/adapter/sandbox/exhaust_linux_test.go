//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 15.1, 16.12: what uses up the machine's memory or disk is ended, with what it used.
// What runs beside it is not.
func TestExhausted(t *testing.T) {
	short := func(what string) func() (string, string) {
		return func() (string, string) { return what, "only 5 MB is left" }
	}
	for _, c := range []struct{ name, what, line, want string }{
		{"memory", "memory", "head -c 150M /dev/zero | tail -c 150M | sleep 1000", "it held "},
		{"memory of many", "memory", "for i in 1 2 3 4 5 6; do head -c 15M /dev/zero | tail -c 15M | sleep 1000 & done; wait", "it held "},
		{"disk, by children that ended", "disk", "while :; do head -c 20M /dev/zero > f; done", "it had written "},
		{"disk, by what is reserved", "disk", "fallocate -l 100M f; mv f g; sleep 1000", "it had written "},
		{"disk, reserved from its end", "disk", ": > f; for i in 9 8 7 6 5 4 3 2 1 0; do fallocate -n -o $((i * 20000000)) -l 20000000 f; done; sleep 1000", "it had written "},
		{"disk, while it still runs", "disk", "head -c 100M /dev/zero > f; sleep 1000", "it had written "},
	} {
		t.Run(c.name, func(t *testing.T) {
			box := open(t, confine.Workspace, folder(t))
			cmd := exec.Command("bash", "-c", c.line)
			cmd.Dir = box.policy.Root
			child := must.Get(box.start(cmd, holding{short: short(c.what)}))(t)
			err := child.Wait()
			if !errors.Is(err, ErrExhausted) || !strings.Contains(err.Error(), "only 5 MB is left; "+c.want) {
				t.Errorf("%q ended by %v", c.line, err)
			}
		})
	}

	box := open(t, confine.Workspace, folder(t))
	cmd := exec.Command("bash", "-c", "for i in 1 2 3; do fallocate -l 40M f; done; exec cat") // 40 MB
	cmd.Dir = box.policy.Root
	in, out := io.Pipe()
	cmd.Stdin = in
	looks := 0
	child := must.Get(box.start(cmd, holding{short: func() (string, string) {
		if looks++; looks == 6 {
			_ = out.Close()
		}
		return []string{"memory", "disk"}[looks%2], "only 5 MB is left"
	}}))(t)
	if err := child.Wait(); err != nil {
		t.Errorf("what uses nothing ended by %v", err)
	}
}
