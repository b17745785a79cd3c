package event

import (
	"encoding/json"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Source is who or what wrote a prompt.
type Source string

// The sources of prompts. Only Person resets progress detection.
const (
	Person  Source = "person"
	Autofix Source = "autofix"
	Hook    Source = "hook"
	Form    Source = "form"   // the answer does not have the form that a program wants
	Parent  Source = "parent" // a parent session's call of the agent tool
)

// Opened is the first event of a session.
type Opened struct {
	Dir     string  `json:"dir"`  // the workspace's real path
	Pawl    string  `json:"pawl"` // the version that opened it
	Mode    string  `json:"mode"` // the permission mode
	Origin  *Origin `json:"origin,omitempty"`
	Front   string  `json:"front,omitempty"` // line, headless, demo, …
	Durable bool    `json:"durable,omitempty"`
	Branch  string  `json:"branch,omitempty"` // the git branch that was checked out
	// Parent is the call that started this session, for an agent's session.
	Parent *ParentCall `json:"parent,omitempty"`
}

// Resumed records that a process opened the session again.
type Resumed struct {
	Pawl   string `json:"pawl"`
	Mode   string `json:"mode"`
	Branch string `json:"branch,omitempty"` // as in Opened
}

// Rebased freezes the head of the requests that follow (SPEC 9.4).
type Rebased struct {
	Why  RebasedWhy `json:"why"`
	Info llm.Info   `json:"info"`
	Head llm.Head   `json:"head"`
}

// Prompted starts a turn.
type Prompted struct {
	ID     string      `json:"id,omitempty"` // set by the sender
	Source Source      `json:"source"`
	Text   string      `json:"text"`
	Images []llm.Media `json:"images,omitempty"` // and other media
	// Typed is the part of the text that was neither pasted nor piped; "": all of it.
	Typed string `json:"typed,omitempty"`
	// Attached is the content of the @mentions in the text: files, listings.
	Attached string `json:"attached,omitempty"`
}

// Noted appends a message by pawl to the conversation (status, rules, recovery).
// It is part of the next request.
type Noted struct {
	Why  NotedWhy `json:"why"`
	Text string   `json:"text"`
}

// Requested records that a request is sent; Attempt counts from 1.
type Requested struct {
	Attempt int    `json:"attempt"`
	Bytes   int64  `json:"bytes"`
	Model   string `json:"model"`
	// Reserved is what the budget reserved for it, in USD, where prices are known.
	Reserved *float64 `json:"reserved,omitempty"`
	// What it has: messages, definitions of tools, and tokens by pawl's count.
	Messages int `json:"messages,omitempty"`
	Tools    int `json:"tools,omitempty"`
	Tokens   int `json:"tokens,omitempty"`
}

// Retried records that a request failed and is retried after Wait. Shown: text of the failed
// attempt was on the screen, and is retracted (SPEC 3.4).
type Retried struct {
	Attempt int           `json:"attempt"`
	Error   Fault         `json:"error"`
	Wait    time.Duration `json:"wait"`
	Shown   bool          `json:"shown"`
	Model   string        `json:"model,omitempty"` // the model of the next attempt, if another
	Most    int           `json:"most,omitempty"`  // attempts that there are at most, if they are counted
	Left    time.Duration `json:"left,omitempty"`  // how long else they go on after the wait
	// Loop is the passage for whose repetition the reply was cut off and dropped (SPEC 6.3).
	Loop string `json:"loop,omitempty"`
}

// Replied is a whole reply. Cost is nil where it is not known.
type Replied struct {
	Reply llm.Reply     `json:"reply"`
	Cost  *float64      `json:"cost"`
	Took  time.Duration `json:"took"`
}

// CallAsked records that a call of the reply will be checked next.
type CallAsked struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Sent string          `json:"sent,omitempty"` // as the model sent it, if it was repaired
	Fix  string          `json:"fix,omitempty"`  // what was corrected; shown in the result
	// What the call works on, as its tool reports it: see tool.About.
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
	UnknownDone Outcome = "unknown" // the process died while the call ran
	Invalid     Outcome = "invalid" // arguments or name: never ran
	NothingDone Outcome = "nothing" // for operations: there was nothing to do
)

