//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// seatbelt confines commands by macOS' sandbox-exec, which applies a profile to itself
// and then executes the command. It is not used before it was tested: prove runs
// selfTests in it, and a promise whose test fails is an *Unsupported.
type seatbelt struct {
	program string        // sandbox-exec, by its one path
	self    string        // pawl's own program, which runs the tests
	limit   time.Duration // of one run of the tests
	list    func() ([]processInfo, error)
	// canProtect returns why names in a folder cannot be protected, nil if they can.
	canProtect func(folder string) error
	// selfTests are those of this system beside the common ones.
	selfTests []selfTest

	once   sync.Once
	proven []Proof
}

// proofs returns the results of the tests, which the first call runs.
func (t *seatbelt) proofs() []Proof {
	t.once.Do(func() { t.proven = t.prove() })
	return t.proven
}

// verify returns an error for the first promise that is not kept.
func (t *seatbelt) verify() error {
	for _, p := range t.proofs() {
		if p.Err != nil {
			return &Unsupported{p.Promise, p.Err.Error()}
		}
	}
	return nil
}

// seatbeltBox confines commands by one policy. Commands in it share its temporary
// folder and nothing else.
type seatbeltBox struct {
	seatbelt *seatbelt
	policy   confine.Policy
	temp     string       // "" where nothing may be written
	drop     func() error // removes it
	profile  string
	proxy    *loopbackProxy
}

// open returns a box, after the promises were verified.
func (t *seatbelt) open(p confine.Policy) (*seatbeltBox, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := t.verify(); err != nil {
		return nil, err
	}
	return t.newBox(p)
}

// newBox returns a box in which a command can start.
func (t *seatbelt) newBox(p confine.Policy) (_ *seatbeltBox, err error) {
	b := &seatbeltBox{seatbelt: t, policy: p}
	b.policy.Root, b.policy.Loopback = onDiskPath(p.Root), false
	for _, list := range []*[]string{&b.policy.Granted, &b.policy.Writes, &b.policy.Git, &b.policy.Common, &b.policy.Parts, &b.policy.Lists} {
		out := make([]string, len(*list))
		for i, path := range *list {
			out[i] = onDiskPath(path)
		}
		*list = out
	}
	if err := checkNames(b.policy); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = b.Close()
		}
	}()
	if p.Level >= confine.Workspace {
		for _, folder := range slices.Concat([]string{b.policy.Root}, b.policy.Granted) {
			if err := t.canProtect(folder); err != nil {
				return nil, &Unsupported{"that protected files stay", err.Error()}
			}
		}
		if err := oneLink(b.policy.Root); err != nil {
			return nil, err
		}
		if b.temp, b.drop, err = ownTemp(); err != nil {
			return nil, fmt.Errorf("make the sandbox's temporary folder: %w", err)
		}
		b.policy.Writes = append(b.policy.Writes, b.temp)
	}
	if len(p.Hosts) > 0 {
		if b.proxy, err = openLoopbackProxy(p.Hosts); err != nil {
			return nil, fmt.Errorf("open the sandbox's proxy: %w", err)
		}
		b.policy.Proxy = b.proxy.port()
	}
	b.profile = b.policy.Seatbelt()
	return b, t.checkStart(b)
}

// checkStart returns an error if not even a command that does nothing runs in a box.
func (t *seatbelt) checkStart(b *seatbeltBox) error {
	var said limitedText
	cmd := exec.Command("/bin/sh", "-c", ":")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", []string{"PATH=/usr/bin:/bin"}, &said, &said
	c, err := b.Start(cmd)
	if err == nil {
		stop := time.AfterFunc(t.limit, c.End)
		err = c.Wait()
		if !stop.Stop() {
			err = errors.New("it did not end")
		}
	}
	if err != nil {
		return &Unsupported{"that commands run confined", strings.TrimSpace(fmt.Sprintf("%s: %v %s", t.program, err, said.line()))}
	}
	return nil
}

// checkNames returns an error for a path that a profile may not match.
func checkNames(p confine.Policy) error {
	for _, path := range slices.Concat([]string{p.Root}, p.Lists, p.Parts, p.Reads, p.Writes, p.Granted, p.Opened, p.Git, p.Common) {
		if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' }) {
			return &Unsupported{"that files stay", fmt.Sprintf("the path %q has signs that a profile cannot name", path)}
		}
	}
	return nil
}

