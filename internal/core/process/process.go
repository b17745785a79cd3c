// Package process is the contract between those who need a process (the shell,
// git, checks, language servers, MCP servers, hooks) and the one place that
// starts them. It knows no system and no policy: what a process may touch is
// decided before, by permission, and obeyed by the Starter.
//
// A Starter promises, of every process: its own session and process group, so
// no terminal; an environment by an allow-list, without pawl's keys; that it is
// confined as Program.Confine says, or not started; that Kill, the end of its
// context and the Starter's Close end it with all that descends from it; and
// that it does not outlive pawl, also where pawl is killed.
//
// The zero Confine is the narrowest. What is to run without the kernel's
// confinement must say so (Unconfined): nobody gets it by forgetting.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Level is how much a process may do. A smaller one is narrower.
type Level int

// The levels (SPEC 16.12).
const (
	// ReadOnly: no change of any file, no network.
	ReadOnly Level = iota
	// Workspace: changes in the workspace but for its protected files, in a
	// temporary folder and in caches of the sandbox's own.
	Workspace
	// Unconfined: all that the user may do.
	Unconfined
)

var levels = [...]string{"read-only", "workspace", "unconfined"}

func (l Level) String() string { return levels[l] }

// MarshalText is part of encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) { return []byte(levels[l]), nil }

// UnmarshalText is part of encoding.TextUnmarshaler. A level of a newer pawl is
// taken for the narrowest.
func (l *Level) UnmarshalText(b []byte) error {
	*l = Level(max(slices.Index(levels[:], string(b)), 0))
	return nil
}

// Confine is what a process may touch: its level, and what was granted besides.
// Paths are absolute, clean and real. The zero value is read-only without grants.
type Confine struct {
	Level Level `json:"level"`
	// Reads are files and folders outside the workspace that can be read.
	Reads []string `json:"reads,omitempty"`
	// Writes can be read and, from the level Workspace on, changed: files and
	// folders outside the workspace, and protected files in it.
	Writes []string `json:"writes,omitempty"`
	// Hosts can be reached, from the level Workspace on: names, with a port or
	// without.
	Hosts []string `json:"hosts,omitempty"`
}

// Free is without confinement.
var Free = Confine{Level: Unconfined}

// Key is the same for what confines alike.
func (c Confine) Key() string {
	return strings.Join([]string{c.Level.String(), strings.Join(c.Reads, "\x01"), strings.Join(c.Writes, "\x01"), strings.Join(c.Hosts, "\x01")}, "\x00")
}

// Narrow returns what both allow: a process's child has no more than its parent.
// A grant is kept only where the other has the same one, or is unconfined.
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
	}
}

// Program is what is to be run.
type Program struct {
	// Path of the program; one without a slash is looked for in PATH.
	Path string
	// Args after the program's name.
	Args []string
	Dir  string
	// Env entries (NAME=value) are added to the allow-listed environment. Exact:
	// there are no others.
	Env   []string
	Exact bool
	// Stdin, Stdout and Stderr as of exec.Cmd: nil is the null device.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Pipes: instead of Stdin and Stdout the Process has In and Out.
	Pipes   bool
	Confine Confine
}

// Process is one that runs.
type Process interface {
	// In and Out are the program's input and output, of a Program with Pipes.
	In() io.WriteCloser
	Out() io.ReadCloser
	Pid() int
	// Wait waits for its end and returns what exec.Cmd.Wait does: an
	// *exec.ExitError where it failed. Several may wait.
	Wait() error
	// Kill ends it with all that descends from it: politely first, and after
	// grace by force. It returns when they are gone.
	Kill(grace time.Duration)
	// Refused is what the sandbox is known to have refused until now.
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
	ActConnect = "connect" // to an address, or to the path of a unix socket
	ActListen  = "listen"  // likewise
	ActHost    = "host"    // a host that a proxy was asked for
)

// Refusal is what a sandbox refused a process.
type Refusal struct {
	Act  string `json:"act"`
	What string `json:"what"` // a path, or a host
}

func (r Refusal) String() string { return r.Act + " " + r.What }

// ErrUnconfined is wrapped where a process was not started since it could not be
// confined as it must be.
var ErrUnconfined = errors.New("it was not run, since it cannot be confined")

// Confiner starts commands so that the kernel confines them. It is how the
// sandbox is brought to a Starter.
type Confiner interface {
	// Confine starts cmd. An error that wraps ErrUnconfined names the promise
	// that could not be kept; then nothing was started.
	Confine(cmd *exec.Cmd, c Confine) (Confined, error)
}

// Confined is a command that runs confined.
type Confined interface {
	// Wait waits for the command, ends all that it left behind, and returns
	// what exec.Cmd.Wait does.
	Wait() error
	// Refused is what was refused until now.
	Refused() []Refusal
}

// Output runs a program to its end and returns what it printed. Where it fails,
// the error holds the first line of its messages.
func Output(ctx context.Context, s Starter, p Program) ([]byte, error) {
	var out, fail limited
	p.Stdout, p.Stderr = &out, &fail
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
