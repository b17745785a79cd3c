// Package tool is the contract between the engine and its tools: what a tool
// is called, what a call of it will touch, and how it is run. Tools are values
// made with New; an author writes one typed function and states a footprint,
// and gets schema, decoding, permission, concurrency and undo from the engine.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Hash is the hex SHA-256 of a content; empty means that there is none.
type Hash string

// Span is part of a file: lines From to To, 1-based and inclusive; 0,0 is the
// whole file. Path is slash-separated and relative to the workspace where it
// lies inside it after symlinks were followed, and absolute where it does not.
// Hash is the content's at the moment the span was made, empty for a file that
// does not exist; Env does that I/O so that policy stays pure.
type Span struct {
	Path string `json:"path"`
	From int    `json:"from,omitempty"`
	To   int    `json:"to,omitempty"`
	Hash Hash   `json:"hash,omitempty"`
	// Dir: the path is a folder and the span is all below it.
	Dir bool `json:"dir,omitempty"`
}

// Footprint is what a call will touch, known before it runs. It decides
// permission, concurrency and read-before-write. Unknown takes the whole
// workspace (SPEC 4.1).
type Footprint struct {
	Reads, Writes []Span
	Hosts         []string
	Commands      []shellsyntax.Command
	// Lands is where the paths that Commands name lead on this disk, of those
	// whose words alone do not show it.
	Lands []Landing
	// Defined are the files of the workspace that define what checks among
	// Commands do: makefiles, and the scripts that their targets call.
	Defined []string
	// Shell is the command line that Commands were parsed from.
	Shell string
	// Besides tells the person who is asked what the command line does not.
	Besides string
	Unknown bool
	// Derived: what is written follows from the files as they are, not from what
	// the model believes of them, so that it need not have read them.
	Derived bool
	// Blind marks writes that replace all of a file and so need all its
	// current lines to have been shown (SPEC 4.6).
	Blind bool
	// Person: the call does nothing but ask the person in front.
	Person bool
	// Free: the call wants what it runs to be outside the sandbox.
	Free bool
	// Child: the call runs in a session of its own, whose calls say themselves
	// what they touch. It has nothing else in its footprint.
	Child bool
}

// Landing is where a path of a command line leads when links are followed as
// the kernel does, those that the line itself makes included, and what a
// pattern or a search of a folder stands for.
type Landing struct {
	Path  string // absolute and real; "" where it cannot be told
	Named string // how the command has it
	Write bool
	// Maybe: the command is not known to read or write it, it is only given it.
	Maybe bool
	// Name: no more than that it is there, and how large, is shown of it.
	Name bool
	// Why is the reason why Path is "".
	Why string
}

// Result is what a call came to. Text is for the model. A failure the model
// should read is a Result with Error set, not a Go error: those end the call
// as broken.
type Result struct {
	Text   string
	Error  bool
	Images []llm.Media
	// Seen are the spans whose lines Text shows in full: what the model really
	// got, before any truncation by the engine.
	Seen []Span
	// Last is the last line of Text, where one says how the call ended: what is
	// noted on the result stands above it.
	Last string
	// Exit is the exit code, of tools that run a command.
	Exit *int
	// Command is what was run, of tools that run a command.
	Command string
	// Note is one line for the screen: "12 matches", "+3 -1".
	Note string
	// Diff is the unified diff of what changed, for the screen.
	Diff string
	// Timeout: the call was stopped at its time limit; another try is sensible.
	Timeout bool
	// Gap means that Text begins with an output whose middle is missing.
	Gap *Gap
	// Refused is what the sandbox refused a command that then failed, as far as
	// it may be why.
	Refused []process.Refusal
}

// Text is a successful result of text.
func Text(s string) Result { return Result{Text: s} }

// Errorf is a failure for the model to read.
func Errorf(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), Error: true}
}

// Env is what a running call may use: narrow abilities, each recorded by the
// engine. A nil ability is one this session does not have.
type Env struct {
	Files Files
	Shell Shell
	Web   Web
	Todo  Todo
	Notes Notes
	Room  Room
	Ask   Asker
	Code  Code
	// Agents is nil where a session may start none.
	Agents Agents
	// Out streams output to the screen while a call runs; never nil in Run.
	Out func(string)
	// Limit is how many bytes of Text the model will be shown; a tool that can
	// choose what to leave out should.
	Limit int
	// Correct: corrections that may not be what was meant are made, and
	// reported (SPEC 4.5).
	Correct bool
}

// File is a file's content as read at one moment.
type File struct {
	Path string // as Span.Path
	Data []byte
	Hash Hash
	Mode uint32
}

// Change is a write that happened.
type Change struct {
	Path          string // as Span.Path
	Before, After Hash   // empty: did not exist, does not exist
	// Mode and ModeBefore as in event.FileChanged; 0 where not known.
	Mode, ModeBefore uint32
	Diff             string // unified, three lines of context; empty for binary
	Added            int
	Removed          int
	// Folders were made for it, the outermost first: as Path.
	Folders []string
}

