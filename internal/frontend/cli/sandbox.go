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
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

func (a *App) sandboxCommand() *cobra.Command {
	var level, dir string
	var writes []string
	c := &cobra.Command{
		Use: "sandbox [flags] -- COMMAND [ARGUMENT...]", Short: "Run a command that the kernel confines",
		Long: `Run a command that can read the system and the workspace, and at the level
workspace change the workspace, but for the files that tools take orders from
(.git/hooks, AGENTS.md and the like). It has no network, and reaches no key, no
other process and none of pawl's own files. Variables that look like a key are
left out of its environment. See doc/sandbox.md.

The exit code is the command's; 125 where it could not be confined, 126 and 127
where it could not be started.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := confine.ParseLevel(level)
			if err != nil {
				return usageError("%w", err)
			}
			return a.sandboxed(c.Context(), l, dir, writes, args)
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&level, "level", "workspace", "read-only or workspace")
	c.Flags().StringVarP(&dir, "dir", "C", "", "the workspace instead of the current folder")
	c.Flags().StringArrayVar(&writes, "allow-write", nil, "a folder outside that may be changed as well (repeatable)")
	return c
}

// unconfined is the exit code of a command that could not be confined.
const unconfined = 125

func (a *App) sandboxed(ctx context.Context, l confine.Level, dir string, writes, args []string) error {
	root, err := a.realDir(&flags{dir: dir})
	if err != nil {
		return err
	}
	policy, env, err := a.confinement(l, root, writes)
	if err != nil {
		return &exitError{code: unconfined, err: err}
	}
	box, err := sandbox.Open(policy)
	if err != nil {
		return &exitError{code: unconfined, err: err}
	}
	defer box.Close()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	cmd.Dir = root
	cmd.Env = append(shell.WithoutSecrets(os.Environ()), env...)
	child, err := box.Start(cmd)
	switch {
	case errors.Is(err, sandbox.ErrMissing):
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

// forward passes signals on to a command, which decides when it ends.
func forward(in <-chan string, to *os.Process) {
	of := map[string]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP}
	for s := range in {
		_ = to.Signal(of[s])
	}
}

// confinement is the policy of a level in a workspace, and the settings that
// its commands need.
func (a *App) confinement(l confine.Level, root string, writes []string) (confine.Policy, []string, error) {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return confine.Policy{}, nil, err
	}
	facts, env, err := sandbox.Place(a.Env, a.Self, root, paths.State, paths.Config)
	if err != nil {
		return confine.Policy{}, nil, err
	}
	policy := confine.New(l, facts)
	for _, w := range writes {
		r, err := realPath(w)
		if err != nil {
			return confine.Policy{}, nil, fault.NewConfiguration("make the folder first", "cannot allow writing %s: %v", w, err)
		}
		st, err := os.Stat(r)
		if err != nil {
			return confine.Policy{}, nil, err
		}
		if err := sandbox.MayGrant(policy, r, st.IsDir()); err != nil {
			return confine.Policy{}, nil, err
		}
		if st.IsDir() {
			policy = policy.Grant(nil, []string{r}, nil)
		} else {
			policy = policy.Grant(nil, nil, []string{r})
		}
	}
	return policy, env, nil
}

// examineSandbox proves the sandbox by trying.
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
		f.is, f.do = strings.Join(gone, "; "), "commands can not be confined here: pawl asks before it runs what it does not know"
	}
	return f
}
