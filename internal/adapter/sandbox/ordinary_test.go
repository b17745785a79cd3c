//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// folder is an empty workspace in a folder of its own.
func folder(t *testing.T) string {
	t.Helper()
	dir := real(t.TempDir())
	root := filepath.Join(dir, "w")
	must.Do(t, os.MkdirAll(root, 0o777))
	return root
}

func open(t *testing.T, l confine.Level, root string) *Box {
	t.Helper()
	b := NewBoxes(func(k string) string {
		return map[string]string{"HOME": os.Getenv("HOME"), "PATH": os.Getenv("PATH"), "XDG_CACHE_HOME": filepath.Join(filepath.Dir(root), "cache")}[k]
	}, root, "/spill", filepath.Join(filepath.Dir(root), "state"))
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	box, _, err := b.box(process.Confine{Level: l}, root)
	must.Do(t, err)
	return box
}

// bash runs a line, confined where box is not nil.
func bash(t *testing.T, box *Box, root, line string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C", "TMPDIR=" + os.TempDir(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL=/dev/null"}
	var err error
	if box == nil {
		err = cmd.Run()
	} else {
		var c *Child
		if c, err = box.start(cmd, holding{}); err == nil {
			err = c.Wait()
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.ReplaceAll(out.String(), root, "W")
}

// tree is all that lies in a folder, but for git's own files that hold times.
func tree(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		st, err := d.Info()
		if err != nil || rel == filepath.Join(".git", "index") {
			return err
		}
		b.WriteString(rel + " " + st.Mode().String())
		if st.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.WriteString(" " + string(text))
		}
		b.WriteString("\n")
		return nil
	})
	must.Do(t, err)
	return b.String()
}

// SPEC 16.12: ordinary work is the same inside as outside: what is printed, and
// what lies in the workspace afterwards.
func TestOrdinary(t *testing.T) {
	start := folder(t)
	bash(t, nil, start, "git init -q -b main .; rm -r .git/hooks; git config user.name x; mkdir sub; echo f > f; echo s > sub/f; echo rules > AGENTS.md; git add -A; git commit -qm zero")
	for _, line := range []string{
		"echo a > a; echo b >> a; cat a; ls",
		"umask 077; touch private; mkdir -p x/y/z; umask 022; touch open; stat -c '%a %n' private open x/y",
		"echo one > f; sed -i s/one/two/ f; cat f; sed -i s/two/three/ sub/f; cat sub/f",
		"mkdir d; mv d e; mv f e/; mv e/f g 2>&1; mv sub other; ls -R | head -50",
		"cp -r sub copy; cp -a sub copy2; rm -r copy; ls copy2; rmdir sub 2>&1",
		"ln -s sub link; echo x > link/through; cat sub/through; readlink link; rm link; ls",
		"echo x > h1; ln h1 h2; echo y >> h2; cat h1; stat -c %h h1; rm h1; cat h2",
		"touch t; chmod 751 t; stat -c %a t; touch -d 2020-01-01 t; stat -c %y t; chmod -R go-w sub",
		"mkfifo p; (echo through > p &); cat p; rm p; mkfifo q; cat q & echo again > q; wait",
		"exec 3<> rw; echo hello >&3; exec 3>&-; cat rw; truncate -s 2 rw; cat rw; : > rw; stat -c %s rw",
		"echo out; echo err >&2; echo dev > /dev/stderr; echo null > /dev/null; tee /dev/stderr <<< tee; cat <<< here",
		"echo log > log; exec 2>>log; echo again > /dev/stderr; cat log",
		"echo new > f; git status --short; git add f; git commit -qm one; git log --oneline; git checkout -q -b b; echo z > f; git commit -qam two; git checkout -q -; git merge -q b; git log --format=%s; git stash list; git status --short | sort",
		"echo n > n; git stash -uq; ls; git stash pop -q; cat n; git rm -q --cached f; git reset -q; git tag v1; git gc -q; git fsck; git log --oneline",
		"tar cf - sub | (mkdir -p out; tar xf - -C out); find out | sort; xz -k f; xz -dc f.xz; gzip -n f; ls",
		"printf 'all: o\\no: f\\n\\tcp f o\\n' > M; make -sf M; cat o; make -f M | head -3",
		"printf 'int main(){return 7;}' > m.c; cc -o prog m.c && ./prog; echo $?; rm prog",
		"python3 -c 'import os,tempfile; open(\"py\",\"w\").write(\"x\"); os.rename(\"py\",\"py2\"); os.makedirs(\"pa/pb\"); f=tempfile.NamedTemporaryFile(); f.write(b\"x\"); f.flush(); print(os.path.exists(f.name))'; ls",
		"python3 -m compileall -q . ; printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test(self): open(\"w\",\"w\").write(\"1\")\\n' > test_a.py; python3 -m unittest -q 2>&1 | grep -c OK; rm -r __pycache__",
		"perl -e 'open(F,\">\",\"pl\") or die; print F 1; close F; utime 1,1,\"pl\"; unlink \"pl\" or die'; ls",
		"for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5; do echo $i > f$i.$j; mv f$i.$j g$i.$j; done) & done; wait; ls | wc -l",
		"sleep 0 & wait $!; kill -0 $$; ps -o comm= -p $$; nice -n 5 true; ulimit -n 512; timeout 5 true; echo $?",
		"mkdir -p node_modules/p/.vscode; echo a > node_modules/p/AGENTS.md; echo b > node_modules/p/.vscode/s; mv node_modules/p node_modules/q; find node_modules | sort",
		"touch 'a b' $'new\\nline' -- -dash; rm -- -dash; ls -Q; mkdir ' '; rmdir ' '; echo ok > ./sub/../dots; cat dots; echo d > ./; mkdir x/ ; rmdir x/",
		"cd sub; echo here > here; cd ..; (cd sub && rm here); mv -T f sub/f; mv -n sub/f nope; ls -A; mv missing x 2>&1; rm missing 2>&1; mkdir sub 2>&1; cat < missing 2>&1; ls sub/f/x 2>&1; echo x > sub/f/x",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			var said, left [2]string
			for i := range 2 {
				root := folder(t)
				must.Do(t, os.CopyFS(root, os.DirFS(start)))
				box := (*Box)(nil)
				if i == 1 {
					box = open(t, confine.Workspace, root)
				}
				said[i] = bash(t, box, root, line)
				left[i] = tree(t, root)
			}
			if said[0] != said[1] {
				t.Errorf("%s\noutside:\n%s\ninside:\n%s", line, said[0], said[1])
			}
			if left[0] != left[1] {
				t.Errorf("%s\nleft outside:\n%s\nleft inside:\n%s", line, left[0], left[1])
			}
		})
	}
}
