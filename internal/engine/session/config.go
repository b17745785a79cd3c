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

// Config is what a session is made of. Everything from the outside world comes
// in here; nothing is looked up elsewhere. What may be left out is grouped by what
// it is for.
type Config struct {
	Store   event.Store
	ID      string // of the session to open or make
	Dir     string // the workspace's real path
	Front   string // which frontend, for the log
	Version string // pawl's version
	Person  bool   // somebody is there to answer questions
	// ReadOnly opens a session to look at it and to undo: nothing is recorded at
	// opening, and nothing is asked of a model.
	ReadOnly bool
	// Of, if set, is whom a new session works for.
	Of *event.ParentCall

	Model  llm.Model
	System string // the system prompt, frozen at a rebase
	Models

	Tools tool.Set
	Files tool.Files
	Shell tool.Shell
	Web   tool.Web
	Notes tool.Notes
	// Journal finds what commands change; nil: nothing of it is recorded. Sessions
	// of one workspace may have one together: see changes.Share.
	Journal tool.Journal
	Locks   *turn.Locks

	Permission *permission.Policy
	// Keep stores a grant given for always.
	Keep   func(rule string) error
	Limits budget.Limits
	// Parent, if set, is the account of the parent session, from which this one
	// spends.
	Parent spending.Parent
	// Agents is how deep agents may be nested: 1 for agents that start none, 0
	// for a session that starts none.
	Agents int

	// Mask masks secrets, nil none; SpillDir keeps results too long for the model.
	Mask     *secrets.Masker
	SpillDir string

	Own
	Around
	Judgement

	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Jitter func() float64
	NewID  func() string

	child parentage // of an agent's session
}

// Models is which models are asked, and how.
type Models struct {
	// OpenModel opens another model by its reference, for SetModel.
	OpenModel func(ref string) (llm.Model, error)
	// Fallback lists the models to go on with, in this order, when the one in
	// use gives no answer also after retries.
	Fallback []string
	// RetryFor is how long a request is tried again in all; 0: turn.RetryFor,
	// below 0: not at all. Timeout is when the caller ends a turn, if it does: a
	// wait that a provider asks for fits before it or not.
	RetryFor, Timeout time.Duration
	Effort            string // reasoning effort
}

// Own is what only the session has that a person, or a coordinator, works with. An
// agent's session has nothing of it.
type Own struct {
	// Outside, if set, gives tools from outside that join Tools.
	Outside Outside
	// Joining, if set, returns tools of pawl's own that only some folders are of
	// use for, as those of language servers: none, or those. It is asked at a
	// rebase, as Outside is.
	Joining func() tool.Set
	// Route is what is done with a person's prompts before they are answered.
	Route route.Config
	// Prefer, if set, keeps a person's preference for later sessions.
	Prefer func(text string) error
	// Answers, if set, is the cache of answers.
	Answers answers.Store
	// Autofix, if set, makes what verifies a turn that changed files before it ends.
	Autofix func() verify.Verifier
	// Trust, if set, is what of the folder's own programs may run by itself; it is
	// recorded at opening.
	Trust *event.FolderTrust
	// Fold, if set, is one more fold of the log: see Coordination.
	Fold event.Fold
}

// Around is what takes part in a run from outside it.
type Around struct {
	// Rules, if set, returns the notes on the project's rules that the
	// conversation lacks. It is asked before each request.
	Rules func(context.Context, Guidance) []string
	// Code, if set, is what language servers know; CodeWatch is told of changes
	// and tells what they broke.
	Code      tool.Code
	CodeWatch tool.CodeWatch
	// Hooks, if set, runs a person's hooks.
	Hooks hooks.Runner
	// Stages come after the session's own of their kind, but for the journal: a
	// language server's, a hook's.
	Stages turn.Stages
	// Pressure, if set, returns what the machine has too little of, and why; both
	// are empty where there is enough.
	Pressure func() (what, why string)
}

// Judgement is the numbers that a run is judged by.
type Judgement struct {
	// Progress is how runs that go in circles are found: progress.Default().
	Progress progress.Config
	// Window holds the numbers of the context window. Counter, if set, gives
	// the counter that is better than the estimate; it is asked for once counts
	// matter, and may take its time.
	Window  window.Config
	Counter func() (window.Counter, error)
	// AutoCorrect makes also corrections that can change what a call means.
	AutoCorrect bool
}
