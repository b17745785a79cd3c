//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/kept"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// keeper is a workspace whose commands' removals are kept.
type keeper struct {
	t    *testing.T
	box  *Box
	root string
	dir  string // of the store
	tool.Keeper
}

var roomy = kept.Limits{Session: 1 << 30, File: 1 << 20}

func newKeeper(t *testing.T, l kept.Limits) *keeper {
	root := folder(t)
	dir := filepath.Join(folder(t), "kept", "s")
	return &keeper{t, open(t, confine.Workspace, root), root, dir, kept.Open(dir, l)}
}

// run runs a line, and returns its output and what is kept.
func (k *keeper) run(line string, p *person) (string, tool.KeptSet) {
	k.t.Helper()
	set := k.Begin()
	var buf bytes.Buffer
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = k.root, &buf, &buf
	h := holding{keep: set}
	if p != nil {
		h.hold = p.hold
	}
	c, err := k.box.start(cmd, h)
	must.Do(k.t, err)
	_ = c.Wait()
	out, err := set.Finish(nil)
	must.Do(k.t, err)
	return buf.String(), out
}

// undo restores what a set keeps.
func (k *keeper) undo(s tool.KeptSet) (left []string) {
	k.t.Helper()
	for _, i := range s.Items {
		if why := k.Blocked(s.Name, i.Path); why != "" {
			k.t.Errorf("%s: %s", i.Path, why)
		}
		l, err := k.Restore(s.Name, i.Path, false)
		if err != nil {
			k.t.Error(err)
		}
		left = append(left, l...)
	}
	return left
}

// filesOf returns what is in a folder: each path with its mode and content.
func filesOf(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == root {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case st.Mode()&fs.ModeSymlink != 0:
			text, err = os.Readlink(at)
		case st.Mode().IsRegular():
			var b []byte
			b, err = os.ReadFile(at)
			text = string(b)
		}
		out[strings.TrimPrefix(at, root+"/")] = st.Mode().String() + " " + text
		return err
	})
	must.Do(t, err)
	return out
}

// lacking returns what is in one state and not so in another.
func lacking(before, after map[string]string) []string {
	var out []string
	for path, what := range before {
		if after[path] != what {
			out = append(out, fmt.Sprintf("%s: %.60q, was %.60q", path, after[path], what))
		}
	}
	slices.Sort(out)
	return out
}

func (k *keeper) shell(line string) {
	k.t.Helper()
	if os.Getuid() != 0 { // who can remove nothing from a folder that is read-only
		line = strings.ReplaceAll(line, "chmod 555", ": 555")
	}
	cmd := exec.Command("bash", "-ec", line)
	cmd.Dir, cmd.Env = k.root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+k.root)
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

const personsFiles = `git init -q .; git config user.name n; git config user.email e@x
	printf 'ign/\n*.ign\n.env\n' > .gitignore; mkdir -p src/sub ign/deep; echo a > src/a; echo b > src/sub/b; chmod 755 src/a; git add .; git commit -qm one
	echo K=v > .env; chmod 600 .env; echo x > ign/x; echo y > ign/deep/y; echo z > z.ign; ln -s x ign/l; mkdir -m 700 ign/empty; mkdir ign/locked; echo l > ign/locked/l; chmod 555 ign/locked; echo u > untracked; head -c 300000 /dev/urandom > big.ign`

