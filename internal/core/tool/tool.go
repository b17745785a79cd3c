// Package tool is the contract between the engine and its tools: what a tool
// is called, what a call of it will touch, and how it is run. Tools are values
// made with New. An author writes one typed function and states a footprint;
// the engine provides schema, decoding, permission, concurrency and undo.
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

// Span is part of a file: lines From to To, 1-based and inclusive; from 0 on is the
// whole file, up to its last line To if that is known. Path is slash-separated. After symlinks were followed, it is
// relative to the workspace if the file is inside it, and absolute otherwise.
// Hash is that of the content when the span was made, empty for a file that
// does not exist. Env does this I/O, so that policy stays pure.
type Span struct {
	Path string `json:"path"`
	From int    `json:"from,omitempty"`
	To   int    `json:"to,omitempty"`
	Hash Hash   `json:"hash,omitempty"`
	// Dir: the path is a folder, and the span covers everything below it.
	Dir bool `json:"dir,omitempty"`
}

// Footprint is what a call will touch, known before it runs. It decides
// permission, concurrency and read-before-write. With Unknown set, it covers the
// whole workspace (SPEC 4.1).
type Footprint struct {
	Reads, Writes []Span
	Hosts         []string
	Commands      []shellsyntax.Command
	// Resolved lists what the call asks for by its needs, and the files that the words
	// of Commands name, with the place to which they lead on this disk.
	Resolved []ResolvedPath
	// Shell is the command line that Commands were parsed from.
	Shell string
	// Notice tells the person what the command line does not show. Says is what the model
	// says that the call is for.
	Notice  string
	Says    string
	Unknown bool
	// Derived: what is written follows from the present files, not from the
	// model's knowledge of them, so the model need not have read them.
	Derived bool
	// Quoted are the paths of Writes of which the call quotes all that it replaces,
	// where each quotation occurs in the file exactly once. Then the model knows what
	// it replaces, however it came to see it.
	Quoted []string
	// Blind marks writes that replace a whole file, so the model must have seen all
	// its current lines (SPEC 4.6).
	Blind bool
	// AsksPerson: the call does nothing but ask the person.
	AsksPerson bool
	// Unconfined: the call asks to run its command outside the sandbox.
	Unconfined bool
	// Git is what git runs or reads of the workspace by its configuration.
	Git []GitUse
	// RunsChild: the call runs in a child session, whose own calls state what they
	// touch. The rest of the footprint is empty.
	RunsChild bool
}

// GitUse is a file or a folder that git runs or reads because of a setting of its
// configuration, or that pawl reads because of its rules (Instructions), whether it is
// there or not. Path is absolute and real.
type GitUse struct{ Path, Setting string }

// Instructions is the setting of what rules import.
const Instructions = "instructions"

// ResolvedPath is a path after all links are followed as the kernel does.
type ResolvedPath struct {
	Path  string // absolute and real
	Named string // as written in the call
	Write bool
	// Maybe: the command may read or write it; its words only name it.
	Maybe bool
}

// Result is the result of a call. Text is for the model. A failure that the
// model should read is a Result with Error set, not a Go error: a Go error means
// that the tool itself is broken.
type Result struct {
	Text   string
	Error  bool
	Images []llm.Media
	// Seen are the spans whose lines Text shows in full, or that the model wrote and
	// Text names by number: what it gets, before the engine truncates anything.
	Seen []Span
	// Last is the last line of Text, if that line tells how the call ended. Notes
	// on the result are inserted before it.
	Last string
	// Exit is the exit code, of tools that run a command.
	Exit *int
	// Command is what was run, of tools that run a command. Checks is as in Ran.
	Command string
	Checks  []Ended
	// Note is one line for the screen: "12 matches", "+3 -1".
	Note string
	// Diff is the unified diff of what changed, for the screen.
	Diff string
	// Timeout: the call was stopped at its time limit; a retry makes sense.
	Timeout bool
	// Gap means that Text begins with an output whose middle is missing.
	Gap *Gap
	// Refused is what the sandbox refused a command that then failed, if that may
	// be the reason.
	Refused []process.Refusal
}

