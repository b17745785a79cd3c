// Package chat is the conversation that every frontend shows: a timeline of
// blocks, folded from a session's events. A frontend draws blocks and knows no
// event, so a session that is resumed, watched or exported looks as it did
// while it ran (SPEC 18.1).
//
// It promises that the same log produces the same blocks, in the same order and
// with the same ids, whether its events are live or read again. A block that
// the log does not keep is marked Ephemeral. A finished block never changes
// again, and finished blocks come in their final order: a frontend may write
// them once and for all. All text in a block is sanitised (package plain);
// nothing is cut, wrapped, indented or coloured.
//
// # A frontend for people
//
// Conversation is its model and its controller. Begin opens a session. Next
// returns the changes, and is the only source of what is drawn: of the session,
// of slash commands, and of failures. All other methods return at once:
//
//   - Enter handles a typed entry: a prompt (Say), "!command", "/command". While a
//     turn runs, a prompt is delivered into it before its next request. Queue
//     returns the entries that are not delivered yet, TakeBack takes one back. A
//     Prompt block with an entry's id shows that it has reached the model.
//   - Press handles the interrupt key, Interrupt cancels what runs. Waiting entries
//     are returned as a TakenBack block: they belong in the input.
//   - Question returns the open question: about a call that needs consent, or of
//     the model, of pawl itself, or of a slash command. Ask returns its Form: the
//     choices, with the exact rule that each allows, and what a key or a typed
//     answer means. Answer sends the whole answer, SetMode changes the mode.
//   - When an Editing block is Added, the frontend opens the person's editor and
//     passes the text to Edited. It carries out an Act when it comes.
//   - Session has the facts for a status line: model, mode, cost, window, phases.
//
// A frontend that writes each block once draws it when it is Finished, and may
// write the new text (More) as it comes; one with a live area draws there what
// Open returns. A Past change happened before the session was opened: it is
// drawn or skipped. A Reported change is in the output of a slash command
// already. The Start block is Added before the Past changes and Finished after
// them.
//
// A line editor, which must know when to prompt again, calls Idle after each
// Next; while a question waits, TurnDone.
//
// A frontend without a person uses Follow on an open session, and one that
// reads a stored log needs only a Timeline.
//
// It refuses to know a tool by its name, to keep finished blocks (memory does
// not grow with the session), and to measure time.
package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Block is one entry of a timeline.
type Block struct {
	// ID is unique among the blocks that are open or kept by the log, and the
	// same each time the log is folded.
	ID   string
	Open bool // it may still change
	// Began and Ended are the times of its first and its last event; a call that
	// was asked about began when it started. For a person's command the log has
	// only the end.
	Began, Ended time.Time
	// Ephemeral: the log does not keep it. A reply that broke off was shown
	// while it streamed and is withdrawn.
	Ephemeral bool
	Body      Body
}

// Body is the content of a block, one type for each kind.
type Body interface{ body() }

type Prompt struct {
	// Queued is the id that Conversation.Enter returned for it, "" for a prompt
	// from elsewhere.
	Queued string
	// Joined: it was delivered into a running turn, before its next request.
	Joined   bool
	Source   event.Source
	Text     string
	Attached []string // what its mentions attached
	Media    string   // how many images and documents
}

// Thinking is the model's reasoning.
type Thinking struct{ Text string }

// Reply is the model's text. While it is open, Text is empty: the text comes as
// Change.More.
type Reply struct {
	Text   string
	Before string   // of the replies that this one continues, since they were cut
	Calls  int      // the calls that it asks for; 0: it is an answer
	Cost   *float64 // in USD; nil: not known
	Cached string   // of a repeated answer: how long ago it was given
}

// Answer returns the whole answer that the reply ends.
func (r Reply) Answer() string { return r.Before + r.Text }

// Call is a call of a tool.
type Call struct {
	Tool   string
	Kind   tool.Kind
	Target string
	Title  string // the tool and its most informative argument
	// Arguments are all of them in one line, if the title has none.
	Arguments string
	// Started: it passed its gates and is running.
	Started bool
	// AsksPerson: it asked the person a question, which is a separate block.
	AsksPerson bool

	// The following fields are empty while the call is open.
	Outcome event.Outcome
	Summary string // its outcome, in a few words
	Command string // of a shell
	Exit    *int   // nil where there is none
	Diff    string
	Output  string // the result as shown to the model
	Images  []llm.Media
}

// Check is one of the project's checks that pawl runs by itself.
type Check struct {
	Title   string
	Summary string // its outcome, in a few words; empty while it is open
	Exit    *int   // nil: it did not run to its end
	Output  string // the relevant part of a failed one's output
}

// Command is a person's own command. While it is open its output comes as
// Change.More and Line is empty: the log has the line only at the end.
type Command struct {
	Line   string
	Output string
	Exit   *int // nil: it was stopped
}

