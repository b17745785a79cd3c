package session_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/sandbox/kept"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// keepsRemoved makes a session in the sandbox, with a repository, that keeps what its commands
// remove.
func keepsRemoved(t *testing.T, mode permission.Mode, l kept.Limits) func(*session.Config) {
	return func(c *session.Config) {
		journaled(t, journal.Options{})(c)
		state := t.TempDir()
		env := func(k string) string { return map[string]string{"PATH": os.Getenv("PATH"), "HOME": state + "/home"}[k] }
		boxes := sandbox.NewBoxes(env, c.Dir, "", state)
		boxes.Temporary = true
		if _, err := boxes.Try(); err != nil {
			t.Skip("this system has no sandbox: ", err)
		}
		starter := shell.NewStarter(shell.StarterOptions{Confiner: boxes, Env: func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}
		}})
		sh := shell.New(shell.Options{Root: c.Dir, SpillDir: t.TempDir(), Starter: starter})
		t.Cleanup(func() { _ = sh.Close(); _ = starter.Close(); _ = boxes.Close() })
		c.Person = true
		c.Shell, c.Kept = sh, kept.Open(filepath.Join(state, "kept", "s1"), l)
		c.Permission = permission.New(permission.Config{Mode: mode, Root: c.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true, Holds: true}})
		cmd := exec.Command("bash", "-ec", `git init -q .; printf 'ign/\n*.ign\n.env\n' > .gitignore; mkdir -p src/sub ign/deep node_modules/m; echo a > src/a; echo b > src/sub/b; chmod 755 src/a
			git add .; git -c user.name=n -c user.email=e@x commit -qm one; echo K=v > .env; chmod 600 .env; echo x > ign/x; echo y > ign/deep/y; echo z > z.ign; head -c 300000 /dev/urandom > big.ign
			head -c 20000000 /dev/urandom > large; echo m > node_modules/m/i; echo node_modules >> .git/info/exclude`)
		cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// agree answers each question, and counts them.
func (r *rig) agree(scope event.Scope, asked *[]string) func(event.Event) {
	return func(e event.Event) {
		a, ok := e.Body.(event.Asked)
		if !ok {
			return
		}
		var vs []event.Verdict
		for _, q := range a.Questions {
			*asked = append(*asked, q.Title)
			vs = append(vs, event.Verdict{Call: q.Call, Scope: scope})
		}
		if _, err := r.Submit(r.T.Context(), session.Answer{ID: a.ID, Verdicts: vs}); err != nil {
			r.T.Error(err)
		}
	}
}

// contents returns the modes and contents of a folder's files, apart from git's.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == root {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		st, err := d.Info()
		text := ""
		if err == nil && st.Mode().IsRegular() {
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

func differences(before, after map[string]string) []string {
	var out []string
	for path, what := range before {
		if after[path] != what {
			out = append(out, fmt.Sprintf("%s: %.40q, was %.40q", path, after[path], what))
		}
	}
	slices.Sort(out)
	return out
}

func command(line string) string { return fmt.Sprintf(`{"command":%q}`, line) }

// SPEC 16.15: an undo restores what a command ended and the journal has no copy of; the
// preview names it; nothing is said to be lost.
func TestUndoRestoresWhatCommandsRemoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, files string }{
		{"an ignored file", "rm .env", ".env"},
		{"a large file", "rm large", "large"},
		{"a large file that moved", "mv large large2", "large"},
		{"a large file that changed", "echo more >> large", "large"},
		{"packages", "rm -rf node_modules", "node_modules"},
		{"sed", "sed -i s/K/L/ .env; sed -i s/a/q/ src/a", ".env src/a"},
		{"all of it", "rm -rf src ign node_modules large .env big.ign z.ign", ".env big.ign ign large node_modules src/a src/sub/b z.ign"},
		{"git clean", "git clean -qfdx", ".env big.ign ign large node_modules z.ign"},
		{"a script", "python3 -c 'import shutil, os; shutil.rmtree(\"ign\"); os.rename(\"z.ign\", \".env\")'", ".env ign z.ign"},
		{"what it made", "mkdir -p ign/n; echo n > ign/n/n; rm -rf ign/n; cp z.ign t.ign; rm t.ign", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "auto", llmtest.New(llmtest.Use("bash", command(c.line)), llmtest.Say("done")), keepsRemoved(t, permission.Auto, kept.Limits{Session: 1 << 30, File: 1 << 26}))
			before := contents(t, r.Dir)
			var asked []string
			r.Run("go", r.agree(event.Once, &asked))
			for _, d := range find[event.CallDone](r.Log()) {
				if strings.Contains(d.Result.Text, "cannot be") {
					t.Errorf("told %s", d.Result.Text)
				}
			}
			if w := find[event.Warned](r.Log()); len(w) > 0 {
				t.Errorf("warned %+v", w)
			}
			checkFold(t, stored(t, r.Cfg.Store, r.Cfg.ID))
			p, err := r.View().Changes().Plan(t.Context(), undo.Selector{Kind: undo.ByTurn})
			if c.files == "" && err != nil {
				return
			}
			must.Do(t, err)
			var files []string
			var leave undo.Consent
			for _, f := range p.Files {
				if f.Action == undo.PutBack {
					files = append(files, f.Path)
				}
				if f.Ask != "" {
					leave.Confirmed = append(leave.Confirmed, f.Path)
				}
			}
			slices.Sort(files)
			if got := strings.Join(files, " "); got != c.files {
				t.Errorf("the preview has %q, want %q", got, c.files)
			}
			u, err := session.DoPlan(t.Context(), r.Session, p, leave)
			if err != nil || len(u.Left) > 0 {
				t.Fatalf("%+v %v", u.Left, err)
			}
			if d := differences(before, contents(t, r.Dir)); len(d) > 0 {
				t.Errorf("not restored: %q", d)
			}
			if _, err := r.View().Changes().Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}); err == nil {
				t.Error("it can be undone twice")
			}
		})
	}
}

