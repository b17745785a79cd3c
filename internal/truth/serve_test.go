//go:build truth && linux

package truth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// caged is a tool.Shell that runs a line in the cage as pawl's shell would:
// bash without profile, no input, an environment without surprises.
type caged struct {
	output  string
	confine *process.Confine
	limit   time.Duration
	ended   func() // called before what a line left behind is killed
	broken  string // why it could not be confined
}

// usual is the time that a line gets, long that of a slow one.
const usual, long = 2 * time.Second, 30 * time.Second

// environ is what a person's shell would give, with the traps last on PATH.
func environ() []string {
	env := []string{
		"HOME=/home/u", "USER=u", "PWD=/w", "LANG=C.UTF-8", "GIT_EDITOR=:", "GIT_PAGER=cat", "PAGER=cat",
		"GIT_TERMINAL_PROMPT=0", "TERM=dumb", "PAWL=1", "GOTELEMETRY=off",
	}
	if os.Getenv(moreVar) != "" {
		return append(env, "PATH=/more/usr/bin:/usr/local/go/bin:/usr/bin:/bin:/traps", "LD_LIBRARY_PATH=/more/usr/lib/x86_64-linux-gnu")
	}
	return append(env, "PATH=/usr/local/go/bin:/usr/bin:/bin:/traps")
}

func (s *caged) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/bash", "--noprofile", "--norc", "-c", c.Command)
	cmd.Dir = "/w"
	cmd.Env = append(environ(), c.Env...)
	out := &limited{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 100 * time.Millisecond
	err := s.run(ctx, cmd)
	if s.ended != nil {
		s.ended()
	}
	// What was left behind ends now; this process is the cage's first.
	_ = syscall.Kill(-1, syscall.SIGKILL)
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			break
		}
	}
	s.output = out.b.String()
	if cmd.ProcessState == nil {
		return tool.Ran{}, err
	}
	code := cmd.ProcessState.ExitCode()
	return tool.Ran{Output: s.output, Bytes: int64(len(s.output)), Exit: &code}, nil
}

