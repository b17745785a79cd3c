package session_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	consent "github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// strict holds each command at what it needs and was not granted; a command that got all of
// it has GRANTED in its environment.
type strict []process.Refusal

func (s strict) Confine(cmd *exec.Cmd, c process.Confine, hold process.Hold) (process.Confined, error) {
	var left []process.Refusal
	for _, r := range s {
		if slices.Contains(c.Writes, filepath.Dir(r.What)) || slices.Contains(c.Hosts, strings.ToLower(r.What)) {
			continue
		}
		if hold != nil {
			ctx, cancel := context.WithCancelCause(context.Background())
			_, answer := hold(ctx, r)
			cancel(nil)
			if answer == process.Allowed {
				continue
			}
		}
		left = append(left, r)
	}
	if len(left) == 0 {
		cmd.Env = append(cmd.Env, "GRANTED=1")
	}
	return strictChild{plainChild{cmd}, left}, cmd.Start()
}

type strictChild struct {
	plainChild
	refused []process.Refusal
}

func (c strictChild) Refused() []process.Refusal { return c.refused }

// askedFor returns what a person is asked, who says yes, about a command that needs this.
func askedFor(t *testing.T, needs strict, line string) (asked []string) {
	t.Helper()
	m := llmtest.New(llmtest.Use("bash", `{"command":`+strconv.Quote(line)+`}`), llmtest.Say("done"))
	r := newRig(t, "ask", m, func(cfg *session.Config) {
		starter := shell.NewStarter(shell.StarterOptions{Confiner: needs})
		sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
		t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
		cfg.Shell, cfg.Person = sh, true
		cfg.Permission = permission.New(permission.Config{Mode: permission.Auto, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
	})
	r.Run("go on", func(e event.Event) {
		if a, ok := e.Body.(event.Asked); ok {
			asked = append(asked, a.Questions[0].Title)
			if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: []event.Verdict{{Call: a.Questions[0].Call, Scope: event.Once}}}); err != nil {
				t.Error(err)
			}
		}
	})
	return asked
}

