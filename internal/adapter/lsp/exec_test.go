package lsp

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// execStarter starts servers as plain processes in a group of their own.
type execStarter struct{}

type execProcess struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err io.Reader
	done     chan struct{}
	end      error
	once     sync.Once
}

func (execStarter) Start(_ context.Context, c Command) (Process, error) {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	or, ow, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	er, ew, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = ow, ew
	err = cmd.Start()
	_, _ = ow.Close(), ew.Close()
	if err != nil {
		_, _ = or.Close(), er.Close()
		return nil, err
	}
	p := &execProcess{cmd: cmd, in: in, out: or, err: er, done: make(chan struct{})}
	go func() { p.end = cmd.Wait(); close(p.done) }()
	return p, nil
}

func (p *execProcess) Stdin() io.WriteCloser { return p.in }
func (p *execProcess) Stdout() io.Reader     { return p.out }
func (p *execProcess) Stderr() io.Reader     { return p.err }
func (p *execProcess) PID() int              { return p.cmd.Process.Pid }
func (p *execProcess) Done() <-chan struct{} { return p.done }
func (p *execProcess) Err() error            { return p.end }
func (p *execProcess) Kill() {
	p.once.Do(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
		_ = p.in.Close()
		_ = p.out.(io.Closer).Close()
		_ = p.err.(io.Closer).Close()
	})
}