func Text(s string) Result { return Result{Text: s} }

// Errorf returns a failure for the model.
func Errorf(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), Error: true}
}

// Env is what a running call may use: narrow abilities, which the engine
// records. A nil ability is one that this session does not have.
type Env struct {
	Files   Files
	Shell   Shell
	Web     Web
	Search  Searcher // nil: nobody searches
	Todo    Todo
	Notes   Notes
	Cleaner ContextCleaner
	Ask     Asker
	Code    Code
	Rights  Rights
	// Agents is nil where a session may not start agents.
	Agents Agents
	// GitUses returns what git runs or reads of the workspace, and of the
	// repositories in it that hold these files. nil: it is not known.
	GitUses func(files ...string) []GitUse
	// Denied reports whether a rule denies reading a file, or asks about it: a search
	// that does not name the file leaves it out. nil: there is no such rule.
	Denied func(path string) bool
	// Closed returns Refusal.Closed of what a sandbox or a search refused. nil: it is not known.
	Closed func(process.Refusal) string
	// Out streams output to the screen while a call runs; never nil in Run.
	Out func(string)
	// Limit is how many bytes of Text the model will be shown. A tool that can
	// choose what to leave out should use it.
	Limit int
	// Nobody: no person is there, so nothing can be asked for.
	Nobody bool
	// Correct: the tool also makes corrections that may not be what was meant, and
	// reports them (SPEC 4.5).
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
	// Folders were created for it, the outermost first. The form is that of Path.
	Folders []string
}

// Files is the workspace on disk. Paths may be relative to the root or absolute.
// Every error is written for the model. Writes are atomic, keep mode, owner and
// symlinks, and are fsynced before they return; the engine records them.
type Files interface {
	// Root is the workspace's real absolute path.
	Root() string
	// Resolve returns a path in the form of Span.Path, and whether it is inside
	// the workspace. It follows symlinks, also for a path that does not exist yet.
	Resolve(path string) (clean string, inside bool, err error)
	// Stat returns the current hash of a file ("" when it does not exist) and
	// whether the path is a folder.
	Stat(path string) (h Hash, dir bool, err error)
	// Read reads a regular file of at most max bytes (0: the default limit).
	Read(ctx context.Context, path string, max int64) (File, error)
	// ReadNoFollow reads what is at a path without following a symlink there. For
	// a symlink, Data is its target, Hash the target's hash, and Mode has
	// fs.ModeSymlink. A content of more than max bytes (0: no limit) is hashed,
	// and Data is nil. A folder is an error; a missing file is fs.ErrNotExist.
	ReadNoFollow(ctx context.Context, path string, max int64) (File, error)
	// Lines reads a range of lines, 1-based and inclusive, of a file of any
	// size. File.Data holds those lines, at most max bytes, and File.Hash is that
	// of the whole file. first and last are the lines that were read, total is the
	// number of lines.
	Lines(ctx context.Context, path string, from, to int, max int64) (f File, first, last, total int, err error)
	// Write replaces or creates a file. expect is the hash that the caller saw
	// ("" for a new file). If the file has another hash by now, it is not changed
	// and the error is a *StaleError. An existing file keeps its mode.
	Write(ctx context.Context, path string, data []byte, expect Hash) (Change, error)
	// WriteAll is Write for several files: all or none. If it fails and some
	// changes could not be rolled back, these changes are returned with the
	// error.
	WriteAll(ctx context.Context, ws []Write) ([]Change, error)
	// List lists a folder, sorted, ignored entries marked.
	List(ctx context.Context, path string) ([]Entry, error)
	// Entry returns what List shows of one path, without following it, for a path
	// in the form of Span.Path. What is in an ignored folder is ignored.
	Entry(ctx context.Context, path string) (Entry, error)
	// Glob lists files below dir that match pattern (doublestar), newest first,
	// without ignored files; more reports whether limit cut the list.
	Glob(ctx context.Context, dir, pattern string, limit int) (paths []string, more bool, err error)
	// Grep searches below dir.
	Grep(ctx context.Context, q Query) (Matches, error)
}

