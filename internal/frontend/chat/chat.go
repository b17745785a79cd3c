// Package chat is the conversation that every frontend shows: a timeline of
// blocks, folded from a session's events. A frontend draws blocks and knows no
// event; so a session that is resumed, watched or exported looks as it did
// while it ran (SPEC 18.1).
//
// It promises that the same log gives the same blocks, in the same order and
// with the same ids, whether its events come live or are read again; what was
// only shown and is not in the log is marked Ephemeral. A block that is
// finished never changes again, and finished blocks come in their final order:
// a frontend may write them to paper. All text in a block is sanitised (package
// plain); nothing is cut, wrapped, indented or coloured.
//
// # A frontend for people
//
// Conversation is its model and its controller. Begin opens a session; Next
// returns what changed, one Change after the other, and is the only source of
// what is drawn: of the session, of slash commands, and of what could not be
// done. All else returns at once:
//
//   - Enter takes what was typed: a prompt (Say), "!command", "/command". While a
//     turn runs, a prompt is delivered into it before its next request. Queue is
//     what has not been delivered yet, TakeBack takes an entry of it back; a
//     Prompt block with that id tells that it has reached the model.
//   - Press takes the interrupt key, Interrupt cancels what runs. What waited is
//     given back as a TakenBack block: it belongs in the input.
//   - Question is what waits for an answer: a call that needs consent, a question
//     of the model, of pawl itself, or of a slash command. Ask returns its Form:
//     which answers there are at the moment, with the exact rule that each
//     allows, and what a key or a typed answer means. Answer sends the whole
//     answer, SetMode what a form or a key says of the mode.
//   - Session is what a status line asks: model, mode, cost, window, phases.
//
// A frontend draws a Change so: one that writes once draws a block when it is
// Finished, and may write what a text grows by (More) as it comes; one that has
// a live area draws there what Open returns. What is Past was before the session
// was opened: it is drawn or skipped; what was Told stands in the output of a
// slash command already. The Start block is Added before what is Past and
// Finished after it.
//
// One that knows when all is done (for a line editor to ask again) asks Resting
// after each Next; Settled is the same while a question waits.
//
// A frontend without a person uses Follow on an open session, and one that reads
// a stored log needs only a Timeline.
//
// It refuses: to know a tool by its name, to keep finished blocks (memory stays
// flat however long a session is), and to measure time.
package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Block is one thing that a timeline shows.
type Block struct {
	// ID is the block's own among those that are open or kept by the log, and the
	// same each time the log is folded.
	ID   string
	Open bool // it may still change
	// Began and Ended are the times of its first and its last event. Of a
	// person's command the log has only the end.
	Began, Ended time.Time
	// Ephemeral: the log does not keep it. A reply that broke off was shown as
	// it came and is withdrawn.
	Ephemeral bool
	Body      Body
}

// Body is what a block shows, one type for each kind.
type Body interface{ body() }

// Prompt is what was asked for.
type Prompt struct {
	// Queued is the id that Conversation.Enter returned for it, "" for a prompt
	// from elsewhere.
	Queued string
	// Joined: it was delivered into a turn that ran, before its next request.
	Joined   bool
	Source   event.Source
	Text     string
	Attached []string // what its mentions brought along
	Images   int
}

// Thinking is reasoning of the model.
type Thinking struct{ Text string }

// Reply is the model's words. While it is open, Text is empty: the words come
// as Change.More.
type Reply struct {
	Text   string
	Calls  int           // that it asks for; 0: it is an answer
	Cost   *float64      // in USD; nil: not known
	Took   time.Duration // 0: not known
	Cached string        // of an answer that was given before: how long ago
}

// Call is a call of a tool.
type Call struct {
	Tool   string
	Kind   tool.Kind
	Target string
	Title  string // the tool and the argument that tells most
	// Started: it passed its gates and runs.
	Started bool
	// Asks: it put a question to the person, which is a block of its own.
	Asks bool

	// What follows is empty while the call is open.
	Outcome event.Outcome
	Said    string // how it went, in a few words
	Command string // of a shell
	Exit    *int   // nil where there is none
	Diff    string
	Output  string // the result as the model is shown it
	Took    time.Duration
}

// Check is one of the project's checks that pawl runs by itself.
type Check struct {
	Title  string
	Said   string // how it went, in a few words; empty while it is open
	Exit   *int   // nil: it did not run to its end
	Output string // what matters of what a failed one printed
	Took   time.Duration
}

// Command is a person's own command. While it is open its output comes as
// Change.More and Line is empty: the log has it at its end.
type Command struct {
	Line   string
	Output string
	Exit   *int // nil: it did not end by itself
}

// Question is something a person is asked. It is open until it is answered or
// the turn ends without.
type Question struct {
	ID   string // to answer it
	From string // the child session that asks; empty where it is the session itself
	// Why is what pawl itself asks about, or AskedByCommand; empty where a call or
	// the model asks.
	Why     string
	Text    string
	Options []string
	Calls   []Consent // calls that need consent
	// Answer and Verdicts are what the person said; both are empty where the
	// question was not answered.
	Answer   string
	Verdicts []event.Verdict
}