// SPEC 16.15: random commands of some turns, and one undo of all: each byte and each mode
// is as before.
func TestUndoOfRandomCommands(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1615))
			files := []string{".env", "big.ign", "z.ign", "large", "src/a", "src/sub/b", "ign/x", "ign/deep/y", "n1", "node_modules/m/i", "ign/n4"}
			folders := []string{"src", "src/sub", "ign", "ign/deep", "node_modules"}
			pick := func(l []string) string { return l[rnd.IntN(len(l))] }
			var script []llmtest.Turn
			var lines []string
			for range 3 {
				var cmd []string
				for range 1 + rnd.IntN(5) {
					f, g, d := pick(files), pick(files), pick(folders)
					cmd = append(cmd, pick([]string{
						"rm -f " + f, "rm -rf " + d, "mv " + f + " " + g, "cp " + f + " " + g, "truncate -s 3 " + f, ": > " + f, "sed -i s/./Q/ " + f, "git clean -qfdx",
						"mkdir -p " + d, "echo new > " + f, "git checkout -q -- src", `python3 -c 'open("` + f + `","r+").write("in place")'`,
					}))
				}
				lines = append(lines, strings.Join(cmd, "; "))
				script = append(script, llmtest.Use("bash", command(lines[len(lines)-1])), llmtest.Say("done"))
			}
			r := newRig(t, "auto", llmtest.New(script...), keepsRemoved(t, permission.Auto, kept.Limits{Session: 1 << 30, File: 1 << 26}))
			before := contents(t, r.Dir)
			var asked []string
			for range 3 {
				r.Run("go", r.agree(event.Once, &asked))
			}
			p, err := r.View().Changes().Plan(t.Context(), undo.Selector{Kind: undo.ByAll})
			if errors.Is(err, undo.ErrNothing) { // then nothing may have changed
				p, err = undo.Plan{}, nil
			}
			must.Do(t, err)
			var all undo.Consent
			for _, f := range p.Files {
				if f.Ask != "" {
					all.Confirmed = append(all.Confirmed, f.Path)
				}
			}
			var u changes.Undone
			if len(p.Files) > 0 {
				u, err = session.DoPlan(t.Context(), r.Session, p, all)
			}
			if d := differences(before, contents(t, r.Dir)); len(d) > 0 || err != nil {
				t.Errorf("%v: %q\nnot restored: %q\nleft %+v", err, lines, d, u.Left)
			}
		})
	}
}

// SPEC 16.15: what cannot be kept is asked about when it would end, and refused with the
// reason where nobody is.
func TestLossIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   permission.Mode
		person bool
		scope  event.Scope
		asked  string
		told   string // "": it is gone
	}{
		{permission.Auto, true, event.Once, "let this command remove or replace large (19.1 MB) and files like it, without a copy for undo", ""},
		{permission.Auto, true, event.No, "let this command remove or replace large (19.1 MB) and files like it, without a copy for undo", "without a copy for undo"},
		{permission.Auto, false, "", "", "no copy can be kept"},
	} {
		r := newRig(t, "auto", llmtest.New(llmtest.Use("bash", command("sh ./clean")), llmtest.Say("done")), keepsRemoved(t, c.mode, kept.Limits{Session: 1 << 20, File: 1 << 20}), func(cfg *session.Config) { cfg.Person = c.person })
		r.Put("clean", "rm large")
		var asked []string
		r.Run("go", r.agree(c.scope, &asked))
		if got := strings.Join(asked, ""); got != c.asked {
			t.Errorf("asked %q", got)
		}
		if there := !strings.HasPrefix(r.File("large"), "error"); there != (c.told != "") {
			t.Errorf("it is there: %v", there)
		}
		for _, d := range find[event.CallDone](r.Log()) {
			if (d.Outcome == event.OK) != (c.told == "") || !strings.Contains(d.Result.Text, c.told) {
				t.Errorf("%s: %s", d.Outcome, d.Result.Text)
			}
		}
		if bs := find[event.Blocked](r.Log()); !c.person && (len(bs) != 1 || !strings.Contains(bs[0].Reason, "kept.session_mb")) {
			t.Errorf("%+v", bs)
		}
	}
}