// SPEC 16.14: what a command removes as a whole is asked about once, also where it looks into
// a folder first; what it only reads beside that is a question of its own.
func TestRemovalIsOneQuestion(t *testing.T) {
	out := must.Dir(t)
	for _, name := range []string{"build/d/x", "other/y"} {
		must.Write(t, filepath.Join(out, name), "")
	}
	needs := strict{{Act: "read", What: out + "/build"}, {Act: "read", What: out + "/build/d"}, {Act: "remove", What: out + "/build/d/x"}, {Act: "remove", What: out + "/build"}, {Act: "read", What: out + "/other/y"}}
	asked := askedFor(t, needs, "rm -rf '"+out+"/build'; cat "+out+"/other/y")
	if want := []string{"let this command change or delete files in " + out, "let this command read " + out + "/other"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// SPEC 16.14: an install for a project elsewhere, as that above the folder, is asked about
// once, for all that it does; other files and hosts are questions of their own.
func TestInstallIsOneQuestion(t *testing.T) {
	out := must.Dir(t)
	must.Write(t, filepath.Join(out, "package.json"), "{}")
	needs := strict{
		{Act: "read", What: out + "/package.json"}, {Act: "host", What: "registry.npmjs.org"}, {Act: "write", What: out + "/node_modules/left-pad/index.js"},
		{Act: "write", What: out + "/package-lock.json"}, {Act: "write", What: out + "/package.json"}, {Act: "host", What: "example.com"}, {Act: "write", What: out + "/other.js"},
	}
	asked := askedFor(t, needs, "npm install left-pad")
	if want := []string{"let this command install packages in " + out + ", from registry.npmjs.org", "let this command connect to example.com", "let this command change or delete files in " + out}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if asked = askedFor(t, needs, "npm run left-pad"); len(asked) != 5 {
		t.Errorf("asked %q", asked)
	}
}

// SPEC 16.14: a command that needs what its grants do not cover waits while the person is
// asked, once for each kind; what they say holds as long as they said, a No is not asked
// again and is told to the model, what nobody should be led to allow is refused without a
// question, and so is everything if nobody is there.
func TestHeldCommandAsks(t *testing.T) {
	outside := must.Dir(t)
	file := filepath.Join(outside, "f")
	needs := strict{{Act: "write", What: file}, {Act: "remove", What: file + "2"}, {Act: "host", What: "Registry.example.org"}}
	write, host := "let this command change or delete files in "+outside, "let this command connect to registry.example.org"
	run := llmtest.Use("bash", `{"command":"sh ./a"}`)
	other := llmtest.Use("bash", `{"command":"sh ./b"}`)
	behind := llmtest.Use("bash", `{"command":"sh ./a","background":true}`)
	ended := func(id string) llmtest.Turn { return llmtest.Use("bash_output", `{"id":"`+id+`","wait":60}`) }
	rules := "edit(" + outside + ")network(registry.example.org)"
	for _, c := range []struct {
		name     string
		headless bool
		needs    strict
		turns    []llmtest.Turn
		answers  []event.Verdict
		asked    []string
		exits    string // of the calls
		last     string // in the last failing call's result
		granted  string
		kept     string
	}{
		{name: "once", turns: []llmtest.Turn{run, run}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.Once}, {Scope: event.Once}, {Scope: event.Once}}, asked: []string{write, host, write, host}, exits: "00"},
		{name: "session", turns: []llmtest.Turn{run, run, other}, answers: []event.Verdict{{Scope: event.Session}, {Scope: event.Session}}, asked: []string{write, host}, exits: "000", granted: rules},
		{name: "always", turns: []llmtest.Turn{run, other}, answers: []event.Verdict{{Scope: event.Always}, {Scope: event.Always}}, asked: []string{write, host}, exits: "00", granted: rules, kept: rules},
		{name: "no holds", turns: []llmtest.Turn{run, run, other}, answers: []event.Verdict{{Scope: event.No}, {Scope: event.No}}, asked: []string{write, host}, exits: "111"},
		{name: "no is told", turns: []llmtest.Turn{run}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.No, Why: "use mine"}}, asked: []string{write, host}, exits: "1", last: "[the user did not allow it to connect to registry.example.org. Do not try it another way; the user says: use mine]"},
		{name: "in the background", turns: []llmtest.Turn{behind, ended("bg1")}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.Once}}, asked: []string{write, host}, exits: "0"},
		{name: "headless", headless: true, turns: []llmtest.Turn{run}, exits: "1", last: "[the sandbox refused: write " + file},
		{name: "never offered", needs: strict{
			{Act: "write", What: "W/.git/hooks/pre-commit"}, {Act: "write", What: "W/.gitmodules"}, {Act: "write", What: "/home/nobody/.ssh/config"}, {Act: "write", What: "/home/nobody/.npmrc"}, {Act: "write", What: "/home/nobody/.bashrc"},
			{Act: "write", What: "/home/nobody"}, {Act: "write", What: "/etc/hosts"}, {Act: "write", What: "/dev/sda"}, {Act: "write", What: "/home/nobody/other/.git/config"}, {Act: "write", What: "/home/nobody/x/CLAUDE.md"}, {Act: "write", What: "/home/nobody/.gitconfig"},
			{Act: "listen", What: "0.0.0.0:80"}, {Act: "connect", What: "169.254.169.254"}, {Act: "host", What: "*.org"},
		}, turns: []llmtest.Turn{run}, exits: "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New(append(slices.Clone(c.turns), llmtest.Say("done"))...)
			var kept []string
			if c.needs == nil {
				c.needs = needs
			}
			r := newRig(t, "ask", m, func(cfg *session.Config) {
				for i := range c.needs {
					c.needs[i].What = strings.Replace(c.needs[i].What, "W/", cfg.Dir+"/", 1)
				}
				starter := shell.NewStarter(shell.StarterOptions{Confiner: c.needs})
				sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
				t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
				for _, name := range []string{"a", "b"} {
					must.Write(t, filepath.Join(cfg.Dir, name), "test -n \"$GRANTED\"")
				}
				cfg.Shell, cfg.Person = sh, !c.headless
				cfg.Tools = append(cfg.Tools, tools.BashOutput())
				cfg.Keep = func(rule string) error { kept = append(kept, rule); return nil }
				cfg.Permission = permission.New(permission.Config{Mode: permission.Auto, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
			})
			var asked []string
			r.Run("run them", onEvent(func(a event.Asked) {
				if len(a.Questions) != 1 || len(asked) >= len(c.answers) {
					t.Fatalf("asked too often: %+v", a)
				}
				q, v := a.Questions[0], c.answers[len(asked)]
				asked = append(asked, q.Title)
				if !q.Always || !strings.HasPrefix(q.Preview, "sh ./") || strings.HasPrefix(q.Reason, "it begins with ") != strings.Contains(q.Title, "files in") {
					t.Errorf("%+v", q)
				}
				v.Call = q.Call
				if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: []event.Verdict{v}}); err != nil {
					t.Error(err)
				}
			}))
			if !slices.Equal(asked, c.asked) {
				t.Errorf("asked %q", asked)
			}
			exits, last := "", ""
			for _, d := range find[event.CallDone](r.Log()) {
				if d.Exit == nil {
					continue
				}
				exits += string(rune('0' + *d.Exit))
				if *d.Exit != 0 {
					last = d.Result.Text
				}
			}
			if exits != c.exits || !strings.Contains(last, c.last) {
				t.Errorf("exits %s, want %s; %q", exits, c.exits, last)
			}
			granted := ""
			for _, g := range find[event.Granted](r.Log()) {
				granted += g.Rule
			}
			if granted != c.granted || strings.Join(kept, "") != c.kept {
				t.Errorf("granted %q, kept %q", granted, kept)
			}
			checkFold(t, stored(t, r.Cfg.Store, r.Cfg.ID))
		})
	}
}