// onDiskPath returns a path in the spelling of the disk, with which rules are compared:
// file systems that ignore case open a file by other spellings, too.
func onDiskPath(path string) string {
	path = strings.TrimPrefix(path, "/System/Volumes/Data") // a second name of the root's files
	if path == "" || path == "/" {
		return path
	}
	dir, name := filepath.Split(path)
	dir = onDiskPath(filepath.Clean(dir))
	at := filepath.Join(dir, name)
	st, err := os.Lstat(at)
	if err != nil {
		return at
	}
	entries, err := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name }) {
		return at
	}
	for _, e := range entries {
		if other, err := e.Info(); err == nil && os.SameFile(st, other) {
			return filepath.Join(dir, e.Name())
		}
	}
	return at
}

// Close removes the box's temporary folder. Its commands must have ended.
func (b *seatbeltBox) Close() error {
	err := b.proxy.close()
	if b.temp != "" {
		err = errors.Join(err, b.drop())
	}
	return err
}

// arguments returns the arguments that start a program by sandbox-exec.
func (b *seatbeltBox) arguments(path string, args []string) []string {
	words := []string{b.seatbelt.program, "-p", b.profile, "--", path}
	if len(args) > 1 {
		words = append(words, args[1:]...)
	}
	return words
}

// Start starts a command in the box. Its standard input and output are passed on
// unchecked, so they must be allowed by the policy. Wait must be called.
func (b *seatbeltBox) Start(cmd *exec.Cmd) (*seatbeltChild, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	if _, err := exec.LookPath(path); err != nil { // sandbox-exec's own message would look like the command's
		return nil, err
	}
	closeInheritedFiles()
	c := &seatbeltChild{cmd: cmd, dir: cmd.Dir, policy: b.policy}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = b.proxy.environ(withTemp(cmd.Env, b.temp), c)
	cmd.Path, cmd.Args = b.seatbelt.program, b.arguments(cmd.Path, cmd.Args)
	if cmd.SysProcAttr == nil {
		// On a terminal it stays in the foreground.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !isDevice(cmd.Stdin)}
	}
	c.onEnd = func() { b.proxy.forget(c) }
	if err := cmd.Start(); err != nil {
		c.onEnd()
		return nil, err
	}
	c.processes = newProcessTree(cmd.Process.Pid, b.seatbelt.list)
	go c.watch()
	return c, nil
}

// isDevice reports whether an input may be a terminal.
func isDevice(in any) bool {
	f, ok := in.(*os.File)
	if !ok || f == nil {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// closeInheritedFiles keeps commands from inheriting the files that pawl itself inherited.
// Cmd.ExtraFiles are not affected.
var closeInheritedFiles = sync.OnceFunc(func() {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
})

// seatbeltChild is a confined command.
type seatbeltChild struct {
	cmd       *exec.Cmd
	dir       string
	policy    confine.Policy
	refusals  refusals
	processes *processTree
	onEnd     func()
	end       sync.Once
}

// pollInterval is how often a command's processes are listed, so that those that leave
// their parents and their group are known at its end.
const pollInterval = 50 * time.Millisecond

// watch follows the command's processes, and ends it if they are too many.
func (c *seatbeltChild) watch() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-c.processes.ended:
			return
		case <-tick.C:
		}
		if c.processes.count() > MaxProcesses {
			c.processes.tooMany.Store(true)
			c.End()
			return
		}
	}
}

// Wait waits for the command, ends what it left behind, and returns the error of
// exec.Cmd.Wait.
func (c *seatbeltChild) Wait() error {
	// The process first: what it left may hold the output open.
	state, err := c.cmd.Process.Wait()
	c.End()
	_ = c.cmd.Wait() // the copying of its output; the process is waited for
	c.onEnd()
	switch {
	case c.processes.tooMany.Load():
		return ErrProcesses
	case err != nil:
		return err
	}
	c.cmd.ProcessState = state
	if !state.Success() {
		return &exec.ExitError{ProcessState: state}
	}
	return nil
}

// Refused returns what pawl itself has refused the command so far.
func (c *seatbeltChild) Refused() []process.Refusal { return c.refusals.all() }

// End kills all processes of the command. Wait calls it.
func (c *seatbeltChild) End() {
	c.end.Do(func() {
		close(c.processes.ended)
		_ = c.cmd.Process.Kill() // it may have ended
		c.processes.end()
	})
}

// Explain returns the refusals that the command's own output reports, if the policy
// refuses them.
func (c *seatbeltChild) Explain(output string) []process.Refusal {
	if c.policy.Level < confine.Workspace {
		return nil // at read-only every change is refused
	}
	return refusedChangesIn(c.policy, c.dir, output)
}
