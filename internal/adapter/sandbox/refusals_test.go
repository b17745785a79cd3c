//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// refusedBy runs a line and gives what it was refused.
func refusedBy(t *testing.T, box *Box, root, line string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, io.Discard, io.Discard
	c := must.Get(box.start(cmd, holding{}))(t)
	_ = c.Wait() // what failed is not of interest
	var out []string
	for _, r := range c.Refused() {
		out = append(out, strings.ReplaceAll(r.String(), filepath.Dir(root), "T"))
	}
	return strings.Join(out, "; ")
}

// SPEC 16.12: a read that the kernel refuses is known by the program's own
// message, where the sandbox is why, and by nothing else.
func TestReadsThatWereRefused(t *testing.T) {
	root := folder(t)
	out := filepath.Dir(root)
	must.Do(t, os.MkdirAll(filepath.Join(out, "state"), 0o755))
	must.Do(t, os.Mkdir(filepath.Join(out, "lib"), 0o755))
	for _, name := range []string{"f", "with space", "state/key", "w/own"} {
		must.Write(t, filepath.Join(out, name), "x\n")
	}
	must.Do(t, os.Symlink(filepath.Join(out, "f"), filepath.Join(root, "link")))
	for _, level := range []confine.Level{confine.Workspace, confine.ReadOnly} {
		box := open(t, level, root)
		for _, c := range []struct{ line, want string }{
			{"cat ../f", "[read T/f]"}, {"cat link", "[read T/f]"}, {"cat ../f; cat ../f; grep x T/f", "[read T/f]"}, {"cat '../with space'", "[read T/with space]"},
			{"ls ../lib", "[read T/lib]"}, {"ls ..", "[]"}, {"read x <../f", "[read T/f]"}, {`perl -e 'open(F,"<","T/f") or die "open T/f: $!"'`, "[read T/f]"},
			{"echo 'Error: EACCES: permission denied, open '\\''T/f'\\'", "[read T/f]"}, {"echo 'open T/f: permission denied'", "[read T/f]"},
			{"echo \"PermissionError: [Errno 13] Permission denied: 'T/f'\"", "[read T/f]"},
			// Readable all the same, keys, nothing there, no path.
			{"echo 'cat: own: Permission denied'", "[]"}, {"cat ../state/key", "[]"}, {"echo 'cat: T/none: Permission denied'", "[]"}, {"echo 'Permission denied (publickey)'", "[]"},
			{"echo 'ssh: permission denied: who'", "[]"}, {"cat ../none", "[]"},
		} {
			line := strings.ReplaceAll(c.line, "T/", out+"/")
			cmd := exec.Command("bash", "-c", line)
			cmd.Dir = root
			var said strings.Builder
			cmd.Stdout, cmd.Stderr = &said, &said
			child := must.Get(box.start(cmd, holding{}))(t)
			_ = child.Wait()
			if got := strings.ReplaceAll(fmt.Sprint(child.Explain(said.String())), out, "T"); got != c.want {
				t.Errorf("%s: %s: %s, want %s (%s)", level, c.line, got, c.want, said.String())
			}
		}
		// What it was not let write is no read.
		if level == confine.Workspace {
			cmd := exec.Command("python3", "-c", "open('"+out+"/f', 'a')")
			cmd.Dir = root
			var said strings.Builder
			cmd.Stderr = &said
			child := must.Get(box.start(cmd, holding{}))(t)
			_ = child.Wait()
			if got := child.Explain(said.String()); len(got) > 0 || len(child.Refused()) != 1 {
				t.Errorf("a write: %v, refused %v (%s)", got, child.Refused(), said.String())
			}
		}
	}
}

// SPEC 16.12: what was refused is known by its name, once, and only what would
// work without the sandbox.
func TestRefusals(t *testing.T) {
	root := folder(t)
	out := filepath.Join(filepath.Dir(root), "out")
	for _, d := range []string{filepath.Join(root, ".git/hooks"), out} {
		must.Do(t, os.MkdirAll(d, 0o755))
	}
	must.Write(t, filepath.Join(out, "f"), "x")
	box := open(t, confine.Workspace, root)
	for _, c := range []struct{ line, want string }{
		{"echo x > a; mkdir d; mv a d; rm -r d; echo > /dev/null; echo $TMPDIR > $TMPDIR/x", ""},
		{"echo x > ../out/new; echo x > ../out/new", "write T/out/new"},
		{"echo x >> ../out/f", "write T/out/f"},
		{"rm -f ../out/f", "remove T/out/f"},
		{"rm -f ../out/missing; mkdir -p ../out; echo x > ../no/such; rmdir ../out/x", ""},
		{"mkdir ../out/d", "write T/out/d"},
		{"ln -s /x ../out/l", "write T/out/l"},
		{"chmod 600 ../out/f", "write T/out/f"},
		{"touch m; mv m ../out/m; rm m", "write T/out/m"},
		{"echo x > .git/hooks/pre-commit; echo y > AGENTS.md", "write T/w/.git/hooks/pre-commit; write T/w/AGENTS.md"},
		{"ln -s ../out o; echo x > o/by-link; rm o", "write T/out/by-link"},
		{"echo x > /proc/self/oom_score_adj; echo x > /dev/nothing", ""},
	} {
		if got := refusedBy(t, box, root, c.line); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
	box = open(t, confine.ReadOnly, root)
	if got := refusedBy(t, box, root, "echo x > a"); got != "" {
		t.Error(got)
	}
}
