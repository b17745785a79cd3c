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

// belt confines commands by macOS' sandbox-exec, which puts a profile on itself
// (Seatbelt) and becomes the command. Nothing relies on it before it was tried:
// prove makes attempts in it, and what one of them achieves is a *Lack.
type belt struct {
	program string        // sandbox-exec, by its one path
	self    string        // pawl's own program, which makes the attempts
	limit   time.Duration // of one run of attempts
	list    func() ([]kin, error)
	// keeps returns why protected names cannot be kept in a folder, nil if they
	// can.
	keeps func(folder string) error
	// own are attempts of this system beside the common ones.
	own []tryOut

	once   sync.Once
	proven []Proof
}

// proofs are what the attempts showed, made with the first call.
func (t *belt) proofs() []Proof {
	t.once.Do(func() { t.proven = t.prove() })
	return t.proven
}

// holds returns the first promise that is not kept.
func (t *belt) holds() error {
	for _, p := range t.proofs() {
		if p.Err != nil {
			return &Lack{p.Promise, p.Err.Error()}
		}
	}
	return nil
}

// beltBox confines commands by one policy. Commands in it share its temporary
// folder and nothing else.
type beltBox struct {
	t       *belt
	policy  confine.Policy
	temp    string // "" where nothing may be written
	profile string
	out     *beltOutlet
}

// open makes a box, whose promises were tried before.
func (t *belt) open(p confine.Policy) (*beltBox, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := t.holds(); err != nil {
		return nil, err
	}
	return t.box(p)
}

// box makes a box, and tries that a command starts in it.
func (t *belt) box(p confine.Policy) (_ *beltBox, err error) {
	b := &beltBox{t: t, policy: p}
	b.policy.Root, b.policy.Loopback = spelled(p.Root), false
	for _, list := range []*[]string{&b.policy.Granted, &b.policy.Writes, &b.policy.Git, &b.policy.Common, &b.policy.Parts, &b.policy.Lists} {
		out := make([]string, len(*list))
		for i, path := range *list {
			out[i] = spelled(path)
		}
		*list = out
	}
	if err := sayable(b.policy); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = b.Close()
		}
	}()
	if p.Level >= confine.Workspace {
		for _, folder := range slices.Concat([]string{b.policy.Root}, b.policy.Granted) {
			if err := t.keeps(folder); err != nil {
				return nil, &Lack{"that protected files stay", err.Error()}
			}
		}
		if err := oneLink(b.policy.Root); err != nil {
			return nil, err
		}
		if b.temp, err = ownTemp(); err != nil {
			return nil, fmt.Errorf("make the sandbox's temporary folder: %w", err)
		}
		b.policy.Writes = append(b.policy.Writes, b.temp)
	}
	if p.Level >= confine.Hosts && len(p.Hosts) > 0 {
		if b.out, err = openBeltOutlet(p.Hosts); err != nil {
			return nil, fmt.Errorf("open the sandbox's proxy: %w", err)
		}
		b.policy.Proxy = b.out.port()
	}
	b.profile = b.policy.Seatbelt()
	return b, t.starts(b)
}

// starts runs a command that does nothing.
func (t *belt) starts(b *beltBox) error {
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
		return &Lack{"that commands run confined", strings.TrimSpace(fmt.Sprintf("%s: %v %s", t.program, err, said.line()))}
	}
	return nil
}

// sayable returns an error for a path that a profile cannot name for certain.
func sayable(p confine.Policy) error {
	for _, path := range slices.Concat([]string{p.Root}, p.Lists, p.Parts, p.Reads, p.Writes, p.Granted, p.Opened, p.Git, p.Common) {
		if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' }) {
			return &Lack{"that files stay", fmt.Sprintf("the path %q has signs that a profile cannot name", path)}
		}
	}
	return nil
}

