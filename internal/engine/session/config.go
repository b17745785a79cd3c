package session

import (
	"context"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Config is the configuration of a session. Everything from the outside world
// is here; nothing is looked up elsewhere. Optional fields are grouped by their
// subject.
type Config struct {
	Store    event.Store
	ID       string // of the session to open or make
	Dir      string // the workspace's real path
	Branch   string // the git branch that is checked out, for the log
	Frontend string // which frontend, for the log
	Version  string // pawl's version
	// Program names this very program. Snapshots of the folds are kept for it
	// alone; "": none are.
	Program string
	// SnapshotEvery is eventlog.Snapshots.Every.
	SnapshotEvery int64
	Person        bool // somebody is there to answer questions
	// ReadOnly opens a session only for reading and undo: nothing is recorded
	// at opening, and no model is asked.
	ReadOnly bool
	// Owner, if set, is the same session in another process, which holds it: this
	// one shows what happens there, and is otherwise as with ReadOnly.
	Owner Owner
	// ParentCall, if set, is the call that a new session works for.
	ParentCall *event.ParentCall

	Model  llm.Model
	System string // the system prompt, frozen at a rebase
	Models

	Tools tool.Set
	Files tool.Files
	Shell tool.Shell
	Web   tool.Web
	// Search searches the web; nil: the model's provider does, if it can.
	Search tool.Searcher
	// SearchUSD is what each search by Search costs; 0: nothing.
	SearchUSD float64
	Notes     tool.Notes
	// Journal finds changes by commands; nil: they are not recorded. Sessions
	// of one workspace may share one: see changes.Share.
	Journal tool.Journal
	// Kept keeps what commands remove and the journal has no copy of; nil: nothing does.
	Kept  tool.Keeper
	Locks *turn.Locks

	Permission *permission.Policy
	// GitUses is tool.Env.GitUses.
	GitUses func(files ...string) []tool.GitUse
	// Keep stores a grant given for always.
	Keep   func(rule string) error
	Limits budget.Limits
	// Parent, if set, is the account of the parent session, from which this one spends.
	Parent spending.Parent
	// Agents is how deep agents may be nested: 1 for agents that start none, 0
	// for a session that starts none.
	Agents int

	// Mask masks secrets, nil none; SpillDir keeps results too long for the model.
	Mask     *secrets.Masker
	SpillDir string

	TopLevel
	Services
	Tuning

	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Jitter func() float64
	NewID  func() string

	child parentLink // of an agent's session
	// hooksOf are the files whose hooks hold for the whole session, and hooksUnder those whose
	// hooks hold in the turn that it works for.
	hooksOf, hooksUnder []string
	servers             tool.Agent // whose own servers join
}

// Models is which models are used, and how.
type Models struct {
	// OpenModel opens another model by its reference, with a reasoning effort ("": the
	// model's).
	OpenModel func(ref, effort string) (llm.Model, error)
	// Fallback lists the models that continue, in this order, when the present
	// one does not answer even after retries.
	Fallback []string
	// RetryFor is how long a request is retried in all; 0: turn.RetryFor, below
	// 0: not at all. Timeout is when the caller ends a turn, if it does: it
	// decides whether a provider's wait fits.
	RetryFor, Timeout time.Duration
	Effort            string // the reasoning effort that the person wants; the model's is in its Info
}

// TopLevel is the configuration that only the session of a person or of a swarm's
// coordinator has. It is empty in an agent's session.
type TopLevel struct {
	// Outside, if set, provides tools from outside that join Tools.
	Outside Outside
	// FolderTools, if set, returns pawl's own tools that are useful only in some
	// folders, such as those of language servers. It is called at a rebase,
	// like Outside.
	FolderTools func() tool.Set
	// Route is how a person's prompts are classified.
	Route route.Config
	// InGit, if set, is called when a turn begins. What it returns is called when the turn
	// ends, and returns what the turn left in git: see event.Ended.
	InGit func() func(context.Context) []event.GitFile
	// Prefer, if set, keeps a person's preference for later sessions.
	Prefer func(text string) error
	// Answers, if set, is the cache of answers.
	Answers answers.Store
	// Autofix, if set, makes the verifier of a turn that changed files.
	Autofix func() verify.Verifier
	// Trust, if set, is which of the folder's own programs may run by
	// themselves; it is recorded at opening.
	Trust *event.FolderTrust
	// Fold, if set, is one more fold of the log: see Coordination.
	Fold event.Fold
}

// Services are the functions and servers outside the session that a run uses.
type Services struct {
	// Rules, if set, returns the notes on the project's rules that the
	// conversation lacks. It is called before each request.
	Rules func(context.Context, Guidance) []string
	// Code, if set, is the access to language servers; CodeWatch is told about
	// changes and reports what they broke.
	Code      tool.Code
	CodeWatch tool.CodeWatch
	Syntax    tool.Syntax // looks at changed files; nil: nobody does
	// Symbols, if set, finds what a person mentions by its name.
	Symbols tool.Symbols
	// Hooks, if set, runs a person's hooks.
	Hooks hooks.Runner
	// Stages run after the session's own of their kind, but before the journal:
	// a language server's, a hook's.
	Stages turn.Stages
	// Isolate, if set, opens a session in a working tree of its own for an agent.
	Isolate func(context.Context, Isolation) (Isolated, error)
	// OwnServers, if set, prepares the servers that only the agent of a file has.
	OwnServers func(file string) (OwnServers, error)
	// Pressure, if set, returns which resource of the machine is short, and
	// why; both are empty if there is enough.
	Pressure func() (what, why string)
	// EndAtFullDisk: a turn that finds too little disk ends at once. Nobody is there who
	// reads why it waits.
	EndAtFullDisk bool
}

// Tuning is the thresholds and counters of a run.
type Tuning struct {
	// Progress configures stuck detection: progress.Default().
	Progress progress.Config
	// Window configures the context window. Counter, if set, returns a better
	// counter than the estimate; it is called when counts matter, and may be
	// slow.
	Window  window.Config
	Counter func() (window.Counter, error)
	// AutoCorrect makes also corrections that can change what a call means.
	AutoCorrect bool
}