// CallDone closes a call: exactly one for every CallAsked (SPEC 4.8).
type CallDone struct {
	ID      string        `json:"id"`
	Tool    string        `json:"tool"`
	Outcome Outcome       `json:"outcome"`
	Result  llm.Result    `json:"result"` // as shown to the model
	Note    string        `json:"note,omitempty"`
	Diff    string        `json:"diff,omitempty"`
	Command string        `json:"command,omitempty"`
	Exit    *int          `json:"exit,omitempty"`
	Checks  []tool.Ended  `json:"checks,omitzero"` // of the line, where that is known: see tool.Ran
	Took    time.Duration `json:"took"`
	Bytes   int64         `json:"bytes"`           // of the whole result, before truncation
	Spill   string        `json:"spill,omitempty"` // where the whole result is
	// Facts of the tool: see tool.Facts.
	Does       tool.Kind `json:"does,omitempty"`
	Listing    bool      `json:"listing,omitempty"`
	Repeatable bool      `json:"repeatable,omitempty"`
	// Untouched: the sandbox saw that the command opened no file of the workspace for
	// writing, and made, moved and removed none. Git's folder does not count.
	Untouched bool `json:"untouched,omitempty"`
}

// FileSeen records which lines of a file the model was shown.
type FileSeen struct {
	Call  string      `json:"call,omitempty"`
	Spans []tool.Span `json:"spans"`
}

// FileChanged is a write, by a tool or by a command (Tool is then bash, or
// command for a person's own). Before and After are hashes of blobs; empty means
// that the file did not or does not exist. Kept is false if the content before
// could not be kept, so that it cannot be restored.
type FileChanged struct {
	Call   string    `json:"call,omitempty"`
	Tool   string    `json:"tool"`
	Path   string    `json:"path"`
	Before tool.Hash `json:"before,omitempty"`
	After  tool.Hash `json:"after,omitempty"`
	// Mode and ModeBefore are permission bits. For a link they include
	// fs.ModeSymlink, and the content is the link's target. 0: not known.
	Mode       uint32 `json:"mode,omitempty"`
	ModeBefore uint32 `json:"mode_before,omitempty"`
	Kept       bool   `json:"kept"`
	Added      int    `json:"added"`
	Removed    int    `json:"removed"`
	// From and To are the first and the last line that changed, by the numbers before;
	// 0: not known. If no line was removed, To is From-1.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Folders were created for it, the outermost first. An undo removes them if
	// they are empty.
	Folders []string `json:"folders,omitempty"`
	// Unattributed: it changed while a command ran, and nothing shows that the
	// command changed it. It is undone only if a person confirms it (SPEC 11.2).
	Unattributed bool `json:"loose,omitempty"`
	// Does is tool.Edit for a tool's own writes and tool.Exec for changes by a
	// command. Whole: the tool wrote the whole file, so the model knows its content.
	Does  tool.Kind `json:"does,omitempty"`
	Whole bool      `json:"whole,omitempty"`
	// Stored: its content before is kept as a file: an event.Kept follows.
	Stored bool `json:"stored,omitempty"`
	// Child, if set: an agent changed it in its own session, and Call is the call
	// that the agent works for.
	Child *ChildEvent `json:"child,omitempty"`
}

// Kept records that what a command removed, replaced, emptied or moved is kept as files,
// since no blob has it: a file, or a folder with that many files (SPEC 16.15).
type Kept struct {
	Call  string      `json:"call,omitempty"`
	Tool  string      `json:"tool"`
	Path  string      `json:"path"`
	Set   string      `json:"set"` // the name of what keeps it
	Files int         `json:"files"`
	Bytes int64       `json:"bytes"`
	Child *ChildEvent `json:"child,omitempty"` // as of FileChanged
}

// Unrestorable returns the change as the log keeps it when a secret in its path
// was masked: a file of the masked name cannot be restored.
func (c FileChanged) Unrestorable() any {
	c.Kept = false
	return c
}

// Writing records which writes come next, before the first of them. If the
// process dies in between, the log shows which files to check: each is then as
// Before or as After, and reopening records which. A Writing without files means
// that the writes announced before it, of the same call and tool, did not happen.
type Writing struct {
	Call  string        `json:"call,omitempty"`
	Tool  string        `json:"tool"`
	Files []FileChanged `json:"files"`
	// Does and Whole are those of the changes that follow.
	Does  tool.Kind `json:"does,omitempty"`
	Whole bool      `json:"whole,omitempty"`
	// Undone or Redone is the event that is recorded after an undo or a redo.
	Undone *Undone `json:"undone,omitempty"`
	Redone *Redone `json:"redone,omitempty"`
}

// Undone records that changes were undone. Changes are the sequence numbers of
// their events. Logs of older versions have none; there it is all changes of the
// turn that began at Prompt.
type Undone struct {
	What    string   `json:"what,omitempty"` // change, turn, file, command, rewind
	Prompt  int64    `json:"prompt"`
	Changes []int64  `json:"changes,omitempty"`
	Paths   []string `json:"paths"`
	// Kept are paths where a later change by someone else was kept beside what
	// was restored.
	Kept []string `json:"kept,omitempty"`
}

