// Package shell runs command lines, each in bash (sh if there is no bash) without
// profile, in its own session and process group, without terminal and without input. It
// implements tool.Shell.
//
// It does not know permissions: the caller must have checked the command.
//
// What is promised, on Linux, macOS and other Unix systems:
//   - A command ends at its timeout, at the end of its context and at Close, with its whole
//     group, within 200 ms: SIGTERM, 60 ms of grace, SIGKILL. Processes that left the group
//     are found too: on Linux as descendants and by a mark that they inherit (mark.go), on
//     macOS as descendants. Not found on macOS are those that left their group and lost
//     their parents.
//   - Run returns when the command itself has ended, even if a process that it left running
//     still holds its output open. That process continues until Close, and its further
//     output is discarded.
//   - When pawl dies without Close (kill -9), a supervisor kills the running commands: a
//     small sh process that reads the end of a pipe. On Linux the first process of each
//     command also gets a parent-death signal.
//   - Output takes limited memory, whatever is printed. A file of mode 0600 has what is left
//     out of the middle.
//   - Commands see an allow-listed environment (env.go).
//
// On Windows it compiles, and kills only the first process.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Errors that callers branch on.
var (
	errClosed   = errors.New("the session has ended: no command can be run")
	errNoJob    = errors.New("no such background command")
	errTooMany  = errors.New("too many background commands are running")
	errNoShell  = errors.New("no shell was found: neither bash nor sh is on PATH")
	errNoFolder = errors.New("the folder does not exist")
)

// Options are the options of a Shell. Only Root is required.
type Options struct {
	// Root is the folder of commands that name no folder.
	Root string
	// SpillDir is the folder for outputs that are over Limit, one file each; it is
	// created when needed. "" means a temporary folder, which Close removes.
	SpillDir string
	// Starter starts the commands. nil means a private one with Env, which Close
	// closes, and which starts nothing that must be confined.
	Starter *Starter
	// Env returns the environment to filter; nil means os.Environ.
	Env func() []string
	// Limit is how many bytes of an output are returned; 0 means 30,000.
	Limit int
	// SpillMax is how many bytes of an output are written to a file; 0 means 256 MB.
	SpillMax int64
	// Timeout applies to commands without one (0: 120 s). MaxTimeout limits the timeout
	// that a command may have (0: 600 s). Neither applies to background commands.
	Timeout, MaxTimeout time.Duration
	// Jobs limits the background commands that run at once; 0 means 32.
	Jobs int
	// Mask hides secrets in output before it is stored or shown (SPEC 16.7). It gets
	// whole lines, so with it a line is shown only when it is complete.
	Mask func([]byte) []byte
}

// Grace between SIGTERM and SIGKILL: short if a person waits for the end of a cancelled
// command (SPEC 10.3), longer if a background command is ended normally.
const (
	cancelGrace = 60 * time.Millisecond
	killGrace   = time.Second
	// leftGrace is how long output is read after a command ended, while a process
	// that it left running holds the output open.
	leftGrace = 100 * time.Millisecond
	// copyGrace is how long a program's output is still copied after its end. It is
	// longer, since the rest is lost, and a busy machine needs time to copy it.
	copyGrace = 2 * time.Second
	// quietTime is how long a background command must be silent before Output returns
	// what was printed during its wait.
	quietTime = 150 * time.Millisecond
)

// Shell runs commands until Close. It is safe for concurrent use.
type Shell struct {
	opt     Options
	starter *Starter
	find    func() (shellPath, error)

	mu     sync.Mutex
	closed bool
	seq    int
	live   map[*job]struct{} // all jobs that may have a process
	jobs   map[string]*job   // background commands, also ended ones
	order  []string          // ids of jobs, oldest first
	temp   string            // the temporary SpillDir, once made
	silent map[string]bool   // hosts for which a command waited in vain
}

var (
	_ tool.Shell = (*Shell)(nil)
	_ tool.Jobs  = (*Shell)(nil)
)

// New returns a Shell. It starts nothing.
func New(o Options) *Shell {
	if o.Limit <= 0 {
		o.Limit = 30_000
	}
	if o.SpillMax <= 0 {
		o.SpillMax = 256 << 20
	}
	if o.Timeout <= 0 {
		o.Timeout = 120 * time.Second
	}
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = 600 * time.Second
	}
	if o.Jobs <= 0 {
		o.Jobs = 32
	}
	s := &Shell{
		opt: o, starter: o.Starter,
		live: map[*job]struct{}{}, jobs: map[string]*job{},
	}
	if s.starter == nil {
		s.starter = NewStarter(StarterOptions{Env: o.Env})
	}
	s.find = sync.OnceValues(s.starter.shell)
	return s
}

