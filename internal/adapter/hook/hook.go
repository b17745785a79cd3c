// Package hook runs hooks: programs of a person or of a trusted folder, at events of a
// session (SPEC 17.3). policy/hook defines the events and the meaning of the answers.
//
// It promises that the hooks of one event run in parallel; that all of them, and all
// processes that they started, are gone when Run returns; that a hanging one is ended at
// its time limit; that a limited part of the output is stored; and that each is confined
// as Options define, or not run. Nothing runs without a call of Run.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// Options are how hooks are run. Start is required.
type Options struct {
	Dir   string // the workspace's real path
	Start process.Starter
	// Elsewhere returns the folder in which a hook starts that does not need the workspace.
	Elsewhere func(confined bool) string
	// Apart are folders through which a person's own hook finds no program, if it is not
	// confined.
	Apart []string
	Own   func(hook.Rule) bool
	// Confine is how a hook is confined.
	Confine func(hook.Rule) process.Confine
	// Changed, if set, returns what changed in the files that a hook runs since a person
	// trusted it, or "". A changed hook is not run.
	Changed func(hook.Rule) string
}

// Hooks are the hooks of a session. They are safe for concurrent use.
type Hooks struct {
	opt   Options
	rules []hook.Rule
}

func New(rules []hook.Rule, o Options) *Hooks { return &Hooks{o, rules} }

// Rules returns all hooks, including those that are not run.
func (h *Hooks) Rules() []hook.Rule { return h.rules }

// Limits of a hook's output, in bytes. maxOut is above the limit of an answer, so that a
// longer answer is noticed.
const (
	maxOut = 1<<20 + 1
	maxErr = 64 << 10
)

// Run runs a hook with input on its standard input.
func (h *Hooks) Run(ctx context.Context, r hook.Rule, input []byte) hook.Ran {
	ran := hook.Ran{Command: r.Command, Closed: r.Closed}
	if h.opt.Changed != nil {
		if why := h.opt.Changed(r); why != "" {
			ran.Failed = why
			return ran
		}
	}
	tooLong := fmt.Errorf("stopped after %s", r.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, tooLong)
	defer cancel()
	stdout, stderr := &kept{most: maxOut}, &kept{most: maxErr}
	sh, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		sh, flag = "cmd", "/c"
	}
	var confine process.Confine
	if h.opt.Confine != nil {
		confine = h.opt.Confine(r)
	}
	dir := h.opt.Dir
	if r.Apart && h.opt.Elsewhere != nil {
		dir = h.opt.Elsewhere(confine.Level != process.Unconfined)
	}
	env := []string{"CLAUDE_PROJECT_DIR=" + h.opt.Dir, "PAWL_PROJECT_DIR=" + h.opt.Dir, process.NoByteCode}
	if r.Root != "" {
		env = append(env, "CLAUDE_PLUGIN_ROOT="+r.Root, "PAWL_PLUGIN_ROOT="+r.Root)
	}
	begun := time.Now()
	prog := process.Program{
		Path: sh, Args: []string{flag, r.Command}, Dir: dir,
		Env: env, Stdin: bytes.NewReader(input), Stdout: stdout, Stderr: stderr, Confine: confine,
	}
	if confine.Level == process.Unconfined && h.opt.Own != nil && h.opt.Own(r) {
		prog.Apart = h.opt.Apart
	}
	p, err := h.opt.Start.Start(ctx, prog)
	if err != nil {
		ran.Failed = "it was not started: " + err.Error()
		return ran
	}
	err = p.Wait()
	p.Kill(0) // processes that the hook left running
	ran.Took = time.Since(begun)
	ran.Out, ran.Cut = stdout.bytes()
	ran.Err, _ = stderr.bytes()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		ran.Failed = context.Cause(ctx).Error()
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it ended, but left a process that held its output
	case errors.As(err, &exit) && exit.Exited():
		ran.Exit = exit.ExitCode()
	default:
		ran.Failed = err.Error()
	}
	return ran
}

// kept stores the first bytes that are written and discards the rest.
type kept struct {
	mu   sync.Mutex
	b    []byte
	most int
	cut  bool
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(p), k.most-len(k.b))
	k.b = append(k.b, p[:n]...)
	k.cut = k.cut || n < len(p)
	return len(p), nil
}

func (k *kept) bytes() ([]byte, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.b), k.cut
}
