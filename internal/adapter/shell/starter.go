package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// StarterOptions are the options of a Starter. With the zero value only unconfined
// processes can be started.
type StarterOptions struct {
	// Env returns the environment to filter; nil means os.Environ.
	Env func() []string
	// Allow lists variables that pass in addition to the usual ones.
	Allow []string
	// Apart are folders through which pawl finds no program that it starts by its bare name,
	// such as git and the shell: others write there (SPEC 16.16).
	Apart []string
	// Confiner confines processes. With nil, those that must be confined are not started.
	Confiner process.Confiner
}

// Starter starts every process of a session until Close. It implements process.Starter,
// and a Shell starts its commands with it. It is safe for concurrent use.
type Starter struct {
	opt  StarterOptions
	mark mark // of all processes
	sup  *supervisor

	mu     sync.Mutex
	closed bool
	seq    int
	env    []string // pawl's environment when passed was computed
	passed []string // the part of it that processes see
	ghosts bool     // a started process can leave unconfined processes running
	live   map[*proc]struct{}
}

var _ process.Starter = (*Starter)(nil)

// NewStarter returns a Starter. It starts nothing.
func NewStarter(o StarterOptions) *Starter {
	if o.Env == nil {
		o.Env = os.Environ
	}
	s := &Starter{opt: o, mark: newMark(), live: map[*proc]struct{}{}}
	s.sup = newSupervisor(s.mark)
	return s
}

// proc is a process group that was started.
type proc struct {
	cmd      *exec.Cmd
	mark     mark
	group    int // the process id of its first process, too
	confine  process.Confine
	confined process.Confined // nil: it is not confined
	dead     chan struct{}    // closed: the first process has ended; then err is set
	err      error
	gone     atomic.Bool // ended with its whole group, whose number may be in use again
}

// launch completes the environment of cmd and starts it, confined or not. hold is as in
// process.Confiner.
func (s *Starter) launch(cmd *exec.Cmd, c process.Confine, hold process.Hold) (*proc, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	s.seq++
	p := &proc{cmd: cmd, mark: s.mark.of(s.seq), confine: c, dead: make(chan struct{})}
	s.ghosts = s.ghosts || c.Level == process.Unconfined
	s.mu.Unlock()

	cmd.Env = append(cmd.Env, p.mark.env)
	if c.Level == process.Unconfined {
		if err := p.free(); err != nil {
			return nil, err
		}
	} else if err := s.confine(p, c, hold); err != nil {
		return nil, err
	}
	p.group = cmd.Process.Pid
	s.sup.add(p.group)
	return p, nil
}

// free starts a process that is not confined. The thread that starts it also waits for
// it: Linux ends a process with the thread that forked it.
func (p *proc) free() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := begin(p.cmd, p.mark)
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.dead)
		}
	}()
	return <-started
}

// confine starts a process that the kernel confines. If that fails, nothing is started.
func (s *Starter) confine(p *proc, c process.Confine, hold process.Hold) (err error) {
	if s.opt.Confiner == nil {
		return fmt.Errorf("%w: this pawl has no sandbox", process.ErrUnconfined)
	}
	detach(p.cmd)
	if p.confined, err = s.opt.Confiner.Confine(p.cmd, c, hold); err != nil {
		return err
	}
	// The sandbox finds and ends confined processes. The mark is for the time after a
	// kill -9 of pawl; a shell has not forked anything yet.
	brand(p.cmd.Process.Pid, p.mark)
	go func() {
		p.err = p.confined.Wait()
		close(p.dead)
	}()
	return nil
}

// forget removes a process from the supervisor's list.
func (s *Starter) forget(p *proc) {
	p.gone.Store(true)
	s.sup.remove(p.group)
}

// kill ends a process and all its descendants.
func (p *proc) kill(grace time.Duration) {
	f := family{group: p.group, mark: p.mark}
	if p.gone.Load() {
		f.group = 0
	}
	end(f, grace, p.dead)
	select {
	case <-p.dead:
	case <-time.After(time.Second): // a process that even SIGKILL does not end
	}
}

