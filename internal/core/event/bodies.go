package event

import (
	"encoding/json"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Source is who or what wrote a prompt.
type Source string

// The sources of prompts. Only Person clears what progress detection knows.
const (
	Person  Source = "person"
	Autofix Source = "autofix"
	Hook    Source = "hook"
	Parent  Source = "parent" // a parent session's agent call
)

// Opened is the first event of a session.
type Opened struct {
	Dir     string  `json:"dir"`  // the workspace's real path
	Pawl    string  `json:"pawl"` // the version that opened it
	Mode    string  `json:"mode"` // the permission mode
	Origin  *Origin `json:"origin,omitempty"`
	Front   string  `json:"front,omitempty"` // line, headless, demo, …
	Durable bool    `json:"durable,omitempty"`
	// Parent is the call that an agent's session was made for.
	Parent *ParentCall `json:"parent,omitempty"`
}

// Resumed marks that a process took the session up again.
type Resumed struct {
	Pawl string `json:"pawl"`
	Mode string `json:"mode"`
}

// Rebased freezes the head of the requests that follow (SPEC 9.4).
type Rebased struct {
	Why  string   `json:"why"` // start, model, compaction, …
	Info llm.Info `json:"info"`
	Head llm.Head `json:"head"`
}

// Prompted starts a turn.
type Prompted struct {
	ID     string      `json:"id,omitempty"` // its sender's
	Source Source      `json:"source"`
	Text   string      `json:"text"`
	Images []llm.Media `json:"images,omitempty"`
	// Attached is what @mentions in the text brought along: files, listings.
	Attached string `json:"attached,omitempty"`
}

// Noted appends a message of pawl's own to the conversation (status, rules,
// recovery): part of the next request.
type Noted struct {
	Why  string `json:"why"`
	Text string `json:"text"`
}

// Requested records that a request goes out; Attempt counts from 1.
type Requested struct {
	Attempt int    `json:"attempt"`
	Bytes   int64  `json:"bytes"`
	Model   string `json:"model"`
	// Reserved is what the budget set aside for it, in USD, where prices are known.
	Reserved *float64 `json:"reserved,omitempty"`
}

// Retried records that a request failed and is tried again after Wait. Shown is
// true where text of the failed try was on the screen: it is retracted
// (SPEC 3.4).
type Retried struct {
	Attempt int           `json:"attempt"`
	Error   Fault         `json:"error"`
	Wait    time.Duration `json:"wait"`
	Shown   bool          `json:"shown"`
	Model   string        `json:"model,omitempty"` // the model of the next try, if another
	// Loop is the passage that the reply said over and over: it was cut off for
	// that, and nothing of it is kept (SPEC 6.3).
	Loop string `json:"loop,omitempty"`
}

// Replied is a whole reply. Cost is nil where it is not known.
type Replied struct {
	Reply llm.Reply     `json:"reply"`
	Cost  *float64      `json:"cost"`
	Took  time.Duration `json:"took"`
}

// CallAsked records that a call of the reply is about to be checked.
type CallAsked struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Sent string          `json:"sent,omitempty"` // as the model sent it, where it was repaired
	Fix  string          `json:"fix,omitempty"`  // what was corrected, for the result
	// What the call is about, as its tool has it: see tool.About.
	Does   tool.Kind `json:"does,omitempty"`
	Target string    `json:"target,omitempty"`
	Title  string    `json:"title,omitempty"`
}

// Outcome of a call.
type Outcome string

// The outcomes of calls.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	Denied      Outcome = "denied"    // by a rule, a gate, a person, or because nobody could be asked
	Cancelled   Outcome = "cancelled" // interrupted
	TimedOut    Outcome = "timeout"
	UnknownDone Outcome = "unknown" // the process died while it ran
	Invalid     Outcome = "invalid" // arguments or name: never ran
	NothingDone Outcome = "nothing" // of an operation: there was nothing to do
)

