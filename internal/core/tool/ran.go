package tool

import (
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// Ran is the result of a command. Output is the whole output if Gap is nil, else
// it begins with Gap.Text(). Spill names the file that has the whole output.
type Ran struct {
	Command string // the command line
	Output  string
	Gap     *Gap
	Spill   string
	Bytes   int64
	// Exit is nil if it is still running, or was killed. It is that of the check where the
	// line ends by piping one through filters.
	Exit *int
	// Failed are the commands of the line that failed and whose exit code the line hides, and
	// Checks are its checks, each as the line up to it, without the filters through which it
	// pipes its output; nil: bash did not tell.
	Failed, Checks []Ended
	Pipe           Pipe // of the last pipeline that ran, where bash told it
	Signal         string
	TimedOut       bool
	// Waited is the host for which it waited until it was ended (Run.Idle), nil for none.
	Waited *process.Refusal
	// Running is what still ran at the time limit, where that is known.
	Running  []Running
	Duration time.Duration // without the time in which it was held
	// Nameless: a confined command looked up a host that its output does not name.
	Nameless bool
	// ReadOnly: the sandbox allowed no change of files. Refused is the start of
	// the list of what it refused, as far as pawl knows.
	ReadOnly bool
	Refused  []process.Refusal
	// Stopped is why the sandbox ended the command, "" where it did not end it.
	Stopped string
}

// CutOff is the exit code of a command whose output nobody read to its end: what it would
// have said is not known.
const CutOff = 128 + 13

// Pipe is how the commands of a pipeline ended. Names is nil where it is not certain which
// of the line's pipelines it was.
type Pipe struct {
	Codes []int
	Names []string
}

// Ended is a command of a line and its exit code.
type Ended struct {
	Command string `json:"command"`
	Exit    int    `json:"exit"`
}
