package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// job is one command. One goroutine reads its output, another waits for its end.
type job struct {
	id         string // of background commands
	command    string
	background bool
	*proc      // once it is started
	started    time.Time
	out        func(string)
	mask       func([]byte) []byte
	spill      *spill

	dead    chan struct{} // closed: the first process has ended, and state and took are set
	drained chan struct{} // closed: all its output was read
	done    chan struct{} // closed: both

	state    *os.ProcessState
	took     time.Duration
	timedOut atomic.Bool
	known    atomic.Bool                    // its end was told
	left     atomic.Pointer[[]tool.Running] // what ran at the time limit
	killing  sync.Mutex

	told   *os.File            // where the line tells how its commands ended; nil: it does not
	script *shellsyntax.Script // see telling
	codes  tool.Pipe
	failed []tool.Ended
	checks []tool.Ended
	exit   *int // of the check that the line pipes through filters at its end

	pipe *os.File
	tape *tape
	line []byte // an incomplete line, stored until mask can see all of it
	dec  decoder

	mu      sync.Mutex
	fresh   *tape         // background: output since the last call of Output
	changed chan struct{} // closed at the next output; nil: nobody waits
}

func (j *job) spawn(cmd *exec.Cmd, s *Starter, c process.Confine, hold process.Hold, tell bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if tell {
		if err := j.tells(cmd); err != nil {
			return errors.Join(err, r.Close(), w.Close())
		}
	}
	cmd.Stdout, cmd.Stderr = w, w
	j.proc, err = s.launch(cmd, c, hold)
	_ = w.Close() // the command has its own; now only its processes hold it
	for _, f := range cmd.ExtraFiles {
		_ = f.Close()
	}
	if err != nil {
		_ = r.Close()
		if j.told != nil {
			_ = j.told.Close()
		}
		return err
	}
	j.pipe = r
	go j.read()
	go func() {
		<-j.proc.dead
		j.state, j.took = cmd.ProcessState, time.Since(j.started)
		j.hear()
		// All its output is in the pipe by now. Other processes that hold the pipe open
		// get leftGrace to finish. kill, which waits for dead, may end that sooner.
		_ = r.SetReadDeadline(time.Now().Add(leftGrace))
		close(j.dead)
		<-j.drained
		close(j.done)
	}()
	return nil
}

// buffers are for output. A buffer on the stack of each job's goroutine would be copied
// five times while the stack grows.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

const bufferSize = 32 << 10

// read reads the output until nobody holds the pipe open any more. After the command's
// end and leftGrace, further output of a foreground command is discarded. The pipe stays
// open: closing it would kill processes that the command left running, at their next
// output.
func (j *job) read() {
	hold := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(hold)
	buf := hold[:]
	drained := false
	for {
		n, err := j.pipe.Read(buf)
		if n > 0 && (!drained || j.background) {
			j.take(buf[:n])
		}
		if err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && !drained {
			_ = j.pipe.SetReadDeadline(time.Time{})
			// A pipe holds 64 KB: these contain all output from before the end.
			for got := 0; got < 64<<10; {
				n := readNow(j.pipe, buf)
				if n <= 0 {
					break
				}
				got += n
				j.take(buf[:n])
			}
			drained = true
			j.flush()
			close(j.drained)
			if !j.background {
				j.tape.finish()
				_, _ = io.Copy(io.Discard, j.pipe)
				break
			}
			continue
		}
		break
	}
	_ = j.pipe.Close()
	j.flush()
	j.tape.finish()
	if !drained {
		close(j.drained)
	}
}

// take forwards output, after masking: to the tapes, to waiting callers, and to the
// screen.
func (j *job) take(p []byte) {
	if j.mask != nil {
		j.line = append(j.line, p...)
		end := bytes.LastIndexByte(j.line, '\n') + 1
		if end == 0 && len(j.line) > 64<<10 {
			end = len(j.line)
		}
		p = j.mask(bytes.Clone(j.line[:end]))
		j.line = append(j.line[:0], j.line[end:]...)
	}
	j.emit(p)
}

