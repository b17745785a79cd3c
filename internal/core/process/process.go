// Package process is the contract between code that needs a process (the shell,
// git, checks, language servers, MCP servers, hooks) and the one place that starts
// processes. It knows no operating system and no policy: permission decides what a
// process may touch, and the Starter enforces it.
//
// A Starter promises, for every process: its own session and process group, so no
// terminal; an environment by an allow-list, without pawl's keys; it is confined
// by Program.Confine, or not started; Kill, the end of its context and the
// Starter's Close end it with all its descendants; and it does not outlive pawl,
// even if pawl is killed.
//
// The zero Confine is the narrowest. Code that wants to run something without
// confinement must ask for it (Unconfined), so nobody gets it by accident.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Level is how much a process may do. A smaller level is narrower.
type Level int

// The levels (SPEC 16.12).
const (
	// ReadOnly: it changes no file and has no network.
	ReadOnly Level = iota
	// Workspace: it may change the workspace except protected files, a
	// temporary folder, and the sandbox's caches.
	Workspace
	// Unconfined: it may do everything that the user may.
	Unconfined
)

var levels = [...]string{"read-only", "workspace", "unconfined"}

func (l Level) String() string { return levels[l] }

func (l Level) MarshalText() ([]byte, error) { return []byte(levels[l]), nil }

// UnmarshalText implements encoding.TextUnmarshaler. An unknown level, written by
// a newer version, becomes the narrowest.
func (l *Level) UnmarshalText(b []byte) error {
	*l = Level(max(slices.Index(levels[:], string(b)), 0))
	return nil
}

// Confine is what a process may touch: its level and its grants. Paths are
// absolute, clean and real. The zero value is read-only without grants.
type Confine struct {
	Level Level `json:"level"`
	// Reads are files and folders outside the workspace that it may read.
	Reads []string `json:"reads,omitempty"`
	// Writes are files and folders outside the workspace, and protected files in
	// it, that it may read and, from the level Workspace on, change.
	Writes []string `json:"writes,omitempty"`
	// Hosts are the hosts that it may reach, from the level Workspace on: names,
	// with or without a port.
	Hosts []string `json:"hosts,omitempty"`
	// Asks: at the level Workspace, its first change of the workspace is asked for while it
	// waits (Hold); if nobody can be asked, it is refused.
	Asks bool `json:"asks,omitempty"`
	// Editors, with Asks, are installed programs whose changes are not asked for where the
	// shell of the command line starts them; "" is that shell itself, for its redirections.
	Editors []string `json:"editors,omitempty"`
	// Rules are the person's rules about paths, at every level but unconfined. The
	// configuration has them, so no event does.
	Rules []PathRule `json:"-"`
	// Own are folders of pawl's own that its own programs may change as a whole,
	// protected names too. No person grants them, no command gets them, and no
	// event holds them.
	Own []string `json:"-"`
	// Root, if set, takes the place of the workspace: a copy of it that pawl made.
	Root string `json:"-"`
	// Keep, if set, keeps what it removes, replaces or empties (SPEC 16.15).
	Keep Keep `json:"-"`
}

// PathRule is a rule about files that a process reads or, with Write, changes. Pattern is
// absolute. Of rules that ask and allow, the one with the higher Rank decides.
type PathRule struct {
	List    PathList
	Write   bool
	Pattern string
	Rank    int
	Text    string // as the person wrote it
}

// PathList is the effect of a PathRule.
type PathList string

// The effects.
const (
	DeniesPath PathList = "deny"
	AsksPath   PathList = "ask"
	AllowsPath PathList = "allow"
)

// Keep is where what a confined process removes is kept. It is of the sandbox that keeps it.
type Keep interface{ KeepsRemoved() }

// Free does not confine.
var Free = Confine{Level: Unconfined}

// Key returns a text that is equal for equal confinements.
func (c Confine) Key() string {
	return fmt.Sprintf("%s %q %q %q %q %q %#v", c.Level, c.Reads, c.Writes, c.Hosts, c.Own, c.Root, c.Rules)
}

// Narrow returns what both allow, since a child process has at most the rights of
// its parent. A grant is kept only if the other has the same one or is unconfined.
func (c Confine) Narrow(d Confine) Confine {
	switch {
	case c.Level == Unconfined:
		return d
	case d.Level == Unconfined:
		return c
	}
	both := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
	}
	return Confine{
		Level: min(c.Level, d.Level),
		Reads: both(slices.Concat(c.Reads, c.Writes), slices.Concat(d.Reads, d.Writes)), Writes: both(c.Writes, d.Writes), Hosts: both(c.Hosts, d.Hosts),
		Asks:  c.Asks || d.Asks,
		Rules: bothRules(c.Rules, d.Rules),
		Own:   both(c.Own, d.Own),
		Keep:  cmp.Or(c.Keep, d.Keep),
	}
}

// bothRules returns the rules of both. What only one allows is not allowed.
func bothRules(a, b []PathRule) []PathRule {
	out := slices.Clone(a)
	for _, r := range b {
		if r.List != AllowsPath && !slices.Contains(a, r) {
			out = append(out, r)
		}
	}
	return slices.DeleteFunc(out, func(r PathRule) bool { return r.List == AllowsPath && !slices.Contains(b, r) })
}

// Program is a program to run.
type Program struct {
	// Path of the program; one without a slash is looked for in PATH.
	Path string
	// Args after the program's name.
	Args []string
	Dir  string
	// Env entries (NAME=value) are added to the allow-listed environment. Exact:
	// the environment has no other entries.
	Env   []string
	Exact bool
	// Apart are absolute folders that others write: the program, and what variables
	// name, is not found there, nor by a relative entry of a search path. Env is kept
	// as it is. It is for programs that belong to the person and not to the folder.
	Apart []string
	// Stdin, Stdout and Stderr are as in exec.Cmd: nil is the null device.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Pipes: the Process has In and Out instead of Stdin and Stdout.
	Pipes   bool
	Confine Confine
}

