// Package setup puts a session together: from settings, stores, models, tools, MCP and
// language servers, hooks, plugins, skills, memory, trust and the sandbox. Open is its
// only entry point; a frontend gets an Opened, and closes it.
//
// It knows no command line and prints nothing: questions to a person before a session
// is open go through a Frontend, and warnings are in Opened.Warnings. It contains no
// policy. Slow work that is not needed at once starts early, and is waited for where it
// is first needed. Nothing is started that neither Options nor the configuration asks
// for.
package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/replay"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Environment is what the process provides. Copies share the keys that were read.
type Environment struct {
	Env     func(string) string
	Dir     string // the current folder
	Now     func() time.Time
	Version string // of pawl
	// Err receives errors that occur after a session is closed.
	Err io.Writer
	// Program returns the path of a language server's program by its name; nil: none is
	// found.
	Program func(name string) (string, error)
	// Self is the path of this program, which commands in the sandbox may start again;
	// "": unknown.
	Self string
	// Recorded is the system prompt of a session that is played again: of the repository and
	// its programs this one tells the model the same. "": it tells how they are now.
	Recorded string

	shared *shared
}

// shared is what all sessions of a process share.
type shared struct {
	keys     Keys
	first    firstHashes
	recorder *replay.Recorder // nil: no recording
	// endpoints is what was learned of models' servers.
	endpoints catalog.Endpoints
}

// process returns what all sessions share. The first call creates it; in a program,
// that call is Prepare.
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

// Prepare creates what sessions share, before several of them are opened at once. It
// reads nothing.
func (e *Environment) Prepare() { e.process() }

// InPawl reports whether this process was started by a command of another pawl's agent.
func (e *Environment) InPawl() bool { return e.Env("PAWL_JOB") != "" }

// Options are the choices for one session, by flags or by the program that drives pawl.
// The zero value leaves everything to the configuration.
type Options struct {
	Dir       string // "": the current folder
	TrustedAs string // see Trust.as

	Model    string
	Effort   string // in place of the configured one
	Fallback []string
	RetryFor string
	Timeout  time.Duration

	Mode        string
	Sandbox     string
	Route       string
	Allow, Deny []string
	Ask         []string // rules that ask, of the program that drives pawl
	AddDirs     []string
	Trust       bool // trust all that the folder has pawl run automatically

	Budget    string
	MaxTurns  int
	MaxUSD    float64
	MaxTokens int64
	// TaskBudget is how many tokens each task may take, as its model is told; 0: it is not told.
	TaskBudget int

	NoSession bool
	Continue  bool
	Resume    string
	Fork      bool
	ForkAt    int64 // the sequence number of the last event of the copy; 0: all events
	// ForkAfter is the identifier of the last message of the copy, for a program of the Agent
	// SDK, and Drops, if set, the prompt whose turn alone may be left out.
	ForkAfter, Drops string
	SessionID        string // of the new session

	Agent                      string // the kind of agent as which the session works; "": none
	SystemPrompt, AppendPrompt string
	Plan                       string // a file
	Autofix, NoAutofix         bool
	MetricsAddr                string
	MCPConfig                  []string // files, or JSON
	StrictMCP                  bool     // no other servers than these
	Plugins                    []agentsdk.Plugin
	Settings                   []string        // of Claude Code: files, or JSON
	Tools                      []string        // the only tools of pawl; nil: all
	Servers                    json.RawMessage // of an editor, in the same format
	Driver                     agentsdk.Setup  // what the program that drives pawl provides
}

// Frontend is the kind of program that opens a session, and its answers while one is
// being opened.
type Frontend struct {
	Name     string
	Commands bool // expand prompts that name a command of a file, or a skill
	Person   bool // somebody is there to answer questions
	// Mode is the permission mode where nobody chose one, "" for the usual.
	Mode     permission.Mode
	ReadOnly bool // only reads or undoes: no model is needed
	// OwnFolder: pawl itself created the folder.
	OwnFolder bool
	// WorkerTree: the folder is the working tree of a worker; nothing about it is
	// stored.
	WorkerTree bool
	// Configure, if set, changes the configuration of the session.
	Configure func(*session.Config)

	// Choose, if set, asks a person which model to use if nothing else names one.
	Choose func(ctx context.Context, refused error) (string, error)
	// Confirm, if set, asks a person a yes-or-no question; its error is ErrLater if they did
	// not answer. ShowTrust is set with it,
	// and shows what the folder would run; whole is false if the folder has more than
	// was read.
	Confirm   func(question string) (bool, error)
	ShowTrust func(t *Trust, whole bool)
}

// ErrLater is the error of Frontend.Confirm if the person chose neither yes nor no.
var ErrLater = errors.New("no answer yet")

// UsageError is an error in the request, such as in a flag's value.
type UsageError struct{ err error }

func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

func (e *UsageError) Error() string { return e.err.Error() }

func (e *UsageError) Unwrap() error { return e.err }