// Write is one of several writes that succeed or fail together.
type Write struct {
	Path   string
	Data   []byte
	Expect Hash
	Remove bool
	// MoveTo, if set, is the path that gets the content; Path is removed.
	MoveTo string
	// Mode is the permission bits that the file gets; 0 keeps the present ones,
	// and keeps a link a link. With fs.ModeSymlink the file becomes a link, and
	// Data is its target. A read-only file is written only if Mode is set.
	Mode uint32
	// NoFollow: symlinks at Path and MoveTo are not followed. For a symlink,
	// Expect is the hash of its target, as in ReadNoFollow. Mode with
	// fs.ModeSymlink implies NoFollow.
	NoFollow bool
	// Folders, for Remove and MoveTo, are folders above Path that are removed too
	// if they are then empty: those that were created, see Change.Folders.
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
	// Withhold reports files that a search of a folder leaves out and lists.
	Withhold func(path string) bool
}

// Match is a line of the result; for lines of context Hit is false.
type Match struct {
	Path string
	Line int
	Text string
	Hit  bool
}

// Matches is the result of a search.
type Matches struct {
	Lines    []Match
	Files    int      // files with a match
	Hits     int      // matches
	More     bool     // the limit cut the list
	Searched int      // files looked into
	Skipped  int      // binary or too large
	Binary   []string // those with a match
	Withheld []string
}

// Shell runs commands. Each has its own process group, which is killed as a whole
// at its timeout, when ctx is cancelled and when the session ends.
type Shell interface {
	// Run runs a command line to its end.
	Run(ctx context.Context, c Run) (Ran, error)
	// Start starts a command in the background and returns its id.
	Start(ctx context.Context, c Run) (id string, err error)
	// Output returns what a background command printed since the last call, and
	// its exit code after it has ended. wait is how long to wait for more.
	Output(ctx context.Context, id string, wait time.Duration) (Ran, error)
	// Kill ends a background command with its whole group.
	Kill(ctx context.Context, id string) (Ran, error)
}

// Jobs is a Shell that lists its background commands, oldest first.
type Jobs interface {
	Running() []Job // that have not ended
	// Ended returns each that has ended once, if neither Output nor Kill has told it.
	Ended() []Job
}

// Job is a background command.
type Job struct {
	ID, Command string
	Exit        string // of one that has ended: exit code 1
	Runs        time.Duration
	// Tail returns the end of its output. What Output returns stays the same.
	Tail func() string
	// End ends it with all its processes.
	End func()
}

// Run is a command line to run.
type Run struct {
	Command string
	Dir     string // "" the workspace root
	Timeout time.Duration
	// Idle, if set, is after which time a command is ended that does nothing since the
	// sandbox refused it a host.
	Idle time.Duration
	Out  func(string)
	// Env entries are added to the allow-listed environment.
	Env []string
	// Reads are files and folders outside the workspace that the tool itself
	// created for the command, so the command may read them.
	Reads []string
	// Root, if set, is a copy of the workspace that the tool itself made. For the
	// command it takes the workspace's place, which it then cannot read.
	Root string
	// Quiet: Ended leaves it out.
	Quiet bool
	// Apart: a tool wrote the line, and none of its programs is found through the workspace.
	Apart bool
	// Confine is what the command may touch. The engine sets it for each call, as
	// permission decided; the zero value is the narrowest.
	Confine process.Confine
	// Hold decides about what Confine does not cover; the engine sets it. The time it
	// takes counts for no Timeout.
	Hold process.Hold
}

// IdleLimit is the usual Run.Idle. A test that waits for an answer that cannot come would
// use up its whole time limit.
const IdleLimit = time.Minute