func (j *job) emit(p []byte) {
	if len(p) == 0 {
		return
	}
	_, _ = j.tape.Write(p)
	j.mu.Lock()
	if j.fresh != nil {
		_, _ = j.fresh.Write(p)
	}
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
	j.mu.Unlock()
	if j.out != nil {
		if s := j.dec.text(p); s != "" {
			j.out(s)
		}
	}
}

// flush forwards an incomplete line or rune at the end of the output.
func (j *job) flush() {
	if len(j.line) > 0 {
		p := j.mask(j.line)
		j.line = nil
		j.emit(p)
	}
	if j.out != nil {
		if s := j.dec.rest(); s != "" {
			j.out(s)
		}
	}
}

func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// kill ends the command and all its processes. It returns when they are gone.
func (j *job) kill(grace time.Duration) {
	j.killing.Lock()
	defer j.killing.Unlock()
	j.proc.kill(grace)
	select {
	case <-j.dead: // and so are all processes that held its output open
		_ = j.pipe.SetReadDeadline(time.Now())
	case <-time.After(time.Second):
	}
	select {
	case <-j.done:
	case <-time.After(time.Second): // a process that even SIGKILL does not end
	}
}

// timeOut ends a command at its time limit.
func (j *job) timeOut() {
	j.timedOut.Store(true)
	left := stillRunning(family{group: j.group, mark: j.mark})
	j.left.Store(&left)
	j.kill(cancelGrace)
}

// abandon stops reading the output of processes that the command left running.
func (j *job) abandon() { _ = j.pipe.SetReadDeadline(time.Now()); _ = j.pipe.Close() }

// await waits under the conditions of Output.
func (j *job) await(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	if wait <= 0 {
		return context.Cause(ctx)
	}
	for {
		j.mu.Lock()
		if j.changed == nil {
			j.changed = make(chan struct{})
		}
		changed, some := j.changed, j.fresh.bytes() > 0
		j.mu.Unlock()
		var quiet <-chan time.Time
		if some {
			quiet = time.After(quietTime)
		}
		select {
		case <-changed:
		case <-quiet:
			return nil
		case <-j.done:
			return nil
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// takeFresh returns what was printed since the last call, and starts a new tape.
func (j *job) takeFresh() *tape {
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.fresh
	j.fresh = newTape(f.limit, nil)
	return f
}

// ran returns a description of the command, with the output in t.
func (j *job) ran(t *tape) tool.Ran {
	r := tool.Ran{Command: j.command, Spill: j.spill.name(), Bytes: t.bytes(), Duration: time.Since(j.started)}
	r.Output, r.Gap = t.text(j.spill)
	r.ReadOnly, r.Refused = j.confine.Level == process.ReadOnly, j.refused()
	if !j.ended() {
		return r
	}
	j.known.Store(true)
	r.Duration, r.TimedOut = j.took, j.timedOut.Load()
	if left := j.left.Load(); left != nil && r.TimedOut {
		r.Running = *left
	}
	r.Failed, r.Checks = j.failed, j.checks
	code, signal := outcome(j.state)
	if j.exit != nil {
		code = *j.exit
	}
	r.Signal = signal
	if signal == "" && !r.TimedOut {
		r.Exit, r.Pipe = &code, j.codes
		if code != 0 && j.confine.Level == process.Workspace && j.confined != nil {
			missed := hostsMissed(r.Output, j.confine.Hosts)
			r.Refused, r.Nameless = append(r.Refused, missed...), len(missed) == 0 && nameless().MatchString(r.Output)
		}
		if e, ok := j.confined.(process.Explainer); ok && code != 0 {
			r.Refused = append(r.Refused, e.Explain(r.Output)...)
		}
	}
	if exit := (*exec.ExitError)(nil); j.confined != nil && j.err != nil && !errors.As(j.err, &exit) {
		r.Stopped = j.err.Error()
	}
	return r
}
