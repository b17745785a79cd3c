//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// shared makes a folder that stands for /tmp, with a file and a folder of somebody else.
func shared(t *testing.T) *scratch {
	t.Helper()
	s := newScratch()
	if s == nil {
		t.Fatal("/tmp is not what it is everywhere")
	}
	s.dir = folder(t)
	for name, text := range map[string]string{"theirs": "secret\n", "theirdir/f": "secret\n"} {
		name = filepath.Join(s.dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
	return s
}

// SPEC 16.18: what a session makes in /tmp is its own, to read, change, move and remove by
// any command under the same path; what others have there stays closed, by whatever name.
func TestScratch(t *testing.T) {
	n := 0
	for line, want := range map[string]string{
		"echo x > T/a; echo y >> T/a; cat T/a; grep x T/a":                                                       "x\ny\nx\n",
		"echo x | tee T/a; mv T/a T/b; cat T/b; rm T/b; ls T/b 2>/dev/null || echo gone":                         "x\nx\ngone\n",
		"mkdir -p T/d/e && echo x > T/d/e/f && (cd T/d && cat e/f && ls) && find T/d && rm -r T/d":               "x\ne\nT/d\nT/d/e\nT/d/e/f\n",
		"mkdir T/d; echo x > T/d/f; grep -r x T/d; chmod 700 T/d/f; stat -c %a T/d/f":                            "T/d/f:x\n700\n",
		"echo x > w; mv w T/w; cat T/w; mv T/w back; cat back; test ! -e T/w":                                    "x\nx\n",
		"cp w0 T/c; cmp w0 T/c && ln T/c T/c2 && ln -s c T/l && cat T/l":                                         "zero\n",
		"f=$(mktemp T/x.XXXX); echo x > $f; cat $f; truncate -s 0 $f; wc -c < $f":                                "x\n0\n",
		`python3 -c 'open("T/p","w").write("py"); import os; os.rename("T/p","T/q"); print(open("T/q").read())'`: "py\n",
		"git init -q T/r; for at in T/r T/later T/.; do ln -s $at l 2>/dev/null || echo no; done; ln -s T/theirs l && mkdir d && ln -s $(python3 -c 'import os; print(os.path.relpath(\"T/r\", \"d\"))') d/l 2>/dev/null || echo no": "no\nno\nno\nno\n",
		"cat T/theirs 2>/dev/null || echo no; cat T/theirdir/f 2>/dev/null || echo no":                                     "no\nno\n",
		"(echo x > T/theirs) 2>/dev/null || echo no; (echo x >> T/theirdir/g) 2>/dev/null || echo no":                      "no\nno\n",
		"rm -f T/theirs 2>/dev/null || echo no; mv T/theirdir T/mine 2>/dev/null || echo no":                               "no\nno\n",
		"echo x > T/a; mv -f T/a T/theirs 2>/dev/null || echo no; ln T/theirs T/b 2>/dev/null || echo no":                  "no\nno\n",
		"ln -s theirs T/l; cat T/l 2>/dev/null || echo no; (echo x > T/l) 2>/dev/null || echo no":                          "no\nno\n",
		"mkdir T/d; ln -s ../theirdir T/d/l; cat T/d/l/f 2>/dev/null || echo no; cat T/d/../theirs 2>/dev/null || echo no": "no\nno\n",
		"ls T >/dev/null 2>&1 || echo no": "no\n",
	} {
		n++
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			root := folder(t)
			must.Write(t, filepath.Join(root, "w0"), "zero\n")
			p := answering(func(process.Refusal) (string, process.Answer) { return "", process.Declined })
			p.scratch = shared(t)
			out, _ := heldRun(t, open(t, confine.Workspace, root), root, strings.ReplaceAll(line, "T/", p.scratch.dir+"/"), p)
			if want = strings.ReplaceAll(want, "T/", p.scratch.dir+"/"); out != want {
				t.Errorf("%s\n%q, want %q; asked %q", line, out, want, p.list())
			}
			for _, name := range []string{"theirs", "theirdir/f"} {
				if b, err := os.ReadFile(filepath.Join(p.scratch.dir, name)); err != nil || string(b) != "secret\n" {
					t.Errorf("%s: %v %q", name, err, b)
				}
			}
		})
	}
}

