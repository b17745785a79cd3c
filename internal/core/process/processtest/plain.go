// Package processtest has a process.Starter for tests of packages that cannot
// import a real one.
package processtest

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// Plain is a process.Starter that confines nothing and cleans up nothing. It
// keeps what it was asked to start. Programs with Pipes are not for it.
type Plain struct {
	mu      sync.Mutex
	Started []process.Program
}

func (s *Plain) Start(ctx context.Context, p process.Program) (process.Process, error) {
	s.mu.Lock()
	s.Started = append(s.Started, p)
	s.mu.Unlock()
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, p.Stdin, p.Stdout, p.Stderr
	if !p.Exact {
		cmd.Env = append(os.Environ(), p.Env...)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return plain{cmd}, nil
}

type plain struct{ cmd *exec.Cmd }

func (plain) In() io.WriteCloser         { return nil }
func (plain) Out() io.ReadCloser         { return nil }
func (p plain) Pid() int                 { return p.cmd.Process.Pid }
func (p plain) Wait() error              { return p.cmd.Wait() }
func (p plain) Kill(time.Duration)       { _ = p.cmd.Process.Kill() }
func (plain) Refused() []process.Refusal { return nil }