// Consent is one call that a question is about.
type Consent struct {
	Call    string // to answer with
	Tool    string
	Title   string
	Preview string
	Reason  string // why it is asked, "" where title and preview say so
	Rule    string // what an answer for the session or for always would allow, "" for nothing
	Always  bool   // whether always may be answered
	Edits   bool   // the mode accept-edits would not ask
	Diff    bool   // Preview is a diff, and not a command or arguments
}

// Retry is a request that failed and is tried again. It is open until the next
// try.
type Retry struct {
	Attempt int
	Text    string
	Wait    time.Duration
	// Left counts down to the next try while the block is open; Waiting is the
	// same in words, empty before the first count.
	Left    time.Duration
	Waiting string
}

// Plan is the model's plan as it stood.
type Plan struct{ Items []tool.Item }

// Phase is a part of the task that was planned, begins or ends.
type Phase struct {
	State         PhaseState
	Number, Total int
	Text          string
	By            string // person, plan, model
	How           string // it ended, and what came of it
	Failed        bool   // it was given up
	ByNext        bool   // it ended because the next one began
}

// PhaseState is what became of a phase.
type PhaseState string

// The states of phases.
const (
	Planned PhaseState = "planned"
	Begun   PhaseState = "begun"
	Over    PhaseState = "over"
)

// AskedByCommand is the Why of a question that a slash command puts: Text is the
// whole of it, and an empty answer is one.
const AskedByCommand = "command"

// Start is a session that was opened. It is open while what was before is folded
// and finished after that; both are ephemeral.
type Start struct {
	ID    string
	Model string // which one, from where, at what price
	Mode  string
	Notes []string // what to say of it
	Fork  bool     // a copy, to go on with: what was said stands above
	// What was asked last before it was opened and what was answered, once the
	// block is finished.
	Prompt, Answer string
}

// Output is what a slash command writes. While it is open its text comes as
// Change.More.
type Output struct {
	Command string // such as /status; empty for what opening a session writes
	Text    string
}

// Patch is a diff that a slash command shows.
type Patch struct{ Text string }

// TakenBack is what was entered and is to be edited: an interrupt gave it back,
// or a rewind. It belongs in the input.
type TakenBack struct{ Texts []string }

// Queued is what was entered while something runs. It waits: Conversation.Queue
// lists what does, and a Prompt block with that id tells that it was delivered.
type Queued struct {
	ID, Text string
	// After: it waits for the end of what runs, and is not delivered before: a
	// command, or what was entered after one.
	After bool
}

// Note is a line of pawl's own.
type Note struct {
	Kind NoteKind
	Text string
	More []string // further lines
	// Evidence, a line each, is for those who ask.
	Evidence []string
	Firm     bool   // of a route: somebody said so
	By       string // of an interrupt: who
}

// NoteKind is what a note is about: frontends show some, each in its way.
type NoteKind string

// The kinds of notes.
const (
	OfSession    NoteKind = "session"    // it was opened
	OfModel      NoteKind = "model"      // which one, from where, at what price
	OfRoute      NoteKind = "route"      // what the prompt was taken for
	OfMode       NoteKind = "mode"       // the permission mode changed
	OfGrant      NoteKind = "grant"      // something is allowed from here on
	OfWarning    NoteKind = "warning"    // a soft limit, a masked key
	OfStuck      NoteKind = "stuck"      // the model goes in circles
	OfCompaction NoteKind = "compaction" // the conversation was made shorter
	OfUndo       NoteKind = "undo"       // changes were put back, or done again
	OfTold       NoteKind = "told"       // what pawl told the model
	OfRefusal    NoteKind = "refusal"    // of the model
	OfInterrupt  NoteKind = "interrupt"
	OfProgress   NoteKind = "progress" // how far the run has come; ephemeral
	OfFailure    NoteKind = "failure"  // something was not done
)

// Ending is how a turn ended.
type Ending struct {
	End   event.End
	Error string // "" for none, and for an end that a person wanted
	// Proof is what changed and what is proven of it, "" where nothing changed.
	Proof string
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
func (Ending) body()   {}

func (Start) body()     {}
func (Output) body()    {}
func (Patch) body()     {}
func (TakenBack) body() {}
func (Queued) body()    {}

// Change is what an event did to a block.
type Change struct {
	What  What
	Block Block // as it is now
	// More is text that came: of a reply, of thinking, of what a call, a check
	// or a command prints. All the Mores of a block that finished are its text,
	// where nothing was missed.
	More string
	// Missed: pieces were lost on the way to a slow reader. The finished block
	// has the whole text.
	Missed bool
	// Past: it happened before the session was opened. Told: the output of a slash
	// command tells it already. Of a Conversation.
	Past, Told bool
}

// What happened to a block.
type What string

// The changes. A block that is whole when it comes is Finished at once, and was
// never Added.
const (
	Added    What = "added"
	Changed  What = "changed"
	Finished What = "finished"
)

// String is a phase that begins or ends in a line; "" for one that is planned.
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

// Attachments names what the mentions of a prompt brought along, "" for
// nothing.
func (p Prompt) Attachments() string {
	if len(p.Attached) == 0 {
		return ""
	}
	return "attached: " + strings.Join(p.Attached, ", ")
}
