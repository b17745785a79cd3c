package event

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// This file has the questions to a person and what their answers allow.

// Question is one call that needs consent.
type Question struct {
	Call    string `json:"call"`
	Tool    string `json:"tool"`
	Title   string `json:"title"`           // one line: what it wants to do
	Wants   string `json:"wants,omitempty"` // what a call that already runs asks for, as verb and object
	Preview string `json:"preview"`         // never shortened
	Reason  string `json:"reason"`          // why pawl asks
	Pattern string `json:"pattern"`         // the rule that "session" and "always" would add
	Always  bool   `json:"always"`          // whether "always" may be chosen
	Edits   bool   `json:"edits,omitempty"` // a mode that lets edits go on would not ask
}

// Asked puts questions to a person: all questions of one step at once.
type Asked struct {
	ID string `json:"id"`
	// From names the agent that asks, and its session; empty if the session
	// itself asks.
	From      string     `json:"from,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	// Why is the subject of a question by pawl itself; empty if a call or the model asks.
	Why AskedWhy `json:"why,omitempty"`
	// Text and Options are those of a question by the model (ask_user) or by pawl.
	Text    string   `json:"text,omitempty"`
	Options []string `json:"options,omitempty"`
}

// Scope of a grant.
type Scope string

// The scopes of an answer.
const (
	Once    Scope = "once"
	Session Scope = "session"
	Always  Scope = "always"
	No      Scope = "no"
	Never   Scope = "never" // no, and what the rule matches is denied from here on in this session
)

// Verdict is the answer to one question.
type Verdict struct {
	Call  string `json:"call"`
	Scope Scope  `json:"scope"`
	Why   string `json:"why,omitempty"` // the reason of a No: it becomes the result, and the turn goes on
}

// Answered is a person's answer to Asked.
type Answered struct {
	ID       string    `json:"id"`
	Verdicts []Verdict `json:"verdicts,omitempty"`
	Text     string    `json:"text,omitempty"`
}

// Granted is a permission that holds from here on in this session; with the scope Never
// it is a denial.
type Granted struct {
	Rule  string `json:"rule"`
	Scope Scope  `json:"scope"`
}

// Revoked takes a permission back that was granted in this session.
type Revoked struct {
	Rule string `json:"rule"`
}

// Blocked is a call that was denied; the run's result lists these calls. Ran: the call ran,
// and only what the reason names was refused within it.
type Blocked struct {
	Call   string    `json:"call"`
	Tool   string    `json:"tool"`
	What   string    `json:"what"`
	Reason string    `json:"reason"`
	By     BlockedBy `json:"by"`
	Ran    bool      `json:"ran,omitempty"`
}

// Narrowed records that a command or a skill leaves the running turn only the tools
// that its rules name, but for those that Not names: until the turn ends, other calls are
// denied. Several hold together. Without rules Not alone counts; without both no tool is
// left, but for one that has Hooks (SPEC 17.4).
type Narrowed struct {
	By    string   `json:"by"` // the command /commit, the skill pdf
	Rules []string `json:"rules,omitempty"`
	Not   []string `json:"not,omitempty"`
	// Hooks is the file whose hooks hold until then, relative to the folder.
	Hooks string `json:"hooks,omitempty"`
	File  string `json:"file,omitempty"` // where it is written
}

func (n Narrowed) Left() string {
	left := strings.Join(n.Rules, ", ")
	if left == "" && (len(n.Not) > 0 || n.Hooks != "") {
		left = "all tools"
	}
	left = cmp.Or(left, "no tools")
	if len(n.Not) > 0 {
		left += ", but not " + strings.Join(n.Not, ", ")
	}
	if n.Hooks != "" {
		left += ", under the hooks of " + n.Hooks
	}
	return left
}

// ModeSet changes the permission mode.
type ModeSet struct {
	Mode string `json:"mode"`
}

// FolderTrust records, when a process opens the session, which of the folder's own
// programs pawl runs by itself (SPEC 16.1).
type FolderTrust struct {
	State string `json:"state"`        // nothing, trusted, untrusted, changed
	By    string `json:"by,omitempty"` // who trusts it: the person, flag, pawl
	// Inert are the parts that do not run.
	Inert []InertPart `json:"inert,omitempty"`
}

// InertPart is something executable that a folder configures and that pawl does
// not run.
type InertPart struct {
	Kind string   `json:"kind"` // check, hook, mcp, lsp, env, git, editor
	Name string   `json:"name"`
	Runs []string `json:"runs,omitempty"`
	Why  string   `json:"why"`
}

// HookRan records that a hook ran at an event of the session (SPEC 17.3), and its
// answer.
type HookRan struct {
	Event   string `json:"event"` // PreToolUse, Stop, …
	Command string `json:"command"`
	From    string `json:"from"` // the file that configures it
	Call    string `json:"call,omitempty"`
	// Verdict is deny or ask, "" if it does not object.
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Context string `json:"context,omitempty"` // for the model
	// Input is the new arguments that it set for the call.
	Input json.RawMessage `json:"input,omitempty"`
	// Broken is why the hook itself failed.
	Broken string `json:"broken,omitempty"`
	// Once is the hook's Key if it does not run again.
	Once string        `json:"once,omitempty"`
	Exit int           `json:"exit"`
	Took time.Duration `json:"took"`
}

// CallStarted records that a call passed its gates and starts now. A call that was
// started and is open after a crash is closed with the outcome unknown.
type CallStarted struct {
	ID string `json:"id"`
	// Confine is what the processes of a call that runs a command line may touch.
	Confine *process.Confine `json:"confine,omitempty"`
}