// CallDone closes a call: exactly one for every CallAsked (SPEC 4.8).
type CallDone struct {
	ID      string        `json:"id"`
	Tool    string        `json:"tool"`
	Outcome Outcome       `json:"outcome"`
	Result  llm.Result    `json:"result"` // as the model is shown it
	Note    string        `json:"note,omitempty"`
	Diff    string        `json:"diff,omitempty"`
	Command string        `json:"command,omitempty"`
	Exit    *int          `json:"exit,omitempty"`
	Took    time.Duration `json:"took"`
	Bytes   int64         `json:"bytes"`           // of the whole result, before truncation
	Spill   string        `json:"spill,omitempty"` // where the whole result is
	// Facts of the tool: see tool.Facts.
	Does       tool.Kind `json:"does,omitempty"`
	Listing    bool      `json:"listing,omitempty"`
	Repeatable bool      `json:"repeatable,omitempty"`
}

// FileSeen records which lines of a file the model was shown.
type FileSeen struct {
	Call  string      `json:"call,omitempty"`
	Spans []tool.Span `json:"spans"`
}

// FileChanged is a write, by a tool or by a command (Tool is then bash, or
// command for a person's own). Before and After are hashes of blobs; empty
// means that the file did not or does not exist. Kept is false where the
// content before could not be kept: not restorable.
type FileChanged struct {
	Call   string    `json:"call,omitempty"`
	Tool   string    `json:"tool"`
	Path   string    `json:"path"`
	Before tool.Hash `json:"before,omitempty"`
	After  tool.Hash `json:"after,omitempty"`
	// Mode and ModeBefore are permission bits, with fs.ModeSymlink for a link,
	// whose content is its target; 0 where they are not known.
	Mode       uint32 `json:"mode,omitempty"`
	ModeBefore uint32 `json:"mode_before,omitempty"`
	Kept       bool   `json:"kept"`
	Added      int    `json:"added"`
	Removed    int    `json:"removed"`
	// Folders were made for it, the outermost first: undoing it takes them
	// away where they are empty.
	Folders []string `json:"folders,omitempty"`
	// Unattributed: it changed while a command ran, and nothing tells that the
	// command did it. It is undone only when a person confirms it (SPEC 11.2).
	Unattributed bool `json:"loose,omitempty"`
	// Does is tool.Edit for a tool's own writes and tool.Exec for what a command
	// did. Whole: the tool wrote all of it, so that the model knows the content.
	Does  tool.Kind `json:"does,omitempty"`
	Whole bool      `json:"whole,omitempty"`
	// Child, if set: an agent changed it, in a session of its own, and Call is the
	// call that the agent works for.
	Child *ChildEvent `json:"child,omitempty"`
}

// Unrestorable is the change as the log keeps it where a secret in its path was
// masked: no file of that name can be put back.
func (c FileChanged) Unrestorable() any {
	c.Kept = false
	return c
}

// Writing records which writes come next, before the first of them: a process that
// dies in between leaves a log that knows what to look for. Each file is then
// as Before or as After; reopening records which. One without files means that
// the one before it, of the same call and tool, came to nothing.
type Writing struct {
	Call  string        `json:"call,omitempty"`
	Tool  string        `json:"tool"`
	Files []FileChanged `json:"files"`
	// Does and Whole are those of the changes that it leads to.
	Does  tool.Kind `json:"does,omitempty"`
	Whole bool      `json:"whole,omitempty"`
	// Undone or Redone is what is recorded once an undo or a redo is through.
	Undone *Undone `json:"undone,omitempty"`
	Redone *Redone `json:"redone,omitempty"`
}

// Undone records that changes were put back. Changes are the sequence numbers of their
// events; none, in the logs of older pawls: all of the turn that began at
// Prompt.
type Undone struct {
	What    string   `json:"what,omitempty"` // change, turn, file, command, rewind
	Prompt  int64    `json:"prompt"`
	Changes []int64  `json:"changes,omitempty"`
	Paths   []string `json:"paths"`
	// Kept are paths where a later change by someone else was kept beside what
	// was put back.
	Kept []string `json:"kept,omitempty"`
}

// Redone records that what an Undone put back was done again.
type Redone struct {
	Undone int64    `json:"undone"` // the sequence number of its event
	Paths  []string `json:"paths"`
}

// Phased opens a part of the task (SPEC 7), as a person or a plan file says.
// Number 0 closes the open one.
type Phased struct {
	Number   int           `json:"number"`
	Text     string        `json:"text,omitempty"`
	Expected time.Duration `json:"expected,omitempty"` // 0: not said
	Failed   bool          `json:"failed,omitempty"`   // of a closing one
	By       string        `json:"by"`                 // person, plan
	// Plan is all phases of a plan file, which is in force from here on: the
	// first of them is Number.
	Plan []PhaseStep `json:"plan,omitempty"`
}