// Files is the workspace on disk. Paths may be given relative to the root or
// absolute. Every error is for the model to read. Writes are atomic, keep
// mode, owner and symlinks, are fsynced before they return, and are recorded
// by the engine.
type Files interface {
	// Root is the workspace's real absolute path.
	Root() string
	// Resolve returns a path as Span.Path wants it, and whether it is inside.
	// It follows symlinks, also of a path that does not exist yet.
	Resolve(path string) (clean string, inside bool, err error)
	// Stat returns the current hash of a file ("" when it does not exist) and
	// whether the path is a folder.
	Stat(path string) (h Hash, dir bool, err error)
	// Read reads a regular file of at most max bytes (0: the default limit).
	Read(ctx context.Context, path string, max int64) (File, error)
	// ReadNoFollow reads what is at a path, where Read follows a symlink there: of
	// one, Data is its target, Hash the target's and Mode has fs.ModeSymlink. A
	// content of more than max bytes (0: of any) is hashed, and Data is nil. A
	// folder is an error, and nothing there fs.ErrNotExist.
	ReadNoFollow(ctx context.Context, path string, max int64) (File, error)
	// Lines reads a range of lines, 1-based and inclusive, of a file of any
	// size: File.Data is those lines, at most max bytes, and File.Hash that of
	// the whole file. first and last are the lines that were read, total how
	// many there are.
	Lines(ctx context.Context, path string, from, to int, max int64) (f File, first, last, total int, err error)
	// Write replaces or creates a file. expect is the hash the caller saw
	// ("" for a new file); a file that has another by now is not touched and
	// the error is a *StaleError. An existing file's mode is kept.
	Write(ctx context.Context, path string, data []byte, expect Hash) (Change, error)
	// WriteAll is Write for several files: all or none. Where it fails and
	// something could not be taken back, the changes that stand come with the
	// error.
	WriteAll(ctx context.Context, ws []Write) ([]Change, error)
	// List lists a folder, sorted, ignored entries marked.
	List(ctx context.Context, path string) ([]Entry, error)
	// Glob lists files below dir that match pattern (doublestar), newest
	// first, ignore rules honoured; more reports whether limit cut the list.
	Glob(ctx context.Context, dir, pattern string, limit int) (paths []string, more bool, err error)
	// Grep searches below dir.
	Grep(ctx context.Context, q Query) (Matches, error)
}

// Write is one of several writes that belong together.
type Write struct {
	Path   string
	Data   []byte
	Expect Hash
	Remove bool
	// MoveTo, if set, is the path that the content goes to; Path is removed.
	MoveTo string
	// Mode is the permission bits the file gets; 0 keeps those it has, and a
	// link a link. With fs.ModeSymlink it becomes a link, and Data is its
	// target. A file that is read-only is written only where Mode is set.
	Mode uint32
	// NoFollow: Path and MoveTo are meant themselves, also where a symlink is:
	// Expect is then the hash of its target, as ReadNoFollow has it. Mode with
	// fs.ModeSymlink implies it.
	NoFollow bool
	// Folders, of Remove and MoveTo, are folders above Path that go as well
	// where this leaves them empty: those that Change.Folders said were made.
	Folders []string
}

// StaleError reports that a file is not what the caller saw.
type StaleError struct {
	Path      string
	Want, Got Hash
}

func (e *StaleError) Error() string { return e.Path + " changed since it was read" }

// Entry is one line of a listing.
type Entry struct {
	Name    string
	Dir     bool
	Link    string // the target of a symlink
	Size    int64
	Ignored bool
}

// Query is a search for lines.
type Query struct {
	Dir        string
	Pattern    string // RE2
	Literal    bool
	IgnoreCase bool
	Glob       string // only files that match
	Context    int    // lines around a match
	FilesOnly  bool
	Limit      int // matches in all
	// Withhold names files that a search of a folder leaves out and lists.
	Withhold func(path string) bool
}

// Match is a line found; Context lines have Hit false.
type Match struct {
	Path string
	Line int
	Text string
	Hit  bool
}

// Matches is what a search found.
type Matches struct {
	Lines    []Match
	Files    int  // files with a match
	Hits     int  // matches
	More     bool // the limit cut the list
	Searched int  // files looked into
	Skipped  int  // binary or too large
	Withheld []string
}

// Shell runs commands. Each is its own process group, killed whole at its
// timeout, when ctx is cancelled and when the session ends.
type Shell interface {
	// Run runs a command line to its end.
	Run(ctx context.Context, c Run) (Ran, error)
	// Start starts one in the background and returns its id.
	Start(ctx context.Context, c Run) (id string, err error)
	// Output returns what a background command printed since the last call, and
	// its exit code once it has ended. wait is how long to wait for more.
	Output(ctx context.Context, id string, wait time.Duration) (Ran, error)
	// Kill ends a background command with its whole group.
	Kill(ctx context.Context, id string) (Ran, error)
}

