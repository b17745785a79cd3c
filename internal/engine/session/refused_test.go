package session_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/consent"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// strict refuses each command what it holds that was not granted; a command
// with all of it has GRANTED in its environment.
type strict []process.Refusal

func (s strict) Confine(cmd *exec.Cmd, c process.Confine) (process.Confined, error) {
	var left []process.Refusal
	for _, r := range s {
		if !slices.Contains(c.Writes, r.What) && !slices.Contains(c.Hosts, strings.ToLower(r.What)) {
			left = append(left, r)
		}
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

// SPEC 16.12: what the sandbox refused a command that then failed is one
// question, which names all of it and offers once, the session and always; what
// is said holds as long as was said; a No is not asked again; what nobody should
// be led to allow is never offered; and headless the line is as it was.
func TestRefusalIsOneQuestion(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(outside, "f")
	refused := strict{{Act: "write", What: file}, {Act: "remove", What: file}, {Act: "host", What: "Registry.example.org"}}
	run := llmtest.Use("bash", `{"command":"sh ./a"}`)
	other := llmtest.Use("bash", `{"command":"sh ./b"}`)
	behind := llmtest.Use("bash", `{"command":"sh ./a","background":true}`)
	ended := func(id string) llmtest.Turn { return llmtest.Use("bash_output", `{"id":"`+id+`","wait":60}`) }
	fine := llmtest.Use("bash", `{"command":"sh ./c"}`)
	const all = " host registry.example.org"
	for _, c := range []struct {
		name     string
		mode     permission.Mode
		headless bool
		refused  strict
		turns    []llmtest.Turn
		answers  []event.Verdict
		asks     int    // questions about what was refused
		consents int    // questions whether a command may run
		exits    string // of the calls
		last     string // what the last failing call's result ends with
		granted  string
		kept     string
	}{
		{name: "once", turns: []llmtest.Turn{run, run, run}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.No}}, asks: 2, exits: "101", last: "[the user did not allow it: write " + file + "," + all + ". Do not try it another way]"},
		{name: "once is for its own command", turns: []llmtest.Turn{run, other}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.No, Why: "use mine"}}, asks: 2, exits: "11", last: "they say: use mine]"},
		{name: "session", turns: []llmtest.Turn{run, run, other}, answers: []event.Verdict{{Scope: event.Session}}, asks: 1, exits: "100", granted: "edit(" + file + "), network(registry.example.org)"},
		{name: "always", turns: []llmtest.Turn{run, other}, answers: []event.Verdict{{Scope: event.Always}}, asks: 1, exits: "10", granted: "edit(" + file + "), network(registry.example.org)", kept: "edit(" + file + "), network(registry.example.org)"},
		{name: "no holds", turns: []llmtest.Turn{run, run, other}, answers: []event.Verdict{{Scope: event.No}}, asks: 1, exits: "111"},
		{name: "what ends well asks nothing", turns: []llmtest.Turn{fine}, exits: "0"},
		{name: "headless", headless: true, turns: []llmtest.Turn{run}, exits: "1", last: `name it at the end if it was needed]`},
		{name: "the command itself asks, and its next run is part of the yes", mode: permission.Ask4All, turns: []llmtest.Turn{run, run, run}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.Once}, {Scope: event.Once}, {Scope: event.No}}, asks: 2, consents: 2, exits: "101"},
		{name: "a step between", mode: permission.Ask4All, turns: []llmtest.Turn{run, llmtest.Use("read", `{"path":"x"}`), run}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.Once}, {Scope: event.Once}}, asks: 1, consents: 2, exits: "10"},
		{name: "in the background, once", turns: []llmtest.Turn{behind, ended("bg1"), behind, ended("bg2"), behind, ended("bg3")}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.No}}, asks: 2, exits: "101", last: "Do not try it another way]"},
		{name: "in the background, its end read twice", turns: []llmtest.Turn{behind, ended("bg1"), ended("bg1"), run}, answers: []event.Verdict{{Scope: event.Once}}, asks: 1, exits: "110"},
		{name: "in the background, session", turns: []llmtest.Turn{behind, ended("bg1"), behind, ended("bg2"), run}, answers: []event.Verdict{{Scope: event.Session}}, asks: 1, exits: "100", granted: "edit(" + file + "), network(registry.example.org)"},
		{name: "in the background, no holds", turns: []llmtest.Turn{behind, ended("bg1"), run}, answers: []event.Verdict{{Scope: event.No}}, asks: 1, exits: "11"},
		{name: "in the background, headless", headless: true, turns: []llmtest.Turn{behind, ended("bg1")}, exits: "1", last: `name it at the end if it was needed]`},
		{name: "never offered", refused: strict{
			{Act: "write", What: "W/.git/hooks/pre-commit"}, {Act: "write", What: "W/AGENTS.md"}, {Act: "write", What: "/home/nobody/.ssh/config"}, {Act: "write", What: "/home/nobody/.npmrc"}, {Act: "write", What: "/home/nobody/.bashrc"},
			{Act: "write", What: "/home/nobody"}, {Act: "write", What: "/etc/hosts"}, {Act: "write", What: "/dev/sda"}, {Act: "write", What: "/home/nobody/other/.git/config"}, {Act: "write", What: "/home/nobody/x/CLAUDE.md"}, {Act: "write", What: "/home/nobody/.gitconfig"},
			{Act: "connect", What: "93.184.216.34:443"}, {Act: "listen", What: "0.0.0.0:80"}, {Act: "host", What: "10.0.0.1"}, {Act: "host", What: "localhost"}, {Act: "host", What: "*.org"},
		}, turns: []llmtest.Turn{run}, exits: "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New(append(slices.Clone(c.turns), llmtest.Say("done"))...)
			var kept []string
			if c.mode == "" {
				c.mode = permission.Auto
			}
			if c.refused == nil {
				c.refused = refused
			}
			r := newRig(t, "ask", m, func(cfg *session.Config) {
				for i := range c.refused {
					c.refused[i].What = strings.Replace(c.refused[i].What, "W/", cfg.Dir+"/", 1)
				}
				starter := shell.NewStarter(shell.StarterOptions{Confiner: c.refused})
				sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
				t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
				for name, script := range map[string]string{"a": "test -n \"$GRANTED\"", "b": "test -n \"$GRANTED\"", "c": "true"} {
					if err := os.WriteFile(filepath.Join(cfg.Dir, name), []byte(script), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				cfg.Shell, cfg.Person = sh, !c.headless
				cfg.Tools = append(cfg.Tools, tools.BashOutput())
				cfg.Keep = func(rule string) error { kept = append(kept, rule); return nil }
				cfg.Permission = permission.New(permission.Config{Mode: c.mode, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
			})
			asks, consents := 0, 0
			r.run("run them", func(e event.Event) {
				a, ok := e.Body.(event.Asked)
				if !ok {
					return
				}
				if len(a.Questions) != 1 || asks+consents >= len(c.answers) {
					t.Fatalf("asked too often: %+v", a)
				}
				q, v := a.Questions[0], c.answers[asks+consents]
				if strings.HasPrefix(q.Title, "let it ") {
					asks++
					if want := "let it write " + file + "," + all; q.Title != want || !q.Always || !strings.HasPrefix(q.Preview, "sh ./") {
						t.Errorf("%+v", q)
					}
				} else {
					consents++
				}
				v.Call = q.Call
				if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: []event.Verdict{v}}); err != nil {
					t.Error(err)
				}
			})
			if asks != c.asks || consents != c.consents {
				t.Errorf("asked %d and %d times", asks, consents)
			}
			exits, last := "", ""
			for _, d := range find[event.CallDone](r.log()) {
				if d.Exit == nil {
					continue
				}
				exits += string(rune('0' + *d.Exit))
				if *d.Exit != 0 {
					last = d.Result.Text
				}
			}
			if exits != c.exits || !strings.HasSuffix(last, c.last) {
				t.Errorf("exits %s, want %s; %q", exits, c.exits, last)
			}
			granted := ""
			for _, g := range find[event.Granted](r.log()) {
				granted += g.Rule
			}
			if granted != c.granted || strings.Join(kept, "") != c.kept {
				t.Errorf("granted %q, kept %q", granted, kept)
			}
			checkFold(t, stored(t, r.cfg.Store, r.cfg.ID))
		})
	}
}