// PhaseStep is a phase of a plan file.
type PhaseStep struct {
	Text     string        `json:"text"`
	Expected time.Duration `json:"expected,omitempty"` // 0: not said
}

// Routed records what a prompt was taken for: it sets the rights that the turn
// starts with (SPEC 13.1). A later one of the same turn stands in its place.
type Routed struct {
	Route string   `json:"route"`
	By    string   `json:"by"`  // flag, pattern, model, default; model asked, person: wider than before
	Why   string   `json:"why"` // the words that decided
	Path  []string `json:"path,omitempty"`
	// Rights are those of the turn: read, run, edit. None given: all.
	Rights []string `json:"rights,omitempty"`
	// Explicit: somebody said so, and only a person grants more rights.
	Explicit bool `json:"firm,omitempty"`
}

// Cleaned marks results that the model no longer needs: at the next rebase
// Summary stands for them (SPEC 9.5).
type Cleaned struct {
	Results []string `json:"results"` // as their handles were shown
	Summary string   `json:"summary"`
	Reason  string   `json:"reason,omitempty"`
}

// Recalled stands for a reply, and no model was asked: an answer that was given
// before and still holds (SPEC 11.6), or, without a Key, pawl's own word that a
// preference is kept.
type Recalled struct {
	Key  string        `json:"key,omitempty"`
	Text string        `json:"text"`
	Age  time.Duration `json:"age"` // since it was first given
	Took time.Duration `json:"took"`
}

// Planned is the model's plan as it stands.
type Planned struct {
	Items []tool.Item `json:"items"`
}

// Remembered is a note kept across sessions.
type Remembered struct {
	Text string `json:"text"`
	Sort string `json:"sort,omitempty"` // "" a note; preference
}

// Forgotten records that a note is not kept any longer.
type Forgotten struct {
	Text string `json:"text"`
	Sort string `json:"sort,omitempty"`
}

// PersonRan is a command that the person ran with "!": both sides of it are
// part of the conversation.
type PersonRan struct {
	Command string `json:"command"`
	Output  string `json:"output"`
	Exit    *int   `json:"exit,omitempty"`
}

// Interrupted marks that a person or a signal cut the turn short.
type Interrupted struct {
	By string `json:"by"` // person, signal name, timeout, permission
}

// Marker is the text the model reads where a turn was cut short.
func (i Interrupted) Marker() string {
	if i.By == "permission" {
		return "[Request interrupted by user due to permission denial]"
	}
	return "[Request interrupted by user]"
}

// Fault is an error as events carry it.
type Fault struct {
	Category  string `json:"category"`
	Retryable bool   `json:"retryable"`
	Message   string `json:"message"`
}

// End is how a turn ended.
type End string

// The ends of turns; their exit codes are in SPEC and `pawl help exit-codes`.
const (
	EndDone        End = "done"
	EndFailed      End = "failed"
	EndConfig      End = "configuration"
	EndProvider    End = "provider"
	EndRefused     End = "refused" // by the model
	EndStuck       End = "stuck"
	EndBudget      End = "budget"
	EndTurns       End = "turns"
	EndPermission  End = "permission"
	EndInterrupted End = "interrupted"
	EndTimeout     End = "timeout"
)

// Stuck is what was done about a run that goes in circles (SPEC 6.5). Text went
// to the model at recovery and block, to the person at halt.
type Stuck struct {
	Level       string   `json:"level"` // StuckRecovery, block, halt
	Rule        string   `json:"rule"`
	Text        string   `json:"text"`
	Evidence    []string `json:"evidence"`       // a line for each call that shows it
	Fingerprint string   `json:"fingerprint"`    // the same for the same loop
	Steps       []int    `json:"steps"`          // the calls that show it, counted from 0
	Call        string   `json:"call,omitempty"` // the call that is blocked, as policy/progress names it
}

// StuckRecovery is Stuck.Level of a message to the model: nothing is blocked.
const StuckRecovery = "recovery"

// Ended closes a turn.
type Ended struct {
	End   End    `json:"end"`
	Error *Fault `json:"error,omitempty"`
}

// Warned tells the person that a soft limit was passed. What names the limit,
// such as budget.usd.
type Warned struct {
	What string `json:"what"`
	Text string `json:"text"`
}