// Run is a command line to run.
type Run struct {
	Command string
	Dir     string // "" the workspace root
	Timeout time.Duration
	Out     func(string)
	// Env entries are added to the allow-listed environment.
	Env []string
	// Reads are files and folders outside the workspace that the tool itself
	// made for the command: it may read them.
	Reads []string
	// Confine is what the command may touch. For a call the engine sets it, as
	// permission decided; the zero value is the narrowest.
	Confine process.Confine
}

// Ran is what a command came to. Output is all that it printed where Gap is
// nil, else it begins with Gap.Text(). Spill names the file that has the whole.
type Ran struct {
	Output   string
	Gap      *Gap
	Spill    string
	Bytes    int64
	Exit     *int // nil: still running, or killed
	Signal   string
	TimedOut bool
	Duration time.Duration
	// ReadOnly: the sandbox let it change nothing. Refused is what the sandbox is known to have refused, the first of it.
	ReadOnly bool
	Refused  []process.Refusal
	// Stopped is why the sandbox ended the command, "" where it did not.
	Stopped string
}

// Web fetches pages under the rules of SPEC 16.10.
type Web interface {
	Fetch(ctx context.Context, url string) (Page, error)
}

// Page is a fetched page as text.
type Page struct {
	URL       string // after redirects
	Type      string
	Status    int
	Text      string
	Truncated bool
}

// Item is an entry of the plan.
type Item struct {
	Text   string `json:"text" doc:"what is to be done"`
	Status string `json:"status" doc:"pending, in_progress or done" enum:"pending,in_progress,done"`
}

// Todo keeps the plan.
type Todo interface {
	Set(ctx context.Context, items []Item) error
}

// Notes keeps what is to be remembered across sessions.
type Notes interface {
	Remember(ctx context.Context, note string) error
}

// Room lets go of results that the model no longer needs.
type Room interface {
	// Clean marks results by their handles: summary stands for them once the
	// conversation is made shorter. Where a handle is unknown, none is marked.
	Clean(ctx context.Context, handles []string, summary, reason string) (Cleaned, error)
}

// Cleaned is what came of Clean.
type Cleaned struct {
	Marked  []string
	Gone    []string // left out or marked before
	Unknown []string // handles that no result has
	Known   []string // some that there are, where one is unknown
	Tokens  int      // that it will free
}

// Asker asks the person in front. ErrNobody when there is none.
type Asker interface {
	Question(ctx context.Context, text string, options []string) (string, error)
}

// ErrNobody means that no person is there to answer.
var ErrNobody = errors.New("nobody is there to answer")

// Tool is one tool.
type Tool struct {
	Spec llm.ToolSpec
	Facts
	// Example is arguments that would work, shown where a required one is
	// missing (SPEC 4.5).
	Example string
	// ReadOnly tools change nothing and are never asked about inside the
	// workspace.
	ReadOnly bool
	// Only is the provider whose models alone are offered it, "" for all.
	Only string
	// Hidden: the model is not shown it, and can call it all the same where it
	// learns of its name.
	Hidden bool
	// Stands, if set, returns the call that a call of this tool stands for. That
	// one is checked, asked about and run in its place; ok is false where it
	// stands for none.
	Stands func(in json.RawMessage) (name string, args json.RawMessage, ok bool)
	// Timeout is the longest a call may take; 0 is the engine's default.
	Timeout   time.Duration
	Footprint func(env Env, in json.RawMessage) (Footprint, error)
	Run       func(ctx context.Context, env Env, in json.RawMessage) (Result, error)
	// Check validates arguments before anything else looks at them.
	Check func(in json.RawMessage) error
}

// Set is the tools of a session, in the order the model is shown them.
type Set []Tool

// Find returns the tool of that exact name.
func (s Set) Find(name string) (Tool, bool) {
	for _, t := range s {
		if t.Spec.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// For returns the tools that a provider's models are offered.
func (s Set) For(provider string) Set {
	out := make(Set, 0, len(s))
	for _, t := range s {
		if t.Only == "" || t.Only == provider {
			out = append(out, t)
		}
	}
	return out
}

// Specs lists what the model is shown.
func (s Set) Specs() []llm.ToolSpec {
	out := make([]llm.ToolSpec, 0, len(s))
	for _, t := range s {
		if !t.Hidden {
			out = append(out, t.Spec)
		}
	}
	return out
}

// Names lists the names.
func (s Set) Names() []string {
	out := make([]string, len(s))
	for i, t := range s {
		out[i] = t.Spec.Name
	}
	return out
}