// onceChecked runs one check at the end of a turn, and keeps how it ended.
type onceChecked struct {
	done event.Checked
	over bool
}

func (o *onceChecked) Next(ctx context.Context, t *verify.TurnEnd) (string, error) {
	if o.over {
		return "", nil
	}
	o.over = true
	var err error
	o.done, err = t.Check(ctx, verify.Check{Check: consent.Check{Command: "sh ./a"}, Name: "a", Timeout: time.Minute})
	return "", err
}

// SPEC 13.3, 16.12: what the sandbox refused a check is the same one question;
// after a yes pawl runs the check again, once, and after a No it stays failed.
func TestRefusalOfACheckIsOneQuestion(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	refused := strict{{Act: "write", What: filepath.Join(outside, "f")}}
	for _, c := range []struct {
		name     string
		headless bool
		scope    event.Scope
		asks     int
		exits    string
		told     string
	}{
		{"once", false, event.Once, 1, "10", ""},
		{"session", false, event.Session, 1, "10", ""},
		{"no", false, event.No, 1, "1", "[the user did not allow it: write "},
		{"headless", true, "", 0, "1", "[the sandbox refused the check: write "},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := &onceChecked{}
			r := newRig(t, "ask", llmtest.New(llmtest.Use("write", `{"path":"x.txt","content":"x"}`), llmtest.Say("done")), func(cfg *session.Config) {
				starter := shell.NewStarter(shell.StarterOptions{Confiner: refused})
				sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
				t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
				if err := os.WriteFile(filepath.Join(cfg.Dir, "a"), []byte("test -n \"$GRANTED\""), 0o600); err != nil {
					t.Fatal(err)
				}
				cfg.Shell, cfg.Person = sh, !c.headless
				cfg.Autofix = func() verify.Verifier { return check }
				cfg.Permission = permission.New(permission.Config{Mode: permission.Auto, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
			})
			asks := 0
			r.run("write", func(e event.Event) {
				a, ok := e.Body.(event.Asked)
				if !ok {
					return
				}
				asks++
				if q := a.Questions[0]; q.Title != "let it write "+filepath.Join(outside, "f") || q.Preview != "sh ./a" {
					t.Errorf("%+v", q)
				}
				if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: []event.Verdict{{Call: a.Questions[0].Call, Scope: c.scope}}}); err != nil {
					t.Error(err)
				}
			})
			exits := ""
			for _, d := range find[event.Checked](r.log()) {
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