// Run runs a command line to its end. For a command that fails, is killed or times out,
// it returns a Ran and no error. An error means that the command could not be started, or
// that ctx ended; then Ran has the output so far.
func (s *Shell) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	if err := context.Cause(ctx); err != nil {
		return tool.Ran{}, err
	}
	ran, again, err := s.run(ctx, c)
	if again {
		c.Confine, c.Hold = process.Free, nil
		ran, _, err = s.run(ctx, c)
	}
	return ran, err
}

// run is Run. again: the person lets the command run again as them, and it was ended.
func (s *Shell) run(ctx context.Context, c tool.Run) (ran tool.Ran, again bool, err error) {
	var limit limit
	person := make(chan struct{})
	c.Hold = limit.around(untilGone(ctx, c.Hold, sync.OnceFunc(func() { close(person) })))
	j, err := s.start(c, false)
	if err != nil {
		return tool.Ran{}, false, err
	}
	most := c.Timeout
	if most <= 0 {
		most = s.opt.Timeout
	}
	over := make(chan struct{})
	limit.begin(min(most, s.opt.MaxTimeout), sync.OnceFunc(func() { close(over) }))
	defer limit.stop()
	var waited *process.Refusal
	for goesOn := true; goesOn; {
		goesOn = false
		select {
		case <-j.done:
		case host := <-s.idles(j, c.Idle, limit.isHeld):
			if waited, goesOn = &host, j.endWaiting(); !goesOn {
				j.kill(cancelGrace)
			}
		case <-ctx.Done():
			j.kill(cancelGrace)
			err = context.Cause(ctx)
		case <-over:
			j.timeOut()
		case <-person:
			j.kill(killGrace)
			again = true
		}
	}
	s.forgetEnded(j)
	ran = j.ran(j.tape)
	ran.Duration, ran.Waited = max(0, ran.Duration-limit.waited()), waited
	return ran, again, err
}

// Start starts a command in the background. The end of ctx does not end the command. A
// Timeout in c does, of any length.
func (s *Shell) Start(ctx context.Context, c tool.Run) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	if err := s.limitJobs(); err != nil {
		return "", err
	}
	var limit limit
	if hold := c.Hold; hold != nil {
		c.Hold = limit.around(func(ctx context.Context, r process.Refusal) (string, process.Answer) {
			r.Done = cmp.Or(r.Done, "it runs in the background")
			return hold(ctx, r)
		})
	}
	j, err := s.start(c, true)
	if err != nil {
		return "", err
	}
	j.known.Store(c.Quiet)
	if c.Timeout > 0 {
		limit.begin(c.Timeout, func() {
			if !j.ended() {
				j.timeOut()
			}
		})
	}
	go func() {
		<-j.done
		limit.stop()
		s.forgetEnded(j)
	}()
	return j.id, nil
}

// limitJobs returns an error if too many background commands run. It forgets the oldest
// ended ones beyond 64.
func (s *Shell) limitJobs() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for _, id := range s.order {
		if !s.jobs[id].ended() {
			running++
		}
	}
	if running >= s.opt.Jobs {
		return fmt.Errorf("%w (%d): end one with bash_kill first", errTooMany, running)
	}
	s.order = slices.DeleteFunc(s.order, func(id string) bool {
		if len(s.jobs) <= 64 || !s.jobs[id].ended() {
			return false
		}
		delete(s.jobs, id)
		return true
	})
	return nil
}

// Output returns what a background command printed since the last call. It returns when
// the command has ended, when the command has printed something and then paused, or after
// wait.
func (s *Shell) Output(ctx context.Context, id string, wait time.Duration) (tool.Ran, error) {
	j, err := s.job(id)
	if err != nil {
		return tool.Ran{}, err
	}
	if err := j.await(ctx, wait); err != nil {
		return tool.Ran{}, err
	}
	return j.ran(j.takeFresh()), nil
}

// Kill ends a background command with its whole group, and returns what it printed since
// the last call. If the command has ended already, that is not an error.
func (s *Shell) Kill(_ context.Context, id string) (tool.Ran, error) {
	j, err := s.job(id)
	if err != nil {
		return tool.Ran{}, err
	}
	s.end(j)
	return j.ran(j.takeFresh()), nil
}

func (s *Shell) end(j *job) {
	j.kill(killGrace)
	s.forgetEnded(j)
}

// POSIX reports whether sh runs the commands because bash is missing. Some lines then
// have another meaning (shellsyntax.Options.POSIX).
func (s *Shell) POSIX() bool {
	sh, err := s.find()
	return err == nil && len(sh.args) == 0
}