// Redone records that an Undone was reverted: its changes were made again.
type Redone struct {
	Undone int64    `json:"undone"` // the sequence number of its event
	Paths  []string `json:"paths"`
}

// Phased opens a phase of the task (SPEC 7), by a person or a plan file.
// Number 0 closes the open one.
type Phased struct {
	Number   int           `json:"number"`
	Text     string        `json:"text,omitempty"`
	Expected time.Duration `json:"expected,omitempty"` // 0: not given
	Failed   bool          `json:"failed,omitempty"`   // for a closing one
	By       Author        `json:"by"`
	// Plan is all phases of a plan file that is in force from here on; the first
	// of them has the number Number.
	Plan []PhaseStep `json:"plan,omitempty"`
}

// PhaseStep is a phase of a plan file.
type PhaseStep struct {
	Text     string        `json:"text"`
	Expected time.Duration `json:"expected,omitempty"` // 0: not given
}

// Routed records how a prompt was classified: it sets the rights that the turn
// starts with (SPEC 13.1). A later Routed of the same turn replaces it.
type Routed struct {
	Route string   `json:"route"`
	By    RoutedBy `json:"by"`
	Why   string   `json:"why"` // the words that decided
	Path  []string `json:"path,omitempty"`
	// Rights are those of the turn: read, run, edit. Empty: all.
	Rights []string `json:"rights,omitempty"`
	// Explicit: somebody asked for this route, so only a person can grant more rights.
	Explicit bool `json:"firm,omitempty"`
}

// Cleaned marks results that the model no longer needs: at the next rebase
// Summary replaces them (SPEC 9.5).
type Cleaned struct {
	Results []string `json:"results"` // as their handles were shown
	Summary string   `json:"summary"`
	Reason  string   `json:"reason,omitempty"`
}

// Recalled replaces a reply without asking a model. It is an answer that was
// given before and still holds (SPEC 11.6), or, without a Key, pawl's message
// that a preference is kept.
type Recalled struct {
	Key  string        `json:"key,omitempty"`
	Text string        `json:"text"`
	Age  time.Duration `json:"age"` // since it was first given
	Took time.Duration `json:"took"`
}

// Planned is the model's current plan.
type Planned struct {
	Items []tool.Item `json:"items"`
}

// Remembered is a note kept across sessions.
type Remembered struct {
	Text string `json:"text"`
	Sort string `json:"sort,omitempty"` // "" a note; preference
}

// Forgotten records that a note was removed.
type Forgotten struct {
	Text string `json:"text"`
	Sort string `json:"sort,omitempty"`
}

// PersonRan is a command that the person ran with "!". The command and its output
// are part of the conversation.
type PersonRan struct {
	Command string       `json:"command"`
	Output  string       `json:"output"`
	Exit    *int         `json:"exit,omitempty"`
	Checks  []tool.Ended `json:"checks,omitzero"` // as in CallDone
}

// Interrupted records that a person or a signal interrupted the turn.
type Interrupted struct {
	By string `json:"by"` // a constant InterruptedBy…, or the name of a signal
}

// Marker is the text that the model reads where a turn was interrupted.
func (i Interrupted) Marker() string {
	if i.By == InterruptedByPermission {
		return "[Request interrupted by user due to permission denial]"
	}
	return "[Request interrupted by user]"
}

// Fault is an error as events store it.
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
	EndDisk        End = "disk" // there is no room for the log
	EndPermission  End = "permission"
	EndInterrupted End = "interrupted"
	EndTimeout     End = "timeout"
)

// Stuck records the action against a run that goes in circles (SPEC 6.5). Text
// went to the model at recovery and block, and to the person at halt.
type Stuck struct {
	Level       string   `json:"level"` // StuckRecovery, block, halt
	Rule        string   `json:"rule"`
	Text        string   `json:"text"`
	Evidence    []string `json:"evidence"`       // a line for each call that shows it
	Fingerprint string   `json:"fingerprint"`    // equal for the same loop
	Steps       []int    `json:"steps"`          // the calls that show it, counted from 0
	Call        string   `json:"call,omitempty"` // the call that is blocked, as policy/progress names it
}

// StuckRecovery is the Stuck.Level of a message to the model that blocks nothing.
const StuckRecovery = "recovery"

// Warned tells the person that a soft limit was passed, or what they should know.
type Warned struct {
	What WarnedWhat `json:"what"`
	Text string     `json:"text"`
}