// spelled returns a path as the disk spells it, since rules are compared with
// that: file systems that ignore case open it by other spellings, too.
func spelled(path string) string {
	path = strings.TrimPrefix(path, "/System/Volumes/Data") // where all is, under a second name
	if path == "" || path == "/" {
		return path
	}
	dir, name := filepath.Split(path)
	dir = spelled(filepath.Clean(dir))
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

// Temp is the box's temporary folder, "" for none.
func (b *beltBox) Temp() string { return b.temp }

// Loopback returns why commands of the box cannot reach their own servers.
func (b *beltBox) Loopback() error {
	return &Lack{"that commands reach servers of their own", "Seatbelt cannot tell them from other servers of this machine"}
}

// Close removes the box's temporary folder. Its commands have ended.
func (b *beltBox) Close() error {
	err := b.out.close()
	if b.temp != "" {
		err = errors.Join(err, os.RemoveAll(b.temp))
	}
	return err
}

// command is what sandbox-exec is started with.
func (b *beltBox) command(path string, args []string) []string {
	words := []string{b.t.program, "-p", b.profile, "--", path}
	if len(args) > 1 {
		words = append(words, args[1:]...)
	}
	return words
}

// Start starts a command in the box. Its standard input and output are passed on
// unchecked, so they must be allowed by the policy. Wait must be called.
func (b *beltBox) Start(cmd *exec.Cmd) (*beltChild, error) {
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
	closeInherited()
	c := &beltChild{cmd: cmd, dir: cmd.Dir, policy: b.policy}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = b.out.environ(ownTempIn(cmd.Env, b.temp), c)
	cmd.Path, cmd.Args = b.t.program, b.command(cmd.Path, cmd.Args)
	if cmd.SysProcAttr == nil {
		// On a terminal it stays in the foreground.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !isDevice(cmd.Stdin)}
	}
	c.leave = func() { b.out.forget(c) }
	if err := cmd.Start(); err != nil {
		c.leave()
		return nil, err
	}
	c.line = newLineage(cmd.Process.Pid, b.t.list)
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

// closeInherited keeps from commands what whoever started pawl left open. What
// they are to have (Cmd.ExtraFiles) is made for them alone.
var closeInherited = sync.OnceFunc(func() {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
})

// beltChild is a confined command.
type beltChild struct {
	cmd      *exec.Cmd
	dir      string
	policy   confine.Policy
	refusals refusals
	line     *lineage
	leave    func()
	end      sync.Once
}

// lookEvery is how often a command's processes are looked for, so that those
// that leave their parents and their group are known at its end.
const lookEvery = 50 * time.Millisecond

// watch follows the command's processes, and ends it if they are too many.
func (c *beltChild) watch() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.line.over:
			return
		case <-tick.C:
		}
		if c.line.look() > MaxProcesses {
			c.line.tooMany.Store(true)
			c.End()
			return
		}
	}
}

// Wait waits for the command, ends what it left behind, and returns the error of
// exec.Cmd.Wait.
func (c *beltChild) Wait() error {
	// The process first: what it left may hold the output open.
	state, err := c.cmd.Process.Wait()
	c.End()
	_ = c.cmd.Wait() // the copying of its output; the process is waited for
	c.leave()
	switch {
	case c.line.tooMany.Load():
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

// Refusals returns what pawl itself refused the command until now.
func (c *beltChild) Refusals() []Refusal { return c.refusals.all() }

// End ends all processes of the command, itself too. Wait calls it.
func (c *beltChild) End() {
	c.end.Do(func() {
		close(c.line.over)
		_ = c.cmd.Process.Kill() // it may have ended
		c.line.end()
	})
}

// Explain returns what the command was refused according to its own output, where
// the policy refuses it.
func (c *beltChild) Explain(output string) []process.Refusal {
	var out []process.Refusal
	if c.policy.Level < confine.Workspace {
		return nil // everything is refused, and is said
	}
	for _, r := range refusedIn(c.policy, c.dir, output) {
		out = append(out, process.Refusal{Act: r.Act, What: r.Target})
	}
	return out
}