// SPEC 16.18: what took the place of a session's own file is not its own, nor is what was
// there before it asked for the name, or came long after.
func TestScratchIsWhatTheSessionMade(t *testing.T) {
	s := shared(t)
	b := &Boxes{scratch: s}
	at := func(name string) string { return filepath.Join(s.dir, name) }
	put := func(name string) {
		t.Helper()
		must.Do(t, os.WriteFile(at(name), nil, 0o600))
	}
	if !b.Scratch(at("new"), true) || b.Scratch(at("new"), false) {
		t.Error("a new name may be made, and is not there")
	}
	put("new")
	if !b.Scratch(at("new"), false) || !b.Scratch(at("new"), true) || !b.Scratch(at("new/below"), true) {
		t.Error("what was made is its own")
	}
	must.Do(t, os.Rename(at("new"), at("old")))
	put("new")
	if b.Scratch(at("new"), false) || !b.Scratch(at("old"), false) {
		t.Error("another file has its name")
	}
	for _, name := range []string{"theirs", "theirdir/f", "theirdir/new", "", ".."} {
		if b.Scratch(at(name), true) {
			t.Errorf("%s is taken", name)
		}
	}
	if !b.Scratch(at("late"), true) {
		t.Error("late")
	}
	s.claims["late"] = time.Now().Add(-2 * claimAfter)
	put("late")
	if b.Scratch(at("late"), false) || (&Boxes{}).Scratch(at("x"), true) {
		t.Error("it is somebody else's")
	}
}

// SPEC 16.14: another repository is one question for all that git reads and writes in it;
// its hooks and its configuration stay closed. What is known of the other side follows.
func TestHeldRepository(t *testing.T) {
	root, outside := folder(t), folder(t)
	cmd := exec.Command("bash", "-c", "git init -q . && git config user.name x && git config user.email x && git commit -q --allow-empty -m one && git init -q --bare "+outside+"/r.git && git remote add origin "+outside+"/r.git")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	p := answering(yes)
	p.asks = true
	out, _ := heldRun(t, open(t, confine.Workspace, root), root, "git push -q origin HEAD:main && git fetch -q && git rev-parse origin/main && (echo x > "+outside+"/r.git/hooks/post-update) 2>/dev/null || echo no; echo x 2>/dev/null >> "+outside+"/r.git/config || echo no", p)
	if len(out) != 41+6 || !strings.HasSuffix(out, "no\nno\n") {
		t.Error(out)
	}
	if got := strings.Join(p.list(), ","); got != "git "+outside+"/r.git" {
		t.Error(got)
	}
}

// SPEC 16.14: who decides is told whether the command has changed a file, apart from what
// git makes on its way; a socket outside and a key are held as all else.
func TestHeldKnowsWhatWasDone(t *testing.T) {
	root, outside := folder(t), folder(t)
	key := filepath.Join(outside, "key")
	must.Write(t, key, "k")
	for line, want := range map[string]string{
		"cat KEY":               "",
		"echo x > f; cat KEY":   "it changed " + root + "/f",
		"mkdir -p .git/objects": "",
		"echo x > .git/index.lock; echo x > .git/objects/o; rm .git/index.lock; cat KEY": "",
		"echo x > .git/COMMIT_EDITMSG; echo x > .git/refs/heads/main; cat KEY":           "it changed " + root + "/.git/refs/heads/main",
		"echo x > $TMPDIR/x; cat KEY": "",
	} {
		must.Do(t, os.MkdirAll(filepath.Join(root, ".git/refs/heads"), 0o755))
		must.Do(t, os.MkdirAll(filepath.Join(root, ".git/objects"), 0o755))
		var mu sync.Mutex
		done := "nothing was asked"
		p := answering(func(r process.Refusal) (string, process.Answer) {
			mu.Lock()
			defer mu.Unlock()
			done = r.Done
			return "", process.Declined
		})
		heldRun(t, open(t, confine.Workspace, root), root, strings.ReplaceAll(line, "KEY", key), p)
		mu.Lock()
		if strings.Contains(line, "KEY") && done != want {
			t.Errorf("%s: %q, want %q", line, done, want)
		}
		mu.Unlock()
	}
}