// Close kills all running commands and refuses further ones. Spill files remain, unless
// they are in a temporary folder.
func (s *Shell) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	jobs := make([]*job, 0, len(s.live))
	for j := range s.live {
		jobs = append(jobs, j)
	}
	temp := s.temp
	s.mu.Unlock()

	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(func() { j.kill(cancelGrace) })
	}
	wg.Wait()
	if s.opt.Starter == nil {
		_ = s.starter.Close() // has no error
	}
	for _, j := range jobs {
		j.abandon()
	}
	if temp != "" {
		return os.RemoveAll(temp)
	}
	return nil
}

func (s *Shell) job(id string) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j, ok := s.jobs[id]; ok {
		return j, nil
	}
	if len(s.order) == 0 {
		return nil, fmt.Errorf("%w: %q; none was started", errNoJob, id)
	}
	return nil, fmt.Errorf("%w: %q; there are %s", errNoJob, id, strings.Join(s.order, ", "))
}

// start starts c and returns while it runs.
func (s *Shell) start(c tool.Run, background bool) (*job, error) {
	sh, err := s.find()
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(c.Command, 0) {
		return nil, errors.New("the command holds a NUL character, which no shell accepts: leave it out")
	}
	dir := c.Dir
	if dir == "" {
		dir = s.opt.Root
	} else if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.opt.Root, dir)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	s.seq++
	n := s.seq
	s.mu.Unlock()

	j := &job{
		command: c.Command, out: c.Out, mask: s.opt.Mask, background: background,
		started: time.Now(),
		dead:    make(chan struct{}), done: make(chan struct{}), drained: make(chan struct{}),
	}
	j.spill = &spill{max: s.opt.SpillMax, create: func() (*os.File, error) { return s.spillFile(n) }}
	j.tape = newTape(s.opt.Limit, j.spill)
	if background {
		j.id = fmt.Sprintf("bg%d", n)
		j.fresh = newTape(s.opt.Limit, nil)
	}
	line := c.Command
	tell := false
	if sh.bash {
		var traps string
		traps, j.script = telling(line)
		tell, line = traps != "", traps+line
	}
	env := s.starter.environment()
	if c.Apart {
		env = Apart(env, s.starter.opt.Apart)
	}
	cmd := &exec.Cmd{
		Path: sh.path, Args: append([]string{filepath.Base(sh.path)}, append(sh.args, "-c", line)...), Dir: dir,
		Env: slices.Concat(env, s.starter.serving(), []string{"PWD=" + dir}, c.Env),
	}
	if err := j.spawn(cmd, s.starter, c.Confine, c.Hold, tell); err != nil {
		return nil, startError(err, sh.path, dir, len(c.Command))
	}

	s.mu.Lock()
	s.live[j] = struct{}{}
	if background {
		s.jobs[j.id] = j
		s.order = append(s.order, j.id)
	}
	closed := s.closed
	s.mu.Unlock()
	if closed { // Close came in between and has not seen it
		j.kill(0)
		j.abandon()
		return nil, errClosed
	}
	return j, nil
}

// forgetEnded forgets a command that has ended, unless it left processes running. It also
// forgets earlier ones whose processes are gone by now.
func (s *Shell) forgetEnded(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for o := range s.live {
		if (o == j || o.ended()) && !groupAlive(o.group) {
			delete(s.live, o)
			s.starter.forget(o.proc)
		}
	}
}

func (s *Shell) spillFile(n int) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := s.opt.SpillDir
	if dir == "" {
		if s.temp == "" {
			d, err := os.MkdirTemp("", "pawl-output-")
			if err != nil {
				return nil, err
			}
			s.temp = d
		}
		dir = s.temp
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, fmt.Sprintf("command-%d-*.txt", n)) // mode 0600
}

type shellPath struct {
	path string
	args []string
	bash bool
}

func (s *Starter) shell() (shellPath, error) {
	for _, name := range []string{"bash", "/bin/bash", "sh", "/bin/sh"} {
		p, err := s.program(name)
		if err != nil {
			continue
		}
		if strings.HasSuffix(name, "bash") {
			return shellPath{p, []string{"--noprofile", "--norc"}, true}, nil
		}
		return shellPath{path: p}, nil
	}
	return shellPath{}, errNoShell
}

func startError(err error, sh, dir string, size int) error {
	if errors.Is(err, process.ErrUnconfined) || errors.Is(err, errClosed) {
		return err
	}
	if st, e := os.Stat(dir); e != nil {
		if errors.Is(e, os.ErrNotExist) {
			return fmt.Errorf("%w: %s", errNoFolder, dir)
		}
		return fmt.Errorf("run a command in %s: %w", dir, e)
	} else if !st.IsDir() {
		return fmt.Errorf("run a command in %s: it is not a folder", dir)
	}
	if tooLong(err) {
		return fmt.Errorf("the command line is too long for this system (%d bytes): put it into a file and run that", size)
	}
	return fmt.Errorf("start %s in %s: %w", sh, dir, err)
}
