package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
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
		{name: "headless", headless: true, turns: []llmtest.Turn{run}, exits: "1", last: `in the same call]`},
		{name: "the command itself asks, and its next run is part of the yes", mode: permission.Ask4All, turns: []llmtest.Turn{run, run, run}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.Once}, {Scope: event.Once}, {Scope: event.No}}, asks: 2, consents: 2, exits: "101"},
		{name: "a step between", mode: permission.Ask4All, turns: []llmtest.Turn{run, llmtest.Use("read", `{"path":"x"}`), run}, answers: []event.Verdict{{Scope: event.Once}, {Scope: event.Once}, {Scope: event.Once}}, asks: 1, consents: 2, exits: "10"},
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