// Extended is a hard limit that a person raised when it was reached. To is the
// new one in the limit's own unit (USD, tokens, seconds, a count); 0 is none.
type Extended struct {
	What string  `json:"what"` // as in Warned
	To   float64 `json:"to"`
}

// Charged is what was spent beside the session's own replies and counts
// against its budget: a child session's request, a summary, a reply that broke
// off.
// Guess is true where it was counted by pawl and not reported by a provider;
// Unknown then marks a whole reply, whose cost is not known but bounded by USD.
// USD is nil where it is not known.
type Charged struct {
	By       string    `json:"by"` // the child's session, or broken_reply, compaction, …
	Child    bool      `json:"child,omitempty"`
	Model    string    `json:"model,omitempty"`
	Usage    llm.Usage `json:"usage"`
	USD      *float64  `json:"usd"`
	Guess    bool      `json:"guess,omitempty"`
	Unknown  bool      `json:"unknown,omitempty"`
	Requests int       `json:"requests,omitempty"`
	Calls    int       `json:"calls,omitempty"`
}

// SideRequest records that a request beside the conversation goes out: a summary's, or
// the question what a prompt is. The Charged of the same By closes it, also where
// it cost nothing; in old logs the Compacted that it was for. One that is open
// when a session is resumed went out, and what it cost is not known.
type SideRequest struct {
	By       string   `json:"by"` // as in Charged
	Model    string   `json:"model"`
	Input    int64    `json:"input"`              // tokens, as pawl counts
	Reserved *float64 `json:"reserved,omitempty"` // in USD, where prices are known
}

// Compacted makes the conversation shorter (SPEC 9.6): requests begin with
// Start from here on, which stands for its Older oldest messages. The log keeps
// what was said, and replay needs no model.
type Compacted struct {
	Why   string        `json:"why"`             // full, length (a provider refused the request), person, dedup, cleanup
	Focus string        `json:"focus,omitempty"` // what the person wants kept
	By    string        `json:"by"`              // model, ledger (without a model), pointers (only results were dropped)
	Older int           `json:"older"`
	Start []llm.Message `json:"start,omitempty"`
	// Summary is the part of Start that is not derived from the log.
	Summary string `json:"summary,omitempty"`
	// Pointers are results that are dropped besides.
	Pointers []Pointer `json:"pointers,omitempty"`
	Before   int64     `json:"before"` // tokens of the window, as pawl counts
	After    int64     `json:"after"`
	Error    *Fault    `json:"error,omitempty"` // why there is no summary of a model
}

// Pointer is a text that stands for a result that was dropped to make room.
// Message counts from Start on, Part within the message.
type Pointer struct {
	Message int    `json:"message"`
	Part    int    `json:"part"`
	Text    string `json:"text"`
}

// Ticked tells the folds the time: policy has no clock.
type Ticked struct{}

// The ephemeral bodies: shown, never stored.
type (
	// TextDelta is new text of the reply on its way.
	TextDelta struct {
		Text string `json:"text"`
	}
	// ReasoningDelta is new reasoning of the reply on its way.
	ReasoningDelta struct {
		Text string `json:"text"`
	}
	// CallDelta is more of a call's arguments on its way.
	CallDelta struct {
		Index int    `json:"index"`
		Name  string `json:"name"`
		Text  string `json:"text"`
	}
	// Progressed is how far the run has come, every few calls (SPEC 6.6).
	Progressed struct {
		Calls       int           `json:"calls"`
		Files       int           `json:"files"` // changed, each once
		Tests       int           `json:"tests"` // runs that passed
		Errors      int           `json:"errors"`
		Since       int           `json:"since"` // calls since there was something new
		Phase       string        `json:"phase,omitempty"`
		PhasesDone  int           `json:"phases_done"`
		PhasesTotal int           `json:"phases_total"`
		Elapsed     time.Duration `json:"elapsed"`
	}
	// Waiting counts down to the next try of a request that failed (SPEC 3.4).
	Waiting struct {
		Attempt int           `json:"attempt"` // the one that failed
		Left    time.Duration `json:"left"`
	}
	// OutputDelta is new output of a running call.
	OutputDelta struct {
		Call string `json:"call"`
		Text string `json:"text"`
	}
)