// Item is an entry of the plan.
type Item struct {
	Text   string `json:"text"`
	Status string `json:"status" enum:"pending,in_progress,done"`
}

// Todo keeps the plan.
type Todo interface {
	Set(ctx context.Context, items []Item) error
}

// Rights takes rights from the running turn.
type Rights interface {
	// Narrow denies, until the turn ends, calls that none of the rules covers, and those
	// that not names (see event.Narrowed). by names the skill or command that has the
	// rules, file is the file with them, hooks is the file whose hooks hold until then.
	Narrow(ctx context.Context, by string, rules, not []string, file, hooks string) error
}

// Notes keeps notes across sessions.
type Notes interface {
	Remember(ctx context.Context, note string) error
}

// ContextCleaner releases results that the model no longer needs.
type ContextCleaner interface {
	// Clean marks results by their handles: at the next compaction summary
	// replaces them. If a handle is unknown, none is marked.
	Clean(ctx context.Context, handles []string, summary, reason string) (Cleaned, error)
}

// Cleaned is the result of Clean.
type Cleaned struct {
	Marked  []string
	Gone    []string // dropped or marked before
	Unknown []string // handles that no result has
	Known   []string // some existing handles, where one is unknown
	Tokens  int      // how many tokens it will free
}

// Asker asks the person. It returns ErrNobody when there is none.
type Asker interface {
	Question(ctx context.Context, text string, options []string) (string, error)
}

// ErrNobody means that no person is there to answer.
var ErrNobody = errors.New("nobody is there to answer")

// OwnLimit is the Timeout of a tool that limits its calls itself.
const OwnLimit time.Duration = -1

type Tool struct {
	Spec llm.ToolSpec
	Facts
	// Example is arguments that would work. It is shown when a required argument
	// is missing (SPEC 4.5).
	Example string
	// ReadOnly tools change nothing; inside the workspace they never ask.
	ReadOnly bool
	// OnlyProvider, if set, is the provider whose models are offered the tool; no others are.
	OnlyProvider string
	// Hidden: the tool is not in the model's list of tools, but the model can call
	// it if it learns its name.
	Hidden bool
	// HiddenFrom, if set, reports the families of models (llm.Info.Family) from which the
	// tool is hidden: they were trained on another form.
	HiddenFrom func(family string) bool
	// StandsFor, if set, returns the call that a call of this tool stands for. That
	// call is checked, asked about and run in its place; ok is false where there
	// is none.
	StandsFor func(in json.RawMessage) (name string, args json.RawMessage, ok bool)
	// Timeout is the longest duration of a call; 0 is the engine's default, OwnLimit none.
	Timeout   time.Duration
	Footprint func(env Env, in json.RawMessage) (Footprint, error)
	Run       func(ctx context.Context, env Env, in json.RawMessage) (Result, error)
	// Check validates the arguments before anything else reads them.
	Check func(in json.RawMessage) error
}

// Set is the tools of a session, in the order in which the model sees them.
type Set []Tool

// Find returns the tool with exactly this name.
func (s Set) Find(name string) (Tool, bool) {
	for _, t := range s {
		if t.Spec.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// For returns the tools that a model has.
func (s Set) For(i llm.Info) Set {
	out := make(Set, 0, len(s))
	for _, t := range s {
		if t.OnlyProvider == "" || t.OnlyProvider == i.Provider {
			t.Hidden = t.Hidden || t.HiddenFrom != nil && t.HiddenFrom(i.Family)
			out = append(out, t)
		}
	}
	return out
}

// Specs returns the specifications that the model sees.
func (s Set) Specs() []llm.ToolSpec {
	out := make([]llm.ToolSpec, 0, len(s))
	for _, t := range s {
		if !t.Hidden {
			out = append(out, t.Spec)
		}
	}
	return out
}

func (s Set) Names() []string {
	out := make([]string, len(s))
	for i, t := range s {
		out[i] = t.Spec.Name
	}
	return out
}
