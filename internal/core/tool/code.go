package tool

import "context"

// Code answers questions about the workspace's code by language servers (SPEC
// 12). Lines and columns count from 1, columns in characters. Every error is
// written for the model: a server that is missing or cannot do what is asked, or
// an ambiguous name. Code changes no file: it returns what a rename or an action
// would write, and the tool writes it through Files.
type Code interface {
	Definition(ctx context.Context, at CodeAt) ([]SymbolPosition, error)
	References(ctx context.Context, at CodeAt) ([]SymbolPosition, error)
	Hover(ctx context.Context, at CodeAt) (string, error)
	// Complete lists what could be inserted at a place; more reports whether
	// there are more than limit.
	Complete(ctx context.Context, at CodeAt, limit int) (cs []Completion, more bool, err error)
	// Symbols lists the symbols of a file, or those of the workspace whose name
	// matches query.
	Symbols(ctx context.Context, path, query string) ([]SymbolPosition, error)
	// Diagnostics lists the problems in files; without paths, in all files that
	// the running servers know. With an error, those that it lists are not all.
	Diagnostics(ctx context.Context, paths []string) ([]Diagnostic, error)
	Rename(ctx context.Context, at CodeAt, name string) ([]Write, error)
	// Actions lists the actions that a server offers for the lines from at.Line
	// to to. Act returns what the action with this title would write.
	Actions(ctx context.Context, at CodeAt, to int) ([]CodeAction, error)
	Act(ctx context.Context, at CodeAt, to int, title string) ([]Write, error)
}

// Symbols finds what the workspace's code declares, by its name.
type Symbols interface {
	// Find lists at most limit declarations whose name begins so: Name, Type.Method,
	// package.Name. Each has all of its lines.
	Find(ctx context.Context, begin string, limit int) []SymbolPosition
}

// CodeWatch is told which files changed, and reports which problems that caused.
type CodeWatch interface {
	// Changed reports changes of files. It returns the diagnostics that these
	// and earlier changes caused and that it has not returned before, as far as
	// they are known after a short wait. The rest comes with the next call,
	// which may have no changes. Errors come first.
	Changed(ctx context.Context, cs []CodeChange) []Diagnostic
	// Remaining returns what Changed returned so far and is there still, errors
	// first.
	Remaining() []Diagnostic
	// Wait waits, for a short time at most, until the servers have said what
	// the changes so far broke.
	Wait(ctx context.Context)
	// Missing returns, each once, the servers that were needed and are not
	// installed, with the way to install them.
	Missing() []string
}

// CodeAt is a place in code: a position, a name in a file or on a line of one,
// or a name alone, such as pkg.Func or Class.method.
type CodeAt struct {
	Path   string // as the tool got it
	Line   int    // 0: Symbol names the place
	Column int    // 0: the column of Symbol on the line, else the first character
	Symbol string
}

// SymbolPosition is a symbol and where it is. Line and Column count from 1.
type SymbolPosition struct {
	Path    string // as Span.Path
	Line    int
	Column  int
	EndLine int
	Name    string
	Kind    string // "function", "class", …; "" where it is not known
	In      string // the symbol that contains it
	Detail  string
}

// Completion is something that could be inserted at a place.
type Completion struct{ Text, Kind, Detail string }

// Severity is the severity of a diagnostic.
type Severity int

// The severities, with the numbers of the protocol.
const (
	SeverityError Severity = iota + 1
	SeverityWarning
	SeverityInfo
	SeverityHint
)

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

// Diagnostic is a problem in a file.
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
	// Before returns the content before the change: problems that it already had
	// are not caused by the change. Before is nil where that is not known.
	Before func(context.Context) ([]byte, error)
	// After returns the content after the change; nil if the file is gone.
	After func(context.Context) ([]byte, error)
}

// Syntax looks whether changes broke the syntax of files, or their packages, without a
// language server.
type Syntax interface {
	// Broken returns the first error of each file that a change broke: the file was
	// well-formed before, or is new. If there is none, it returns what the language's
	// checker newly finds in the packages of the files: Source names it, and Earlier is set,
	// since an earlier change may be the cause.
	Broken(ctx context.Context, cs []CodeChange) []Diagnostic
}

// CodeAction is a change that a server offers.
type CodeAction struct {
	Title     string
	Kind      string
	Preferred bool
	Disabled  string // why it is not possible now
}
