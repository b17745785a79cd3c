package session_test

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// meeting are commands that meet these things one after the other while they run, and wait.
// One that is refused any of them ends.
type meeting []process.Refusal

func (m meeting) Confine(cmd *exec.Cmd, _ process.Confine, hold process.Hold) (process.Confined, error) {
	cmd.Env = append(cmd.Env, "CONFINED=1")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ctx, ended := context.WithCancelCause(context.Background())
	go func() {
		for _, r := range m {
			if _, a := hold(ctx, r); a != process.Allowed {
				break
			}
		}
		if ctx.Err() == nil {
			_ = cmd.Process.Kill()
		}
	}()
	return met{plainChild{cmd}, ended}, nil
}

// stillRuns is a meeting that notes each refusal which reaches a command that still runs.
type stillRuns struct{ refused chan process.Refusal }

func (s stillRuns) Confine(cmd *exec.Cmd, _ process.Confine, hold process.Hold) (process.Confined, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ctx, ended := context.WithCancelCause(context.Background())
	go func() {
		defer close(s.refused)
		r := process.Refusal{Act: "write", What: "/nowhere/f"}
		if _, a := hold(ctx, r); a != process.Allowed && ctx.Err() == nil {
			s.refused <- r
		}
	}()
	return met{plainChild{cmd}, ended}, nil
}