// SPEC 16.15: what a command removes, replaces or empties is restored, with its modes.
func TestKept(t *testing.T) {
	for _, c := range []struct{ name, line, items string }{
		{"an ignored file", "rm .env", ".env"},
		{"a large one", "rm big.ign", "big.ign"},
		{"a folder", "rm -rf ign", "ign"},
		{"a folder whose mode is odd", "rmdir ign/empty", "ign/empty"},
		{"sed", "sed -i s/K/L/ .env", ".env"},
		{"mv over", "echo new > t; mv t .env", ".env"},
		{"emptied", ": > .env", ".env"},
		{"cp over", "cp z.ign .env", ".env"},
		{"truncate", "truncate -s 1 big.ign", "big.ign"},
		{"appended", "echo more >> .env", ".env"},
		{"by a descriptor", `exec 3<>.env; rm .env; python3 -c 'import os; os.ftruncate(3, 0)'`, ".env"},
		{"reopened", "exec 3<.env; : > /proc/self/fd/3", ".env"},
		{"in place", `python3 -c 'f = open("big.ign", "r+b"); f.seek(9); f.write(b"xyz")'`, "big.ign"},
		{"mapped", `python3 -c 'import mmap; f = open("big.ign", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0:3] = b"abc"; m.flush()'`, "big.ign"},
		{"a database", `python3 -c 'import sqlite3; c = sqlite3.connect("untracked2"); c.execute("create table t(a)"); c.commit()'; rm untracked2`, ""},
		{"a link", "rm ign/l", "ign/l"},
		{"a link replaced", "ln -sf y ign/l", "ign/l"},
		{"moved away and removed", "mv .env e2; mv e2 e3; rm e3", ".env"},
		{"a folder moved and removed", "mv ign g2; mv g2/deep d; rm -rf g2; rm d/y", "ign"},
		{"moved", "mv .env other.ign", ".env"},
		{"a folder moved", "mv ign g2", "ign"},
		{"into a new folder that moves", "mkdir n; mv .env n/; mv n m", ".env"},
		{"three change places", "mv .env t; mv z.ign .env; mv t z.ign", ".env z.ign"},
		{"and the rest goes", "mv .env t; mv z.ign .env; rm t", ".env z.ign"},
		{"another in its place", "mv .env t.ign; echo other > .env", ".env"},
		{"git clean", "git clean -qfdx", ".env big.ign ign untracked z.ign"},
		{"objects", "rm -rf .git/objects/??; git gc -q || true", ".git/objects"},
		{"what the session made", "echo 1 > m; mkdir d; echo 2 > d/m; rm -rf m d; git status --short", ""},
		{"what did not change", `python3 -c 'open("big.ign", "r+b")'`, ""},
		{"hard links", "ln big.ign b2; rm big.ign; rm b2", "big.ign"},
		{"a hard link is written", "ln big.ign b2; rm big.ign; echo x > b2", "big.ign"},
		{"a read-only folder", "rm -rf ign/locked", "ign/locked"},
		{"python", `python3 -c 'import shutil, os; shutil.rmtree("ign"); os.replace("z.ign", "big.ign")'`, "big.ign ign z.ign"},
		{"a folder where a file was", "rm .env; mkdir .env.d; mv .env.d .env", ".env"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, roomy)
			k.shell(personsFiles)
			before := filesOf(t, k.root)
			out, set := k.run(c.line, nil)
			var items []string
			for _, i := range set.Items {
				rel, _ := filepath.Rel(k.root, i.Path)
				if items = append(items, rel); c.items == ".git/objects" {
					items = []string{".git/objects"}
				}
			}
			if got := strings.Join(items, " "); got != c.items {
				t.Errorf("kept %q, want %q\n%s", got, c.items, out)
			}
			if left := k.undo(set); len(left) > 0 && c.name != "a folder where a file was" {
				t.Errorf("left %q", left)
			} else if len(left) > 0 {
				return
			}
			if l := lacking(before, filesOf(t, k.root)); len(l) > 0 {
				t.Errorf("not restored: %q\n%s", l, out)
			}
			if set.Items == nil {
				if es, _ := os.ReadDir(k.dir); len(es) > 0 {
					t.Errorf("%v is kept for nothing", es)
				}
			}
		})
	}
}

// SPEC 16.15: random commands end nothing, alone or one after the other.
func TestKeptOfRandomCommands(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 16))
		k := newKeeper(t, roomy)
		k.shell(personsFiles)
		files := []string{".env", "big.ign", "z.ign", "untracked", "src/a", "src/sub/b", "ign/x", "ign/deep/y", "ign/l", "n1", "n2", "dir/n3", "ign/n4"}
		folders := []string{"src", "src/sub", "ign", "ign/deep", "ign/empty", "dir", "dir2"}
		pick := func(l []string) string { return l[rnd.IntN(len(l))] }
		line := func() string {
			f, g, d, e := pick(files), pick(files), pick(folders), pick(folders)
			all := []string{
				"rm -f " + f, "rm -rf " + d, "mv " + f + " " + g, "mv -T " + d + " " + e, "mv " + f + " " + d + "/", "cp " + f + " " + g, "cp -r " + d + " " + e,
				"truncate -s " + fmt.Sprint(rnd.IntN(9)) + " " + f, ": > " + f, "echo more >> " + f, "sed -i s/./Q/ " + f, "mkdir -p " + d, "git clean -qfdx", "git clean -qfd " + d,
				"ln -f " + f + " " + g, "ln -sfn x " + f, `python3 -c 'open("` + f + `","r+").write("in place")'`, "rmdir " + d, "git checkout -q -- " + d, "echo new > " + g, "install -m 640 " + f + " " + g,
			}
			return pick(all)
		}
		var sets []tool.KeptSet
		var lines []string
		before := filesOf(t, k.root)
		for range 1 + rnd.IntN(3) {
			var cmd []string
			for range 1 + rnd.IntN(8) {
				cmd = append(cmd, line())
			}
			l := strings.Join(cmd, "\n")
			_, set := k.run(l, nil)
			sets, lines = append(sets, set), append(lines, l)
		}
		var left []string
		for _, s := range slices.Backward(sets) {
			left = append(left, k.undo(s)...)
		}
		now := filesOf(t, k.root)
		for p := range before { // the index and the like are git's own
			if strings.HasPrefix(p, ".git/") && !strings.HasPrefix(p, ".git/objects") {
				delete(before, p)
			}
		}
		if l := lacking(before, now); len(l) > 0 {
			t.Errorf("seed %d:\n%s\nleft %q, not restored:\n%s", seed, strings.Join(lines, "\n--\n"), left, strings.Join(l, "\n"))
		}
	}
}

