//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// SPEC 16.12: in a home, or what holds one, commands read what a person sees there,
// and no key, no hidden file and nobody else's.
func TestHomeAsWorkspace(t *testing.T) {
	top := real(t.TempDir())
	home := filepath.Join(top, "homes", "u")
	for name, text := range map[string]string{
		"docs/a.txt": "seen", "top.txt": "seen", ".git/HEAD": "seen",
		".ssh/id_rsa": "KEY", ".bashrc": "KEY", ".config/app/token": "KEY", ".local/state/pawl/x": "KEY", "pawls/own": "KEY", "../v/docs/b.txt": "KEY", "../../etc": "KEY",
	} {
		name = filepath.Join(home, name)
		must.Write(t, name, text+"\n")
	}
	for _, link := range [][2]string{{".ssh", "keys"}, {".bashrc", "rc"}, {"../.ssh", "docs/keys"}} {
		must.Do(t, os.Symlink(link[0], filepath.Join(home, link[1])))
	}
	env := func(name string) string {
		return map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}[name]
	}
	for _, root := range []string{home, filepath.Dir(home), top} {
		boxes := NewBoxes(env, root, filepath.Join(home, ".local/state/pawl/spill"), filepath.Join(home, ".local/state/pawl"), filepath.Join(home, "pawls"))
		if readOnly, workspace := boxes.Try(); readOnly != nil || workspace == nil {
			t.Fatalf("%s: %v, %v", root, readOnly, workspace)
		}
		run := func(line string) string {
			var out strings.Builder
			cmd := exec.Command("bash", "-c", line)
			cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &out
			cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home}
			c := must.Get(boxes.Confine(cmd, process.Confine{}, nil))(t)
			_ = c.Wait() // what it prints counts
			return out.String()
		}
		for _, line := range []string{"ls .", "cd ~; ls", "ls -a ~ | grep -x .ssh >/dev/null && ls ~", "ls \"$PWD\"/", "cat ~/docs/a.txt ~/top.txt ~/.git/HEAD", "cd ~/docs && cat a.txt && ls .", "find ~/docs -name a.txt", "python3 -c 'import os; print(os.listdir(os.path.expanduser(\"~\")))'"} {
			if got := run(line); strings.Contains(got, "denied") || got == "" {
				t.Errorf("%s: %s: %s", root, line, got)
			}
		}
		for _, line := range []string{
			"cat ~/.ssh/id_rsa", "cat ~/.bashrc", "cat ~/.config/app/token", "cat ~/.local/state/pawl/x", "cat ~/pawls/own", "cat ~/../v/docs/b.txt", "cat ~/../../etc",
			"cat ~/keys/id_rsa", "cat ~/rc", "cat ~/docs/keys/id_rsa", "cat ~/docs/../.ssh/id_rsa", "cd ~ && cat .ssh/id_rsa", "cat /proc/self/cwd/.ssh/id_rsa /proc/self/cwd/u/.ssh/id_rsa",
			"exec 5<~; cat /proc/self/fd/5/.ssh/id_rsa", "cat ~/docs/a.txt/../../.ssh/id_rsa", "grep -rh KEY ~ ~/.. 2>&1 | grep -x KEY", "ls ~/.ssh", "ls ~/.config/app", "ls ~/pawls", "ls ~/../v/docs", "ls ~/keys/",
			"python3 -c 'import os; d = os.open(os.path.expanduser(\"~\"), os.O_RDONLY | os.O_DIRECTORY); print(os.read(os.open(\".ssh/id_rsa\", os.O_RDONLY, dir_fd=d), 9))'",
			"python3 -c 'import os; d = os.open(os.path.expanduser(\"~\"), os.O_RDONLY | os.O_DIRECTORY); os.fchdir(d); print(os.listdir(\".ssh\"), open(\".bashrc\").read())'",
		} {
			if got := run(line); strings.Contains(got, "KEY") || strings.Contains(got, "id_rsa\n") && strings.HasPrefix(line, "ls") || strings.Contains(got, "token\n") || strings.Contains(got, "b.txt\n") && strings.HasPrefix(line, "ls") || strings.Contains(got, "own\n") && strings.HasPrefix(line, "ls") {
				t.Errorf("%s: %s: %s", root, line, got)
			}
		}
		for _, line := range []string{"touch ~/docs/new", "echo x >~/top.txt", "rm ~/top.txt", "mkdir ~/n", "mv ~/docs ~/d", "chmod 777 ~/top.txt", "ln ~/top.txt ~/top2"} {
			run(line)
		}
		if b, err := os.ReadFile(filepath.Join(home, "top.txt")); err != nil || string(b) != "seen\n" {
			t.Errorf("%s: top.txt is %q, %v", root, b, err)
		}
		for _, name := range []string{"docs/new", "n", "d", "top2"} {
			if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
				t.Errorf("%s: it made %s", root, name)
			}
		}
		if _, err := boxes.Confine(exec.Command("true"), process.Confine{Level: process.Workspace}, nil); err == nil {
			t.Errorf("%s: a command that changes files could be confined", root)
		}
		if err := boxes.Close(); err != nil {
			t.Error(err)
		}
	}
	// Among keys or pawl's own files nothing is confined at all.
	for _, root := range []string{".ssh", ".ssh/work", ".config", ".local/state/pawl", ".local", "pawls"} {
		root = filepath.Join(home, root)
		must.Do(t, os.MkdirAll(root, 0o755))
		boxes := NewBoxes(env, root, "", filepath.Join(home, ".local/state/pawl"), filepath.Join(home, "pawls"))
		if readOnly, workspace := boxes.Try(); readOnly == nil || workspace == nil {
			t.Errorf("%s can be confined", root)
		}
		_ = boxes.Close()
	}
}
