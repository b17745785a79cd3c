// Package setup puts a session together: from settings, stores, models, tools,
// MCP and language servers, hooks, plugins, skills, memory, trust and the
// sandbox. Open is its one way in; a frontend gets an Opened, and closes it.
//
// It knows no command line and prints nothing: what a person must be asked
// before a session is open, it asks through a Frontend, and what they should
// know is in Opened.Warnings. It contains no policy. What takes time and is not
// needed at once begins early and is waited for where it is first needed; what
// an Options or the configuration does not ask for is not started.
package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/replay"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Environment is what this process has. Copies share the keys that were read.
type Environment struct {
	Env     func(string) string
	Dir     string // the current folder
	Now     func() time.Time
	Version string // of pawl
	// Err is told what goes wrong after a session is closed.
	Err io.Writer
	// Program finds a language server's program by its name; nil: there is none.
	Program func(name string) (string, error)
	// Self is the file of this program, which commands in the sandbox may start
	// again; "": not known.
	Self string

	shared *shared
}

// shared is what all sessions of a process share.
type shared struct {
	keys     Keys
	first    firstHashes
	recorder *replay.Recorder // nil: nothing is recorded
}

// process returns what all sessions share. The first call makes it: Prepare, in a
// program.
func (e *Environment) process() *shared {
	if e.shared == nil {
		e.shared = &shared{}
		e.shared.keys.openVault(e.Env)
		if path := e.Env("PAWL_RECORD"); path != "" {
			e.shared.recorder = replay.NewRecorder(path, secrets.New(e.Secrets()...).MaskBytes)
		}
	}
	return e.shared
}

// Prepare makes what sessions share, before several of them are opened at once.
// Nothing is read.
func (e *Environment) Prepare() { e.process() }

// InPawl reports whether this process is a command of another pawl's agent.
func (e *Environment) InPawl() bool { return e.Env("PAWL_JOB") != "" }

// Options are what was chosen for one session, by flags or by the program that
// drives pawl. The zero value leaves everything to the configuration.
type Options struct {
	Dir       string // "": the current folder
	TrustedAs string // see Trust.as

	Model    string
	Effort   string
	Fallback []string
	RetryFor string
	Timeout  time.Duration

	Mode        string
	Sandbox     string
	Route       string
	Allow, Deny []string
	AddDirs     []string
	Trust       bool // in what the folder has pawl run by itself

	Budget    string
	MaxTurns  int
	MaxUSD    float64
	MaxTokens int64

	NoSession bool
	Continue  bool
	Resume    string
	Fork      bool
	ForkAt    int64  // the last event of the copy; 0 is all
	SessionID string // of the new session

	SystemPrompt, AppendPrompt string
	Plan                       string // a file
	Autofix, NoAutofix         bool
	MetricsAddr                string
	MCPConfig                  []string        // files, or JSON
	Servers                    json.RawMessage // of an editor, in the same format
	Driver                     agentsdk.Setup  // what is inside the program that drives pawl
}

// Frontend is what opens a session, and what it does for it meanwhile.
type Frontend struct {
	Name     string
	Commands bool // prompts that name a command of a file, or a skill, are expanded
	Person   bool // somebody is there to answer questions
	ReadOnly bool // only to read a session, or to undo: no model is needed
	// Made: pawl created the folder itself.
	Made bool
	// WorkerTree: the folder is a worker's tree, and nothing about it is remembered.
	WorkerTree bool
	// Configure, if set, changes the configuration of a session: a swarm's, or its worker's.
	Configure func(*session.Config)

	// Choose, if set, asks a person which model to use if nothing else names one.
	Choose func(ctx context.Context, refused error) (string, error)
	// Confirm, if set, asks a person for a yes; ShowTrust is set with it, and shows
	// what of the folder would run. whole is false if there is more than was read.
	Confirm   func(question string) (bool, error)
	ShowTrust func(t *Trust, whole bool)
}

// UsageError is an error in what was asked for, such as a flag's value.
type UsageError struct{ err error }

// Usage returns a UsageError.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

func (e *UsageError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.err }
