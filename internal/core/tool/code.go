package tool

import "context"

// Code is what language servers know of the workspace's code (SPEC 12). Lines
// and columns count from 1, columns in characters. Every error is for the model
// to read: a server that is absent, one that cannot do what is asked, a name
// that stands for several things. It changes nothing: what a rename or an action
// would write is returned, and written by the tool through Files.
type Code interface {
	Definition(ctx context.Context, at CodeAt) ([]Spot, error)
	References(ctx context.Context, at CodeAt) ([]Spot, error)
	Hover(ctx context.Context, at CodeAt) (string, error)
	// Complete lists what could stand at a place; more reports whether there is
	// more than limit.
	Complete(ctx context.Context, at CodeAt, limit int) (cs []Completion, more bool, err error)
	// Symbols lists the symbols of a file, or those of the workspace whose name
	// matches query.
	Symbols(ctx context.Context, path, query string) ([]Spot, error)
	// Diagnostics lists what is wrong in files; without paths, in all files that
	// the running servers know of.
	Diagnostics(ctx context.Context, paths []string) ([]Diagnostic, error)
	Rename(ctx context.Context, at CodeAt, name string) ([]Write, error)
	// Actions lists what could be done with the lines from at.Line to to; Act
	// returns what one of them, named by its title, would write.
	Actions(ctx context.Context, at CodeAt, to int) ([]CodeAction, error)
	Act(ctx context.Context, at CodeAt, to int, title string) ([]Write, error)
}

// CodeWatch hears what changed in files, and tells what that broke.
type CodeWatch interface {
	// Changed is told of changes to files. It returns the diagnostics that they
	// and earlier ones caused, and that it has not returned before: those that
	// are known after a short wait. The rest comes with the next call, which may
	// be one without changes. Errors come first.
	Changed(ctx context.Context, cs []CodeChange) []Diagnostic
	// Standing returns what Changed returned so far and is there still, errors
	// first.
	Standing() []Diagnostic
	// Settle waits, for a short time at most, until the servers have said what
	// the changes so far broke.
	Settle(ctx context.Context)
	// Missing says, each once, which servers were needed and are not installed,
	// and how to install them.
	Missing() []string
}

// CodeAt is a place in code: a position, a name in a file or on a line of one,
// or a name alone, such as pkg.Func or Class.method.
type CodeAt struct {
	Path   string // as a tool was given it
	Line   int    // 0: Symbol says where
	Column int    // 0: where Symbol stands on the line, else its first character
	Symbol string
}

// Spot is where something is.
type Spot struct {
	Path    string // as Span.Path
	Line    int
	Column  int
	EndLine int
	Name    string
	Kind    string // "function", "class", …; "" where it is not known
	In      string // what it is part of
	Detail  string
}

// Completion is what could stand at a place.
type Completion struct{ Text, Kind, Detail string }

// Severity is how bad a diagnostic is.
type Severity int

// Severities, as the protocol numbers them.
const (
	SeverityError Severity = iota + 1
	SeverityWarning
	SeverityInfo
	SeverityHint
)

// String is part of fmt.Stringer.
func (s Severity) String() string {
	switch s {
	case SeverityWarning:
		return "warning"
	case SeverityInfo:
		return "info"
	case SeverityHint:
		return "hint"
	}
	return "error"
}

// Diagnostic is something that is wrong in a file.
type Diagnostic struct {
	Path     string   `json:"path"` // as Span.Path
	Line     int      `json:"line"`
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	Source   string   `json:"source,omitempty"`
	Code     string   `json:"code,omitempty"`
	Message  string   `json:"message"`
	// Earlier: of CodeWatch.Changed, no change of that call caused it.
	Earlier bool `json:"earlier,omitempty"`
}

// CodeChange is a change of a file.
type CodeChange struct {
	Path    string // as Span.Path
	Existed bool   // there was a file before
	// Before returns what it held before: what was wrong in it already is no
	// doing of the change. nil where that is not known.
	Before func(context.Context) ([]byte, error)
}

// CodeAction is something a server offers to do.
type CodeAction struct {
	Title     string
	Kind      string
	Preferred bool
	Disabled  string // why it cannot be done now
}