// Question is a question to a person. It is open until it is answered or the turn ends.
type Question struct {
	ID   string // to answer it
	From string // the child session that asks; empty for the session itself
	// Why is the subject of a question by pawl itself, or AskedByCommand; empty
	// if a call or the model asks.
	Why     string
	Text    string
	Options []string
	Answers []choice.Option // of a question by a command: one of these is the answer
	// Items, if there are any, are what a person picks from: the answer is the ID of one, or
	// empty. Only a frontend with Config.CanPick gets them.
	Items []slash.Item
	Calls []Consent // calls that need consent
	// Answer and Verdicts are the person's answer; both are empty if there is none.
	Answer   string
	Verdicts []event.Verdict
}

// Consent is one call in a question.
type Consent struct {
	Call    string // to answer with
	Block   string // the call's block, "" for a call of an agent
	Tool    string
	Title   string
	Wants   string // of a call that already runs: verb and object
	Preview string
	Reason  string // why pawl asks, "" if title and preview show it
	Rule    string // what an answer for the session or for always would allow, "" for nothing
	Always  bool   // whether always may be answered
	Edits   bool   // the next wider mode would not ask
	Diff    bool   // Preview is a diff, not a command or arguments
}

// Retry is the tries of a request that failed one after the other for one reason. It is open
// until a reply came, or a try failed for another reason.
type Retry struct {
	Reason string
	Tries  int
	Text   string        // all of it, also when the next try comes, and when pawl gives up
	Next   string        // when the next try comes, a part of Text; "" if none comes
	Left   time.Duration // the same as a time
	Failed bool          // the change is that a try failed, not that time passed
}

// Aside is a person's question outside the conversation. It is open until it is answered.
type Aside struct {
	Question, Answer string
	Cost             *float64 // in USD; nil: not known
	Error            string   // why the model did not answer, "" if it did
}

// Document is the plan of the task as a Markdown document.
type Document struct {
	Text   string
	By     string // who wrote it: model (its reply has just shown it), person
	Phases int
}

// Act is what only the frontend itself can do; it draws nothing for it.
type Act struct {
	What slash.Act
	Text string
	Live func() string // of ShowLive
}

// Editing is a text that a person is to edit in their editor: Conversation.Edited takes
// the result. It is finished then.
type Editing struct{ ID, Text string }

// Plan is the model's list of steps at that time.
type Plan struct{ Items []tool.Item }

// Phase is a phase of the task that was planned, begins or ends.
type Phase struct {
	State         PhaseState
	Number, Total int
	Text          string
	By            string // person, plan, model
	How           string // its outcome, if it ended
	Failed        bool   // it was given up
	ByNext        bool   // it ended because the next one began
}

type PhaseState string

// The states of phases.
const (
	Planned PhaseState = "planned"
	Begun   PhaseState = "begun"
	Over    PhaseState = "over"
)

// AskedByCommand is the Why of a question by a slash command: Text is the whole
// question, and an empty answer is valid.
const AskedByCommand = "command"

// Start is an opened session. It is open while earlier events are folded and
// finished after that; both are ephemeral.
type Start struct {
	ID    string
	Model string // which one, from where, at what price
	Mode  string
	Notes []string // messages about it
	// Welcome is for somebody who starts pawl for the first time.
	Welcome []string
	Fork    bool // a copy to continue with: the conversation is shown above
	// Earlier is up to which event of the log no changes are passed on, 0 if all are.
	Earlier int64
	// The last prompt before it was opened and its answer, once the block is finished.
	Prompt, Answer string
}

// Output is the output of a slash command. While it is open its text comes as
// Change.More.
type Output struct {
	Command string // such as /undo turn, where it has shown nothing else before; empty for what opening a session writes
	Text    string
}

// Patch is a diff that a slash command shows.
type Patch struct {
	Command string // that asked for it, where it has shown nothing else before
	Text    string
}

// TakenBack is entries to be edited, after an interrupt or a rewind. They
// belong in the input.
type TakenBack struct{ Texts []string }

// Queued is an entry that waits because something is running:
// Conversation.Queue lists these, and a Prompt block with that id shows that it
// was delivered.
type Queued struct {
	ID, Text string
	// After: it waits for the end of what runs and is not delivered before: a
	// command, or an entry after one.
	After bool
}

// Note is a line by pawl.
type Note struct {
	Kind NoteKind
	Text string
	More []string // further lines
	// Evidence has a line for each fact, for people who ask.
	Evidence []string
	Explicit bool   // of a route: somebody asked for it
	By       string // of an interrupt: who
}

// NoteKind is the subject of a note: each frontend decides which ones it shows, and how.
type NoteKind string