// SPEC 16.15: what cannot be kept within the limits is held and asked about, once for a
// command, and refused where nobody is.
func TestKeptLimits(t *testing.T) {
	for _, c := range []struct {
		name, line string
		limits     kept.Limits
		lost       string
	}{
		{"too much for a session", "rm big.ign z.ign big2.ign", kept.Limits{Session: 400_000, File: 1 << 20}, "big.ign"},
		{"too large for a copy", ": > big.ign; rm z.ign", kept.Limits{Session: 1 << 30, File: 1000}, "big.ign"},
		{"replaced", "cp z.ign n; mv n big.ign", kept.Limits{Session: 1000, File: 1000}, "big.ign"},
		{"truncated", "truncate -s 5 big.ign", kept.Limits{Session: 1000, File: 1000}, "big.ign"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, ok := range []bool{false, true} {
				k := newKeeper(t, c.limits)
				k.shell(personsFiles + "; cp big.ign big2.ign; cp big.ign big3.ign; chmod 600 big.ign")
				before := filesOf(t, k.root)
				p := answering(func(r process.Refusal) (string, process.Answer) {
					if r.Act != process.ActLose || r.Size == 0 {
						t.Errorf("asked about %+v", r)
					}
					return r.What, onlyIf(ok)
				})
				_, set := k.run(c.line, p)
				if n := len(p.list()); n != 1 {
					t.Errorf("asked %q", p.list())
				}
				left := k.undo(set)
				l := lacking(before, filesOf(t, k.root))
				if lost := len(l) > 0 || len(left) > 0; lost != ok {
					t.Errorf("allowed %v: %q %q", ok, left, l)
				}
				_, set = k.run(c.line, nil) // nobody is there
				if !ok {
					k.undo(set)
					if l := lacking(before, filesOf(t, k.root)); len(l) > 0 {
						t.Errorf("with nobody: %q", l)
					}
				}
			}
		})
	}
}

// SPEC 16.15: a pawl that is killed leaves the file or its copy, and the next one finds it.
func TestKeptAfterDeath(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, roomy)
	k.shell(personsFiles + "; chmod 640 z.ign")
	before := filesOf(t, k.root)
	set := k.Begin()
	cmd := exec.Command("bash", "-c", "rm -rf ign; mv .env moved; sed -i s/z/w/ z.ign; rm big.ign")
	cmd.Dir = k.root
	c := must.Get(k.box.start(cmd, holding{keep: set}))(t)
	_ = c.Wait()
	// As if it died between the link and the rename: both names are one file.
	must.Do(t, os.Link(k.root+"/untracked", filepath.Join(k.dir, "1/tree"+k.root+"/untracked")))
	again := kept.Open(k.dir, roomy)
	found := again.Recover(nil)
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	k.Keeper = again
	if left := k.undo(found[0]); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	if l := lacking(before, filesOf(t, k.root)); len(l) > 0 {
		t.Errorf("not restored: %q", l)
	}
	if out, _ := k.run("echo x >> untracked", nil); out != "" {
		t.Errorf("a file whose second name was pawl's cannot be written: %s", out)
	}
	if more := again.Recover(nil); len(more) > 0 {
		t.Errorf("found twice: %+v", more)
	}
}

// SPEC 16.15: somebody else's files stay where they are, and a restore follows no link.
func TestKeptLeavesOthers(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, roomy)
	k.shell(personsFiles)
	outside := folder(t)
	_, set := k.run("rm -rf ign; rm z.ign; sed -i s/K/L/ .env", nil)
	k.shell("echo mine > z.ign; echo mine > .env; ln -s " + outside + " ign")
	var left []string
	for _, i := range set.Items {
		l, err := k.Restore(set.Name, i.Path, false)
		if left = append(left, l...); err == nil && strings.HasSuffix(i.Path, "/ign") {
			t.Error("it went through a link")
		}
	}
	if es, _ := os.ReadDir(outside); len(es) > 0 || len(left) != 2 {
		t.Errorf("outside %v, left %q", es, left)
	}
	for _, name := range []string{"z.ign", ".env"} {
		if b, _ := os.ReadFile(filepath.Join(k.root, name)); string(b) != "mine\n" || k.Blocked(set.Name, filepath.Join(k.root, name)) == "" {
			t.Errorf("%s: %q", name, b)
		}
	}
}