// SPEC 10.3, 16.14: what waits behind a question when the turn is interrupted is ended where it
// stands. A refusal would let the rest of its line run.
func TestInterruptedAtAQuestion(t *testing.T) {
	s := stillRuns{make(chan process.Refusal, 1)}
	r := newRig(t, "ask", llmtest.New(llmtest.Use("bash", `{"command":"sleep 1000"}`)), func(cfg *session.Config) {
		starter := shell.NewStarter(shell.StarterOptions{Confiner: s})
		sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
		t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
		cfg.Shell, cfg.Person = sh, true
		cfg.Permission = permission.New(permission.Config{Mode: permission.Auto, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
	})
	log := r.Run("go", onEvent(func(event.Asked) {
		if _, err := r.Submit(t.Context(), session.Interrupt{By: event.InterruptedByPerson}); err != nil {
			t.Error(err)
		}
	}))
	if len(find[event.Asked](log)) != 1 || len(find[event.Interrupted](log)) != 1 {
		t.Errorf("%+v", log)
	}
	if got, refused := <-s.refused; refused {
		t.Errorf("%s was refused while the command ran", got)
	}
}

type met struct {
	plainChild
	ended context.CancelCauseFunc
}

func (m met) Wait() error {
	defer m.ended(process.ErrWithdrawn)
	return m.plainChild.Wait()
}

// SPEC 16.12, 16.14: a command that needs who the person is gets no key: after one question
// it is ended and runs again as them, if it has changed nothing yet. Else, and where nobody
// is there, the model is told what to do.
func TestHeldForThePerson(t *testing.T) {
	const key, title = "/home/nobody/.ssh/id_ed25519", "let this command run as you, outside the sandbox"
	run := llmtest.Use("bash", `{"command":"sh ./a"}`)
	behind := llmtest.Use("bash", `{"command":"sh ./a","background":true}`)
	keys := meeting{{Act: "read", What: key}, {Act: "connect", What: "/tmp/agent"}, {Act: "read", What: key + ".pub"}}
	for _, c := range []struct {
		name     string
		headless bool
		deny     string
		needs    meeting
		turns    []llmtest.Turn
		answers  []event.Scope
		exits    string // of the calls; - for one that was killed
		last     string
	}{
		{name: "a key", needs: keys, turns: []llmtest.Turn{run, run}, answers: []event.Scope{event.Once, event.Once}, exits: "00"},
		{name: "reading", needs: keys, turns: []llmtest.Turn{llmtest.Use("bash", `{"command":"cat a; sleep 0; ! ls nowhere; test -z \"$CONFINED\" || sleep 1000"}`)}, answers: []event.Scope{event.Session}, exits: "0"},
		{name: "an agent", needs: meeting{{Act: "connect", What: "/tmp/ssh-x/agent.7", Program: "ssh"}}, turns: []llmtest.Turn{run}, answers: []event.Scope{event.Once}, exits: "0"},
		{name: "a container engine", needs: meeting{{Act: "connect", What: "/run/docker.sock"}}, turns: []llmtest.Turn{run}, answers: []event.Scope{event.Once}, exits: "0"},
		{name: "gh", needs: meeting{{Act: "read", What: "/home/nobody/.config/gh/hosts.yml"}}, turns: []llmtest.Turn{run}, answers: []event.Scope{event.Once}, exits: "0"},
		{name: "for the session", needs: keys, turns: []llmtest.Turn{run, run}, answers: []event.Scope{event.Session}, exits: "00"},
		{name: "no", needs: keys, turns: []llmtest.Turn{run, run}, answers: []event.Scope{event.No, event.No}, exits: "--", last: "[the user did not allow it to run as you"},
		{name: "after a change", needs: meeting{{Act: "read", What: key, Done: "it changed W/x"}}, turns: []llmtest.Turn{run}, exits: "-", last: `it cannot be begun again: it changed W/x. Call the part that failed by itself, with "needs": ["unconfined"]`},
		{name: "in the background", needs: keys, turns: []llmtest.Turn{behind, llmtest.Use("bash_output", `{"id":"bg1","wait":60}`)}, exits: "-"},
		{name: "headless", headless: true, needs: keys, turns: []llmtest.Turn{run}, exits: "-", last: "nobody is here to allow it, a run with --allow 'unconfined(sh ./a)' may do it"},
		{name: "headless, another repository", headless: true, needs: meeting{{Act: "git", What: "/home/nobody/src/x.git"}}, turns: []llmtest.Turn{run}, exits: "-", last: "[it needs to use the git repository /home/nobody/src/x.git; nobody is here to allow it, a run with --allow 'unconfined(sh ./a)' may do it]"},
		{name: "a rule forbids it", deny: "unconfined", needs: keys, turns: []llmtest.Turn{run}, exits: "-", last: "the rule unconfined denies it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, "ask", llmtest.New(append(slices.Clone(c.turns), llmtest.Say("done"))...), func(cfg *session.Config) {
				starter := shell.NewStarter(shell.StarterOptions{Confiner: c.needs})
				sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
				t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
				must.Write(t, filepath.Join(cfg.Dir, "a"), "test -z \"$CONFINED\" || exec sleep 1000")
				cfg.Shell, cfg.Person = sh, !c.headless
				cfg.Tools = append(cfg.Tools, tools.BashOutput())
				cfg.Permission = permission.New(permission.Config{Mode: permission.Auto, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
				if c.deny != "" {
					must.Do(t, cfg.Permission.Add(permission.User, nil, nil, []string{c.deny}))
				}
			})
			asked := 0
			r.Run("run them", onEvent(func(a event.Asked) {
				if len(a.Questions) != 1 || asked >= len(c.answers) {
					t.Fatalf("asked too often: %+v", a)
				}
				q := a.Questions[0]
				if q.Title != title || q.Reason != cmp.Or(c.needs[0].Program, "it")+" needs "+c.needs[0].What+", with which it acts as you; the command starts again, and has changed no file yet" || (q.Pattern == "") != (c.name == "reading") {
					t.Errorf("%+v", q)
				}
				asked++
				if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: []event.Verdict{{Call: q.Call, Scope: c.answers[asked-1]}}}); err != nil {
					t.Error(err)
				}
			}))
			exits, last := "", ""
			for _, d := range find[event.CallDone](r.Log()) {
				switch {
				case d.Note == "started bg1":
				case d.Exit == nil:
					exits += "-"
					last = d.Result.Text
				default:
					exits += string(rune('0' + *d.Exit))
				}
				if d.Untouched { // no sandbox saw what it did as the person
					t.Errorf("%s counts as seen to change nothing", d.Command)
				}
			}
			if asked != len(c.answers) || exits != c.exits || !strings.Contains(last, c.last) {
				t.Errorf("asked %d times, exits %s, want %s; %q", asked, exits, c.exits, last)
			}
			checkFold(t, stored(t, r.Cfg.Store, r.Cfg.ID))
		})
	}
}
