//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/proxy"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Holds: a command can be held at a call that its policy does not cover.
const Holds = true

// Box confines commands by one policy. Commands in it share its temporary
// folder and nothing else.
type Box struct {
	policy  confine.Policy
	temp    string       // "" where nothing may be written
	drop    func() error // removes it
	ruleset int
	filter  []unix.SockFilter
	// heldFilter hands over what opens for reading, too: something may be allowed while
	// a command runs that its Landlock rules do not show.
	heldFilter func() []unix.SockFilter
	names      sync.Mutex
	moves      atomic.Int64 // of folders
	net        network
	out        proxy.Options // how its proxy reaches the network
	opener     *opener       // nil: no rule is about reading
	most       int           // processes and threads of a command
}

// Open makes a box. If the kernel cannot keep the package's promises, the error is a
// *Unsupported.
func Open(p confine.Policy) (*Box, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	v := version()
	if v < minVersion {
		return nil, tooOld(v)
	}
	b := &Box{policy: p, most: MaxProcesses}
	if why := noSockets(); why != nil {
		if len(p.Hosts) > 0 {
			return nil, &Unsupported{"that only the granted hosts are reached", why.Error()}
		}
		b.policy.Loopback = false
	}
	b.filter = compiled(b.policy, false)
	b.heldFilter = sync.OnceValue(func() []unix.SockFilter { return compiled(b.policy, true) })
	if p.Level >= confine.Workspace {
		if err := oneLink(p.Root); err != nil {
			return nil, err
		}
		temp, drop, err := ownTemp()
		if err != nil {
			return nil, fmt.Errorf("make the sandbox's temporary folder: %w", err)
		}
		b.temp, b.drop = temp, drop
		b.net.temp, b.net.sockets = temp, newSockets()
		b.policy.Writes = append(slices.Clone(p.Writes), temp)
	}
	var err error
	if b.ruleset, err = ruleset(b.policy, v); err != nil {
		if b.drop != nil {
			_ = b.drop()
		}
		return nil, fmt.Errorf("make the sandbox's rules: %w", err)
	}
	if b.opener, err = b.newOpener(); err != nil {
		_ = b.Close()
		return nil, err
	}
	// os looks once per process whether it has pidfds, on the thread that asks
	// first: it must not be a confined one.
	_, _ = os.FindProcess(os.Getpid())
	return b, nil
}

// noSockets returns why pawl cannot take over its commands' sockets, nil if it can.
// Docker's default profile refuses the call, and a kernel may not tell who listens.
var noSockets = sync.OnceValue(func() error {
	pid, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	defer unix.Close(pid)
	fd, err := unix.PidfdGetfd(pid, pid, 0)
	if err != nil {
		return fmt.Errorf("pidfd_getfd: %w", err)
	}
	_ = unix.Close(fd)
	if !diagnoses() {
		return errors.New("the kernel has no INET_TCP_DIAG")
	}
	return nil
})

// minVersion of Landlock is the one with scopes for signals and for abstract
// sockets.
const minVersion = 6

// Close removes the box's temporary folder. Its commands have ended.
func (b *Box) Close() error {
	b.opener.close()
	err := errors.Join(unix.Close(b.ruleset), b.net.proxy.close())
	if b.temp != "" {
		err = errors.Join(err, b.drop())
	}
	return err
}

// share makes the servers of another box's commands reachable, and those of this box's
// commands from there.
func (b *Box) share(other *Box) {
	if b.net.sockets != nil && other.net.sockets != nil {
		b.net.sockets = other.net.sockets
	}
}

// outlet opens the box's proxy with its first command. It serves a box without a granted
// host as well: a program that asks it is refused at once and by name, while one that
// cannot look up a name may try again for minutes.
func (b *Box) outlet() error {
	if !b.policy.Loopback {
		return nil
	}
	b.names.Lock()
	defer b.names.Unlock()
	if b.net.proxy != nil {
		return nil
	}
	var err error
	b.net.proxy, err = openOutlet(b.policy.Hosts, b.out)
	return err
}

// environ returns a command's environment: unchanged except for its temporary folder.
func (b *Box) environ(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return withTemp(env, b.temp)
}

// Child is a confined command.
type Child struct {
	cmd    *exec.Cmd
	policy confine.Policy
	do     chan func() // run on the confined thread
	over   chan struct{}
	end    sync.Once
	excess error // why the watch ended it
	watch  *watch
	sup    *supervisor
}