// onceChecked runs one check at the end of a turn, and keeps how it ended.
type onceChecked struct {
	read func(string, int) verify.Reading
	done event.Checked
	over bool
}

func (o *onceChecked) Next(ctx context.Context, t *verify.TurnEnd) (string, error) {
	if o.over {
		return "", nil
	}
	o.over = true
	var err error
	o.done, err = t.Check(ctx, verify.Check{Check: consent.Check{Check: permission.Check{Command: "sh ./a"}}, Name: "a", Timeout: time.Minute, Read: o.read})
	return "", err
}

// rig returns one with a script as the check, of which the sandbox refused something.
func (o *onceChecked) rig(t *testing.T, script string, refused strict, person bool) *rig {
	return newRig(t, "ask", llmtest.New(llmtest.Use("write", `{"path":"x.txt","content":"x"}`), llmtest.Say("done")), func(cfg *session.Config) {
		starter := shell.NewStarter(shell.StarterOptions{Confiner: refused})
		sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
		t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
		must.Write(t, filepath.Join(cfg.Dir, "a"), script)
		cfg.Shell, cfg.Person = sh, person
		cfg.Autofix = func() verify.Verifier { return o }
		cfg.Permission = permission.New(permission.Config{Mode: permission.Auto, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
	})
}

// SPEC 13.3, 16.14: a check waits for the person like a command of the model: after a yes it
// goes on, after a No it fails and says so.
func TestHeldCheckAsks(t *testing.T) {
	outside := must.Dir(t)
	refused := strict{{Act: "write", What: filepath.Join(outside, "f")}}
	for _, c := range []struct {
		name     string
		headless bool
		scope    event.Scope
		asks     int
		exits    string
		told     string
	}{
		{"once", false, event.Once, 1, "0", ""},
		{"session", false, event.Session, 1, "0", ""},
		{"no", false, event.No, 1, "1", "[the sandbox refused the check: write "},
		{"headless", true, "", 0, "1", "[the sandbox refused the check: write "},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := &onceChecked{}
			r := check.rig(t, "test -n \"$GRANTED\"", refused, !c.headless)
			asks := 0
			r.Run("write", onEvent(func(a event.Asked) {
				asks++
				if q := a.Questions[0]; q.Title != "let this command change or delete files in "+outside || q.Title != "let this command "+q.Wants || q.Preview != "sh ./a" {
					t.Errorf("%+v", q)
				}
				if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: []event.Verdict{{Call: a.Questions[0].Call, Scope: c.scope}}}); err != nil {
					t.Error(err)
				}
			}))
			exits := ""
			for _, d := range find[event.Checked](r.Log()) {
				if d.Exit != nil {
					exits += string(rune('0' + *d.Exit))
				}
			}
			if asks != c.asks || exits != c.exits || !strings.Contains(check.done.Output, c.told) {
				t.Errorf("asked %d times, exits %s, %+v", asks, exits, check.done)
			}
		})
	}
}

// SPEC 13.3: a check of which the sandbox let nothing run could not run; a test that failed
// by it did.
func TestCheckThatTheSandboxStops(t *testing.T) {
	for name, c := range map[string]struct {
		failed []event.Failure
		all    int // failures that the output tells of, if more
		unrun  bool
	}{
		"a module cache that is closed": {[]event.Failure{{Unit: "x", Cause: "cannot make /out/f: permission denied"}}, 0, true},
		"a test":                        {[]event.Failure{{Unit: "x", Name: "TestX", Cause: "cannot make /out/f: permission denied"}}, 0, false},
		"something else too":            {[]event.Failure{{Unit: "x", Cause: "cannot make /out/f"}, {Unit: "y", Cause: "no semicolon"}}, 0, false},
		"what is not told apart":        {[]event.Failure{{Unit: "x", Cause: "cannot make /out/f"}}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			check := &onceChecked{read: func(out string, _ int) verify.Reading {
				return verify.Reading{Text: out, Failed: c.failed, Failures: max(len(c.failed), c.all)}
			}}
			r := check.rig(t, "echo no; exit 1", strict{{Act: "write", What: "/out/f"}}, false)
			r.Run("write", func(event.Event) {})
			if d := check.done; d.Unrun != c.unrun || d.Unrun != (d.Why == "it could not run: the sandbox refused: write /out/f") || d.Unrun != (len(d.Failed) == 0) {
				t.Errorf("%+v", d)
			}
		})
	}
}