// The kinds of notes.
const (
	OfSession    NoteKind = "session"    // it was opened
	OfModel      NoteKind = "model"      // which one, from where, at what price
	OfRoute      NoteKind = "route"      // how the prompt was classified
	OfMode       NoteKind = "mode"       // the permission mode changed
	OfGrant      NoteKind = "grant"      // something is allowed from here on
	OfWarning    NoteKind = "warning"    // a soft limit, a masked key
	OfStuck      NoteKind = "stuck"      // the model repeats itself
	OfCompaction NoteKind = "compaction" // the conversation was compacted
	OfUndo       NoteKind = "undo"       // changes were undone or redone
	OfTold       NoteKind = "told"       // pawl's note to the model
	OfRefusal    NoteKind = "refusal"    // of the model
	OfInterrupt  NoteKind = "interrupt"
	OfProgress   NoteKind = "progress" // the state of the run; ephemeral
	OfFailure    NoteKind = "failure"  // something was not done
	OfPlan       NoteKind = "plan"     // the plan was approved or rejected
	OfRemote     NoteKind = "remote"   // what comes from a browser
	OfRequest    NoteKind = "request"  // what a request has; only for those who ask to see it
)

// TurnEnd is how a turn ended.
type TurnEnd struct {
	End   event.End
	Error string // "" for none, and for an end that a person wanted
	// Proof is what is proven and what changed, in lines; none if nothing changed.
	Proof []string
	Spent budget.Spent // in the turn
}

func (Prompt) body()   {}
func (Thinking) body() {}
func (Reply) body()    {}
func (Call) body()     {}
func (Check) body()    {}
func (Command) body()  {}
func (Question) body() {}
func (Retry) body()    {}
func (Plan) body()     {}
func (Phase) body()    {}
func (Note) body()     {}
func (TurnEnd) body()  {}

func (Aside) body()     {}
func (Document) body()  {}
func (Act) body()       {}
func (Editing) body()   {}
func (Start) body()     {}
func (Output) body()    {}
func (Patch) body()     {}
func (TakenBack) body() {}
func (Queued) body()    {}

// Change is the effect of an event on a block.
type Change struct {
	What  What
	Block Block // in its present state
	// More is new text: of a reply, of thinking, or the output of a call, a
	// check or a command. All the Mores of a finished block are its text,
	// unless some were missed.
	More string
	// Missed: a slow reader lost pieces. The finished block has the whole text.
	Missed bool
	// Past: it happened before the session was opened. Told: the output of a
	// slash command reports it already. Only of a Conversation.
	Past, Reported bool
	// Elsewhere: a prompt that came from another terminal or a browser. Only of a
	// Conversation.
	Elsewhere bool
	after     int64 // the event that comes before it
}

// What happened to a block.
type What string

// The changes. A block that is complete from the start is Finished at once, and
// was never Added.
const (
	Added    What = "added"
	Changed  What = "changed"
	Finished What = "finished"
)

// String describes the beginning or the end of a phase in a line; "" for a planned one.
func (p Phase) String() string {
	head := fmt.Sprintf("phase %d of %d", p.Number, p.Total)
	switch p.State {
	case Begun:
		return head + ": " + p.Text
	case Over:
		return head + " " + p.How
	}
	return ""
}

// Attachments names what the mentions of a prompt attached, "" for nothing.
func (p Prompt) Attachments() string {
	if len(p.Attached) == 0 {
		return ""
	}
	return "attached: " + strings.Join(p.Attached, ", ")
}

// Head returns the first line of a session: which model, from where, at what price (SPEC 5.5),
// and the mode. It leaves out what /status also shows until it fits into width; 0: no limit.
func (s Start) Head(width int) string {
	short := strings.ReplaceAll(s.Model, " per M tokens", " per M")
	least := strings.NewReplacer(" from ", ", ", " per M", "").Replace(short)
	if width > 0 && width < 60 { // a narrow screen shows each row twice as high
		if from, rest, ok := strings.Cut(least, ", effort "); ok {
			_, price, _ := strings.Cut(rest, ", ")
			least = from + ", " + price
		}
	}
	text, id := "", ""
	if s.ID != "" {
		id = "; session " + s.ID
	}
	for _, text = range []string{
		fmt.Sprintf("%s; mode %s%s; /help", s.Model, s.Mode, id),
		fmt.Sprintf("%s; mode %s%s", s.Model, s.Mode, id),
		fmt.Sprintf("%s; mode %s; /help", s.Model, s.Mode),
		fmt.Sprintf("%s; mode %s; /help", short, s.Mode),
		fmt.Sprintf("%s; mode %s", short, s.Mode),
		fmt.Sprintf("%s; %s", strings.Replace(short, " from ", ", ", 1), s.Mode),
		fmt.Sprintf("%s; %s", least, s.Mode),
	} {
		if width <= 0 || plain.Width(text) <= width {
			break
		}
	}
	return text
}