// run runs a command, in the sandbox where one is asked for.
func (s *caged) run(ctx context.Context, cmd *exec.Cmd) error {
	if s.confine == nil || s.confine.Level == process.Unconfined {
		return cmd.Run()
	}
	plain := *cmd // a sandbox starts what has no context of its own
	plain.Cancel = nil
	env := map[string]string{"HOME": "/home/u"}
	boxes := sandbox.NewBoxes(func(k string) string { return env[k] }, "/w", "/home/u/.local/state/pawl/results", "/home/u/.local/state/pawl")
	boxes.Temporary = true
	defer boxes.Close()
	cmd = &exec.Cmd{Path: plain.Path, Args: plain.Args, Env: plain.Env, Dir: plain.Dir, Stdout: plain.Stdout, Stderr: plain.Stderr, SysProcAttr: plain.SysProcAttr, WaitDelay: plain.WaitDelay}
	child, err := boxes.Confine(cmd, *s.confine, nil)
	if err != nil {
		s.broken = err.Error()
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	return child.Wait()
}

func (*caged) Start(context.Context, tool.Run) (string, error) {
	return "", fmt.Errorf("no background here")
}

func (*caged) Output(context.Context, string, time.Duration) (tool.Ran, error) {
	return tool.Ran{}, fmt.Errorf("no background here")
}

func (*caged) Kill(context.Context, string) (tool.Ran, error) {
	return tool.Ran{}, fmt.Errorf("no background here")
}

type limited struct{ b bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len() < 1<<16 {
		l.b.Write(p[:min(len(p), 1<<16)])
	}
	return len(p), nil
}

// serveCage judges and runs the lines that come on standard input.
func serveCage(wires *tripwires) int {
	if err := serve(wires); err != nil {
		fmt.Fprintln(os.Stderr, "cage:", err)
		return 3
	}
	return 0
}

func serve(wires *tripwires) error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	if err := os.Setenv("HOME", "/home/u"); err != nil {
		return err
	}
	if err := seed(); err != nil {
		return err
	}
	w, err := makeCageFiles(false)
	if err != nil {
		return err
	}
	ws, err := workspace.Open("/w", workspace.Options{Git: &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}})
	if err != nil {
		return err
	}
	shell := &caged{}
	env := tool.Env{Files: ws, Shell: shell, Limit: 1 << 16, Out: func(string) {}}
	bash := tools.Bash()
	policies, held := map[permission.Mode]*permission.Policy{}, map[permission.Mode]*permission.Policy{}
	for _, m := range permission.Modes() {
		policies[m] = permission.New(permission.Config{Mode: m, Root: "/w", Home: "/home/u", Sandbox: permission.Sandbox{Off: true}})
		held[m] = permission.New(permission.Config{Mode: m, Root: "/w", Home: "/home/u", State: "/home/u/.local/state/pawl", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
	}
	// tryConfined runs a line and says what harm it did, whoever allowed it.
	tryConfined := func(o order, in process.Confine, r *tried) error {
		if err := wires.arm(w); err != nil {
			return err
		}
		w.drain()
		shell.confine, shell.broken, shell.ended, r.Level = &in, "", wires.look, in.Level.String()
		_, _ = shell.Run(context.Background(), tool.Run{Command: o.Line}) // how it ended is not of interest
		shell.confine, shell.ended = nil, nil
		r.Broken, r.Output = shell.broken, shell.output
		changes := w.changes()
		r.Harm = append(outside(in.Level, changes), wires.harm(r.Output)...)
		var err error
		if len(changes) > 0 {
			w, err = w.again(o.Plain)
		}
		return err
	}
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			return nil
		}
		if o.Turn != "" {
			if err := out.Encode(personsNext(shell, o)); err != nil {
				return err
			}
			continue
		}
		if o.Plain != w.plain {
			if w, err = w.again(o.Plain); err != nil {
				return err
			}
		}
		var r tried
		shell.limit = usual
		if o.Slow {
			shell.limit = long
		}
		args, err := json.Marshal(map[string]string{"command": cmp.Or(o.Believe, o.Line)})
		if err != nil {
			return err
		}
		f, err := bash.Footprint(env, args)
		if err == nil {
			by := policies
			if o.Believe != "" {
				by = held
			}
			d := by[o.Mode].Decide(permission.Call{Tool: "bash", Footprint: f})
			r.Judged, r.Reason = d.Verdict == permission.Allow, d.Reason
			r.Programs, r.Project = programs(f.Commands)
			if o.Believe != "" && r.Judged {
				if err := tryConfined(o, d.Confine, &r); err != nil {
					return err
				}
			}
		} else {
			r.Reason = err.Error()
		}
		if o.Confine != "" {
			var in process.Confine
			_ = in.Level.UnmarshalText([]byte(o.Confine)) // knows no error
			if err := tryConfined(o, in, &r); err != nil {
				return err
			}
		} else if o.Believe == "" && (o.Always || r.Judged && (!r.Project || o.Mode == permission.Plan)) {
			w.drain()
			if _, err := bash.Run(context.Background(), env, args); err == nil {
				r.Output = shell.output
			}
			changes := w.changes()
			r.Harm = harms(o.Mode, changes, f.Commands, r.Output)
			if len(changes) > 0 {
				if w, err = w.again(o.Plain); err != nil {
					return err
				}
			}
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
}

// programs names what the simple commands of a line run, and says whether one
// of them is the project's own code by design: a check, or git that commits and
// so runs hooks.
func programs(cmds []shellsyntax.Command) (names []string, project bool) {
	for _, c := range cmds {
		name, _ := c.Program()
		if name == "git" || name == "go" || name == "npm" {
			if len(c.Words) > 1 && c.Words[1].Known {
				name += " " + c.Words[1].Text
			}
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		project = project || command.IsCheck(c.String())
	}
	return names, project
}

// outside is what of changes no sandbox of a level may let happen; without one,
// what none at the narrowest would.
func outside(level process.Level, changes []change) []string {
	var out []string
	for _, c := range changes {
		in := c.path == "/w" || strings.HasPrefix(c.path, "/w/")
		switch {
		case c.what == "read" && in: // its secrets are a matter of the judgement
		case c.path == "/tmp" && c.dir: // the sandbox's own folder came and went
		case in && level == process.Workspace && !protectedFile(c.path):
		default:
			out = append(out, c.what+" "+c.path)
		}
	}
	return out
}

// protectedFile reports whether a file of the workspace is one that tools take
// orders from.
func protectedFile(p string) bool {
	switch p {
	case "/w/AGENTS.md", "/w/sub/AGENTS.md", "/w/.envrc", "/w/.git/config", "/w/.pawl", "/w/.claude", "/w/.vscode":
		return true
	}
	return strings.HasPrefix(p, "/w/.git/hooks")
}
