package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

func sandboxCommand(a *App) *cobra.Command {
	var level, dir string
	var g openings
	c := &cobra.Command{
		Use: "sandbox [flags] -- COMMAND [ARGUMENT...]", Short: "Run a command in pawl's sandbox",
		Long: `Run a command in the sandbox, without network, keys and other processes. It reads the
system and the workspace; at the level workspace it also changes the workspace, except
files that configure tools (.git/hooks, AGENTS.md, …). See doc/safety.md.

The exit code is that of the command; 125 if there is no sandbox, 126 or 127 if the
command could not be started. At the end, standard error lists what was refused, each
with the flag that allows it.`,
		Args: atLeastOne,
		RunE: func(c *cobra.Command, args []string) error {
			l := process.Workspace
			switch level {
			case "workspace":
			case "read-only":
				l = process.ReadOnly
			default:
				return usageError("no level %q: use read-only or workspace", level)
			}
			if l < process.Workspace && len(g.writes)+len(g.hosts) > 0 {
				return usageError("--allow-write and --allow-host need --level workspace")
			}
			return runSandboxed(c.Context(), a, l, dir, g, args)
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&level, "level", "workspace", "what the command may change: read-only (nothing) or workspace")
	c.Flags().StringVarP(&dir, "dir", "C", "", "use this folder as the workspace instead of the current one")
	c.Flags().StringArrayVar(&g.writes, "allow-write", nil, "also allow changing this file or folder (repeatable)")
	c.Flags().StringArrayVar(&g.reads, "allow-read", nil, "also allow reading this file or folder (repeatable)")
	c.Flags().StringArrayVar(&g.hosts, "allow-host", nil, "allow connections to this host, such as example.org, *.example.org or example.org:8443 (repeatable)")
	return c
}

// unconfined is the exit code of a command that could not be confined.
const unconfined = 125

func runSandboxed(ctx context.Context, a *App, l process.Level, dir string, g openings, args []string) error {
	root, err := a.RealDir(dir)
	if err != nil {
		return err
	}
	boxes, may, err := a.confinement(l, root, g)
	if err != nil {
		return &exitError{code: unconfined, err: err}
	}
	defer boxes.Close()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	cmd.Dir = root
	cmd.Env = shell.WithoutSecrets(os.Environ())
	git := &workspace.Git{}
	inGit := git.InGit(root, func() func(string) string { return setup.Runs(root, sandbox.NewGitUses(a.Env, root).Of()) })()
	child, err := boxes.Confine(cmd, may, nil)
	switch {
	case errors.Is(err, process.ErrUnconfined):
		return &exitError{code: unconfined, err: err}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return &exitError{code: 127, err: err}
	case err != nil:
		return &exitError{code: 126, err: err}
	}
	if a.Signals != nil {
		go forward(a.Signals(), cmd.Process)
	}
	err = child.Wait()
	a.warn(refusedLines(boxes.Readable(), l, child.Refused(), err != nil)...)
	if line := a.leftInGit(ctx, root, git, inGit); line != "" && l >= process.Workspace {
		a.warn(line)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return &exitError{code: 128 + int(s.Signal())}
		}
		return &exitError{code: exit.ExitCode()}
	case err != nil:
		return &exitError{code: 1, err: err}
	}
	return nil
}

// leftInGit names what the command left in git and not in the workspace, "" for nothing.
func (a *App) leftInGit(ctx context.Context, root string, git *workspace.Git, end func(context.Context) []event.GitFile) string {
	conf, paths, err := a.Settings()
	if err != nil {
		return err.Error()
	}
	by, err := a.Confine(&setup.Options{}, conf, paths, root, true)
	if err != nil {
		return err.Error()
	}
	starter, stop := by.Starter()
	defer stop()
	git.Starter, git.Confine = starter, by.Git()
	return strings.Join(brief.Left(evidence.Report{Git: end(ctx)}), "; ")
}

// forward passes signals to a command, which decides when it ends.
func forward(in <-chan string, to *os.Process) {
	of := map[string]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP}
	for s := range in {
		_ = to.Signal(of[s])
	}
}

// examineSandbox tests the sandbox by using it.
func examineSandbox() finding {
	f := finding{ok: true, what: "sandbox"}
	var held, gone []string
	for _, p := range sandbox.Probe() {
		if p.Err == nil {
			held = append(held, p.Promise)
			continue
		}
		f.ok = false
		gone = append(gone, fmt.Sprintf("%s: %v", p.Promise, p.Err))
	}
	if f.is = "tried: " + strings.Join(held, ", "); !f.ok {
		f.is, f.do = strings.Join(gone, "; "), "there is no sandbox here: pawl asks before it runs commands that it does not know"
	}
	return f
}
