// Package repair finds a small change of Go source that makes failing tests
// pass, by generate and validate.
//
// It knows how to run Go tests, which statements the failing ones execute
// (Ochiai), how to vary a function's syntax tree in many small ways, and how
// to compare the variations that pass, and the code as it was, on inputs that
// no test has: the one that leaves alone what was right is likelier right. All
// input and output goes through Hands; what is computed in the process is a
// function of what Hands returned, so that the same tree leads to the same report.
//
// It promises that no source file of the project is touched before a candidate
// has passed the tests: candidates are screened through the go command's
// -overlay, from files outside of the workspace. What survives is then applied with Hands.Edit and validated for
// real. At the end only the chosen edit is in the tree, or nothing.
//
// It refuses to remove a statement, to edit a test, to branch on a test's
// input, and to call a change fixed when an equally likely one behaves
// differently.
package repair

import "errors"

// Hands are the agent's tools, as far as a repair needs them. Paths are
// relative to the workspace, with forward slashes.
type Hands interface {
	// ReadAll returns files' exact content, by path.
	ReadAll(paths []string) (map[string]string, error)
	// Edit replaces old, which must occur exactly once, by new.
	Edit(path, old, new string) error
	// Run runs a shell command in the workspace and returns its output, both
	// streams together, and its exit code. err: it could not be run at all.
	Run(command string) (out string, exit int, err error)
	// Overlay runs a "go test" or "go vet" command line as Run does, on the
	// workspace as it would be with files (path -> text), some of them new. The
	// workspace itself stays as it is.
	Overlay(command string, files map[string]string) (out string, exit int, err error)
	// List returns the files that match a glob pattern; ** matches any folders.
	List(pattern string) ([]string, error)
	// Say tells the person what is being done, one sentence.
	Say(text string)
}

// Options bound a repair. The zero value repairs the module in the workspace's
// root.
type Options struct {
	Dir string // the module's folder relative to the workspace, "" is its root
	// Packages are the go command's patterns, default ./...
	Packages []string
	Runs     int // commands run at most, default 60
}

// Outcome is how a repair ended.
type Outcome string

// The outcomes. Only Fixed and Uncertain leave a change in the tree.
const (
	Fixed          Outcome = "fixed"           // one edit passes everything and stands out
	Uncertain      Outcome = "uncertain"       // an edit passes everything, so do others that behave differently
	NotFixed       Outcome = "not fixed"       // no candidate passed; Why lists what was tried
	NothingFailing Outcome = "nothing failing" // the tests pass
	Unstable       Outcome = "unstable"        // the failing tests pass on another run
	BuildFails     Outcome = "build fails"     // the tests do not compile: not for this package
)

// Edit is one change of one place.
type Edit struct {
	Path     string  // relative to the workspace
	Line     int     // first changed line, from 1
	Func     string  // the function, Type.Method for methods
	Old, New string  // the lines that change, as they are in the file
	Operator string  // the kind of change, in words
	Score    float64 // suspicion times how often such a change is right, in (0, 1]
}

// Difference is an input that no test has, on which candidates behave
// differently.
type Difference struct {
	Func    string
	Input   string
	Outputs map[string]string // the edit's New, trimmed -> what the function then returns
}

// Report is what a repair found and did.
type Report struct {
	Outcome   Outcome
	Edit      Edit         // the edit in the tree; zero unless Fixed or Uncertain
	Tests     []string     // the tests that failed before, as package: Name
	Command   string       // the last validating command
	Exit      int          // its exit code
	Tried     int          // candidates that were run against the tests
	Runs      int          // commands run
	Plausible []Edit       // all edits that pass, best first
	Differ    []Difference // where they differ
	Why       string       // one sentence, for every outcome but Fixed
}

// ErrHands means that a tool failed in the middle; the text tells what is left
// in the tree.
var ErrHands = errors.New("a tool failed")