// Process is a running process.
type Process interface {
	// In and Out are the program's input and output, if Program.Pipes is set.
	In() io.WriteCloser
	Out() io.ReadCloser
	Pid() int
	// Wait waits for its end and returns the error of exec.Cmd.Wait: an
	// *exec.ExitError if it failed. Several goroutines may wait.
	Wait() error
	// Kill ends it with all its descendants: first by a polite signal, and after
	// grace by force. It returns when they are gone.
	Kill(grace time.Duration)
	// Refused is what the sandbox has refused so far, as far as it is known.
	Refused() []Refusal
}

// Starter starts processes. The end of ctx kills the process.
type Starter interface {
	Start(ctx context.Context, p Program) (Process, error)
}

// What a sandbox refuses a process: Refusal.Act.
const (
	ActWrite   = "write"   // a file's content, name or attributes
	ActRemove  = "remove"  // a name
	ActRead    = "read"    // a file or a folder
	ActChange  = "change"  // the workspace, for which Confine.Asks; What is the first file
	ActConnect = "connect" // to an address, or to the path of a unix socket
	ActListen  = "listen"  // on one of them
	ActHost    = "host"    // a host that a proxy was asked for
	ActGit     = "git"     // a repository elsewhere, such as a bare one that is pushed to
	ActLose    = "lose"    // the end of a file of which no copy can be kept (Confine.Keep)
)

// NoByteCode is a setting for a program that a person trusted by its files:
// python then reads no compiled modules from the folder, which anything may have
// put there and which take the place of the files.
const NoByteCode = "PYTHONPYCACHEPREFIX=/dev/null"

// Refusal is what a sandbox refused a process.
type Refusal struct {
	Act  string `json:"act"`
	What string `json:"what"`           // a path, or a host
	Size int64  `json:"size,omitempty"` // of what would be lost
	// Name is the host's name that leads to the address What, "" if none does.
	Name string `json:"-"`
	// Done is why the process cannot be ended and begun again, such as "it changed /w/a".
	Done string `json:"-"`
	// Rule is the person's rule that asks about it or denies it, "" for none.
	Rule string `json:"-"`
	// Closed is why no rule of a person and no yes opens it, such as "the rule read(x) denies",
	// "" if one may.
	Closed string `json:"-"`
	// Program is the name of the program that wanted it, "" if that is not known.
	Program string `json:"-"`
}

func (r Refusal) String() string {
	if r.Act == ActLose {
		return "the end of " + r.What + ", of which no copy can be kept"
	}
	if r.Closed != "" {
		return r.Act + " " + r.What + ", which " + r.Closed
	}
	if r.Rule != "" {
		return r.Act + " " + r.What + ", about which there is the rule " + r.Rule
	}
	return r.Act + " " + r.What
}

// ErrUnconfined is wrapped in the error of a process that was not started because
// it could not be confined as required.
var ErrUnconfined = errors.New("it was not run, since it cannot be confined")

// Hold decides about an access that a confined process's Confine does not cover, while the
// process waits in the system call (SPEC 16.14). What it allows holds until the process and
// its descendants have ended. opened is what it allows: for a file that file or a folder
// above it, for a host or an address the same text. It is called for each access once, by
// several goroutines. ctx ends with ErrWithdrawn when nobody waits for the answer any more.
type Hold func(ctx context.Context, r Refusal) (opened string, a Answer)

// Answer is what a Hold decides.
type Answer int

// The answers. Refused is reported as refused by the sandbox; of Declined the model is told
// by who asked. AsPerson: the process is ended, and its command is run again unconfined.
const (
	Refused Answer = iota
	Declined
	Allowed
	AsPerson
)

// ErrWithdrawn ends a question that nobody waits for any more: what it was about has ended.
var ErrWithdrawn = errors.New("no longer needed: what it was about has ended")

// Confiner starts commands that the kernel confines. A Starter uses it to run
// processes in the sandbox.
type Confiner interface {
	// Confine starts cmd. An error that wraps ErrUnconfined names the promise
	// that could not be kept; then nothing was started. hold decides about what c does
	// not cover; nil, or where the system cannot hold a call: it is refused.
	Confine(cmd *exec.Cmd, c Confine, hold Hold) (Confined, error)
}

// Confined is a command that runs confined.
type Confined interface {
	// Wait waits for the command, ends all processes that it left behind, and
	// returns the error of exec.Cmd.Wait.
	Wait() error
	// Refused is what was refused so far.
	Refused() []Refusal
}

// Explainer is a Confined of a system that does not tell what it refused: a
// program's own messages do.
type Explainer interface {
	// Explain returns the refusals of the sandbox that the program's output reports.
	Explain(output string) []Refusal
}

// Output runs a program to its end and returns its output, unless Stdout is set, which
// then gets it. If the program fails, the error holds the first line of its messages.
func Output(ctx context.Context, s Starter, p Program) ([]byte, error) {
	var out, fail limited
	if p.Stderr = &fail; p.Stdout == nil {
		p.Stdout = &out
	}
	out.most, fail.most = 1<<30, 64<<10
	run, err := s.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := run.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if why, _, _ := strings.Cut(strings.TrimSpace(string(fail.b)), "\n"); why != "" {
			return out.b, fmt.Errorf("%s (%w)", why, err)
		}
		return out.b, err
	}
	return out.b, nil
}

// limited keeps the first bytes of what is written.
type limited struct {
	b    []byte
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	l.b = append(l.b, p[:min(len(p), l.most-len(l.b))]...)
	return len(p), nil
}