// start starts a command in the box. Its standard input and output are passed on
// unchecked, so they must be allowed by the policy. Wait must be called.
func (b *Box) start(cmd *exec.Cmd, h holding) (*Child, error) {
	c := &Child{cmd: cmd, policy: b.policy, do: make(chan func()), over: make(chan struct{})}
	if err := b.outlet(); err != nil {
		return nil, fmt.Errorf("open the sandbox's proxy: %w", err)
	}
	cmd.Env = b.net.proxy.environ(b.environ(cmd.Env))
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = cmp.Or(cmd.SysProcAttr.Pdeathsig, syscall.SIGKILL)
	if cmd.Stdin == nil || cmd.Stdout == nil || cmd.Stderr == nil {
		// On the confined thread each would be opened by a notified call.
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		defer null.Close()
		cmd.Stdin = cmp.Or[io.Reader](cmd.Stdin, null)
		cmd.Stdout, cmd.Stderr = cmp.Or[io.Writer](cmd.Stdout, null), cmp.Or[io.Writer](cmd.Stderr, null)
	}
	// Whoever started pawl may have left descriptors open. Those that the
	// command is to have (Cmd.ExtraFiles) are made for it alone.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, &Unsupported{"that no descriptor of pawl's is inherited", "close_range: " + err.Error()}
	}
	started := make(chan error, 1)
	h.line = strings.Join(cmd.Args, "\x00") + "\x00"
	onThread(func() { c.run(b, h, started) })
	if err := <-started; err != nil {
		<-c.over
		if c.sup != nil {
			c.sup.stop()
		}
		return nil, err
	}
	scope.confirm()
	// Where it dumps core, a handler of the machine may take it.
	_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	c.watch = c.startWatch(b.most, h.short)
	return c, nil
}

// run is the life of a confined thread: the parent-death signal of the command
// comes when it ends, so it lasts as long as the command.
func (c *Child) run(b *Box, h holding, started chan<- error) {
	defer close(c.over)
	sup, err := restrict(b, h)
	if err == nil {
		c.sup = sup
		err = c.cmd.Start()
	}
	started <- err
	if err != nil {
		return
	}
	for f := range c.do {
		f()
	}
}

// onThread runs f on a thread of its own, which ends with f and is not the main
// one: the runtime does not end that, and it would stay confined for good.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return // without unlocking: the thread ends
		}
		taken := make(chan struct{})
		onThread(func() { close(taken); f() })
		<-taken
		runtime.UnlockOSThread()
	}()
}

// keptCapabilities are what root needs to use files of others in the workspace.
// With more it could look past Landlock (CAP_PERFMON reads the environment of
// any process).
const keptCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID

// restrict limits the calling thread to the rights of a box's policy for good.
func restrict(b *Box, h holding) (*supervisor, error) {
	if err := dropCapabilities(); err != nil {
		return nil, &Unsupported{"that root's privileges are gone", "capset: " + err.Error()}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, &Unsupported{"that no privilege is won", "no_new_privs: " + err.Error()}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(b.ruleset), 0, 0); errno != 0 {
		return nil, &Unsupported{"that files outside cannot be read and written", "landlock_restrict_self: " + errno.Error()}
	}
	if err := scope.try(); err != nil {
		return nil, err
	}
	// Where nothing is told it is only asked whether somebody is left.
	fd, errno := b.load(h.hold != nil, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	switch {
	case errno == unix.EBUSY: // who answers may change files that this thread must not
		return nil, &Unsupported{"that files stay", "this pawl runs in a sandbox whose calls another one answers, and there can be only one"}
	case errno != 0:
		return nil, &Unsupported{"that the network and other processes are out of reach", "seccomp: " + errno.Error()}
	}
	return supervise(fd, b, h)
}

// load puts the box's filter on the calling thread.
func (b *Box) load(held bool, flags uintptr) (fd int, errno unix.Errno) {
	filter := b.filter
	if held {
		filter = b.heldFilter()
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	r, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	return int(r), errno
}

func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	for i := range data {
		keep := uint32(uint64(keptCapabilities) >> (32 * i))
		data[i].Effective &= keep
		data[i].Permitted &= keep
		data[i].Inheritable = 0
	}
	if err := unix.Capset(&head, &data[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// Wait waits for the command, ends what it left behind, and returns the error of
// exec.Cmd.Wait.
func (c *Child) Wait() error {
	// Without reaping: what still runs may hold the output open, for which
	// exec.Cmd.Wait would wait.
	for {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_PID, c.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	c.End()
	err := c.cmd.Wait()
	if c.excess != nil {
		return c.excess
	}
	return err
}

// Refused returns what the command was refused until now, as far as pawl knows.
func (c *Child) Refused() []process.Refusal {
	if c.sup == nil {
		return nil
	}
	return c.sup.refusals.all()
}

// Explain returns the reads that the command was refused according to its own
// output, where the sandbox refuses them: Landlock does not report them.
func (c *Child) Explain(output string) []process.Refusal {
	return refusedReadsIn(c.policy, c.cmd.Dir, output, c.Refused(), readable)
}

// readable reports whether pawl itself may read a file or a folder.
func readable(path string) bool {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false
	}
	return unix.Access(path, unix.R_OK) == nil
}

// End ends all that runs in the sandbox, the command itself too. Wait calls it.
func (c *Child) End() {
	c.end.Do(func() {
		c.watch.stop()
		if c.sup != nil && scope.proven.Load() {
			c.do <- killDomain
			close(c.do)
			<-c.sup.done // no thread has the filter any more
		} else {
			c.sweep()
			close(c.do)
		}
		if c.sup != nil {
			go c.sup.stop() // nobody is left whose calls it would answer
		}
	})
}