func (s *Starter) Start(ctx context.Context, prog process.Program) (process.Process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := &running{s: s}
	cmd, err := r.command(prog)
	if err != nil {
		return nil, err
	}
	r.proc, err = s.launch(cmd, prog.Confine, nil)
	r.started(err == nil)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", prog.Path, err)
	}
	s.mu.Lock()
	s.live[r.proc] = struct{}{}
	closed := s.closed
	s.mu.Unlock()
	if closed { // Close came in between and has not seen it
		r.Kill(0)
		return nil, errClosed
	}
	stop := context.AfterFunc(ctx, func() { r.Kill(cancelGrace) })
	go func() {
		<-r.dead
		stop()
		s.mu.Lock()
		delete(s.live, r.proc)
		s.mu.Unlock()
		s.forget(r.proc)
	}()
	return r, nil
}

// running is a process.Process.
type running struct {
	*proc
	s      *Starter
	in     *os.File // with Program.Pipes
	out    *os.File
	theirs []*os.File // the program's ends of the pipes
}

func (r *running) command(p process.Program) (*exec.Cmd, error) {
	var env []string
	if !p.Exact {
		env = r.s.environment()
	}
	path := p.Path
	if len(p.Apart) > 0 {
		apart := slices.Concat(p.Apart, r.s.opt.Apart) // a worker's tree, and where the person is
		env = Apart(env, apart)
		found, err := findApart(path, append(slices.Clone(env), p.Env...), apart)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", p.Path, err)
		}
		path = found
	} else if !strings.ContainsRune(path, filepath.Separator) {
		found, err := r.s.program(path)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", p.Path, err)
		}
		path = found
	}
	cmd := &exec.Cmd{
		Path: path, Args: append([]string{p.Path}, p.Args...), Dir: p.Dir,
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, WaitDelay: copyGrace,
	}
	if !p.Exact && p.Dir != "" {
		env = append(env, "PWD="+p.Dir)
	}
	given := p.Env
	if p.Exact && p.Confine.Level == process.Unconfined { // pawl's own git looks for programs, too
		given = slices.Clone(given)
		for i, kv := range given {
			if strings.HasPrefix(kv, "PATH=") {
				given[i] = strings.Join(append(Apart([]string{kv}, r.s.opt.Apart), "PATH=")[:1], "")
			}
		}
	}
	cmd.Env = append(env, given...)
	if !p.Pipes {
		return cmd, nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.in, r.theirs = write, append(r.theirs, read)
	cmd.Stdin = read
	if read, write, err = os.Pipe(); err != nil {
		r.started(false)
		return nil, err
	}
	r.out, r.theirs = read, append(r.theirs, write)
	cmd.Stdout = write
	return cmd, nil
}

// program finds a program that pawl starts by its bare name.
func (s *Starter) program(name string) (string, error) { return Find(name, s.opt.Env(), s.opt.Apart) }

// started closes the program's ends of the pipes, and also ours if the start failed.
func (r *running) started(ok bool) {
	for _, f := range r.theirs {
		_ = f.Close()
	}
	if ok {
		return
	}
	for _, f := range []*os.File{r.in, r.out} {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (r *running) In() io.WriteCloser { return r.in }
func (r *running) Out() io.ReadCloser { return r.out }
func (r *running) Pid() int           { return r.group }

func (r *running) Wait() error {
	<-r.dead
	return r.err
}

func (r *running) Kill(grace time.Duration) { r.kill(grace) }

func (r *running) Refused() []process.Refusal { return r.proc.refused() }

func (p *proc) refused() []process.Refusal {
	if p.confined == nil {
		return nil
	}
	return p.confined.Refused()
}

// Close kills all running processes and refuses further ones.
func (s *Starter) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	var live []*proc
	for p := range s.live {
		live = append(live, p)
	}
	ghosts := s.ghosts
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range live {
		wg.Go(func() { p.kill(cancelGrace) })
	}
	wg.Wait()
	if ghosts {
		// Processes that escaped the end of their own command still have the mark.
		end(family{mark: s.mark}, 0, nil)
	}
	s.sup.close()
	return nil
}