// Extended records that a person raised a hard limit when it was reached. To is
// the new limit in its own unit (USD, tokens, seconds, a count); 0 is none.
type Extended struct {
	What string  `json:"what"` // as in Warned
	To   float64 `json:"to"`
}

// Charged is spending beside the session's own replies that counts against its
// budget: a child session's request, a summary, a reply that broke off.
// Guess is true if pawl counted it and no provider reported it; Unknown then marks
// a whole reply whose cost is not known but at most USD.
// USD is nil where it is not known.
type Charged struct {
	By       string    `json:"by"` // a constant Charged…, or a child's session
	Child    bool      `json:"child,omitempty"`
	Model    string    `json:"model,omitempty"`
	Usage    llm.Usage `json:"usage"`
	USD      *float64  `json:"usd"`
	Guess    bool      `json:"guess,omitempty"`
	Unknown  bool      `json:"unknown,omitempty"`
	Requests int       `json:"requests,omitempty"`
	Calls    int       `json:"calls,omitempty"`
	Request  string    `json:"request,omitempty"` // SideRequest.ID
}

// SideRequest records that a request beside the conversation is sent: for a
// summary, to classify a prompt, or by a worker of a swarm. The Charged event with its
// ID closes it, even if it cost nothing. In old logs it has no ID: a Charged with the
// same By closes it, and a Compacted closes that of a summary. If it is open when a
// session is resumed, it was sent and its cost is not known.
type SideRequest struct {
	// ID is unique among the requests in flight. What is open is charged when a session
	// is resumed, so a later process may use the same IDs again.
	ID       string   `json:"id,omitempty"`
	By       string   `json:"by"` // as in Charged
	Model    string   `json:"model"`
	Input    int64    `json:"input"`              // tokens, by pawl's count
	Reserved *float64 `json:"reserved,omitempty"` // in USD, where prices are known
}

// Compacted shortens the conversation (SPEC 9.6): from here on requests begin
// with Start, which replaces the Older oldest messages. The log keeps the replaced
// messages, and replay needs no model.
type Compacted struct {
	Why   CompactedWhy  `json:"why"`
	Focus string        `json:"focus,omitempty"` // what the person wants to keep
	By    CompactedBy   `json:"by"`
	Older int           `json:"older"`
	Start []llm.Message `json:"start,omitempty"`
	// Summary is the part of Start that is not derived from the log.
	Summary string `json:"summary,omitempty"`
	// Pointers are results that are dropped in addition.
	Pointers []Pointer `json:"pointers,omitempty"`
	Before   int64     `json:"before"` // tokens of the window, by pawl's count
	After    int64     `json:"after"`
	Error    *Fault    `json:"error,omitempty"` // why the model wrote no summary
}

// Pointer is a text that replaces a result that was dropped to make room.
// Message counts from Start, Part within the message.
type Pointer struct {
	Message int    `json:"message"`
	Part    int    `json:"part"`
	Text    string `json:"text"`
}

// Ticked passes the time to the folds: policy has no clock.
type Ticked struct{}

// The ephemeral bodies: shown and never stored.
type (
	// TextDelta is new text of the reply that is being streamed.
	TextDelta struct {
		Text string `json:"text"`
	}
	// ReasoningDelta is new reasoning of the reply that is being streamed.
	ReasoningDelta struct {
		Text string `json:"text"`
	}
	// CallDelta is a new part of a call's arguments.
	CallDelta struct {
		Index int    `json:"index"`
		Name  string `json:"name"`
		Text  string `json:"text"`
	}
	// Progressed reports the state of the run, every few calls (SPEC 6.6).
	Progressed struct {
		Calls       int           `json:"calls"`
		Files       int           `json:"files"` // changed files, each counted once
		Tests       int           `json:"tests"` // runs that passed
		Errors      int           `json:"errors"`
		Since       int           `json:"since"` // calls since the last new content or result
		Phase       string        `json:"phase,omitempty"`
		PhasesDone  int           `json:"phases_done"`
		PhasesTotal int           `json:"phases_total"`
		Elapsed     time.Duration `json:"elapsed"`
	}
	// Waiting counts down to the next attempt of a request that failed (SPEC 3.4).
	Waiting struct {
		Attempt int           `json:"attempt"` // the one that failed
		Left    time.Duration `json:"left"`
	}
	// OutputDelta is new output of a running call.
	OutputDelta struct {
		Call string `json:"call"`
		Text string `json:"text"`
	}
	// TaskCalled is what a worker of a swarm did last, for those who look.
	TaskCalled struct {
		Worker string `json:"worker"`
		What   string `json:"what"`
	}
)
