package shell

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// A line such as go test ./... | tail -5 ends with the exit code of tail. bash knows the
// code of each command of the pipe, and tells that of the check (see command.Piped): the
// line begins with a trap that writes it to a pipe of pawl's at the end.

// canTell: elsewhere a command cannot be given a descriptor.
const canTell = runtime.GOOS != "windows"

// telling stands before the line. It keeps the numbers of the line's own lines.
const telling = `trap 'printf "%d %d\n" "${#PIPESTATUS[@]}" "${PIPESTATUS[0]}" >&3' EXIT; `

// cutOff is the exit code of a check whose filter ended first, as head does: what it
// would have said is not known.
const cutOff = 128 + 13

// tellsCheck gives the command the descriptor that telling writes to, the first after the
// standard ones.
func (j *job) tellsCheck(cmd *exec.Cmd) (err error) {
	var w *os.File
	if j.codes, w, err = os.Pipe(); err == nil {
		cmd.ExtraFiles = []*os.File{w}
	}
	return err
}

// checkExit returns the exit code of the check of a line that has ended, nil where nobody
// told it: the check did not begin, or the line has a trap of its own.
func (j *job) checkExit() *int {
	if j.codes == nil {
		return nil
	}
	defer j.codes.Close()
	var told [64]byte
	n := readNow(j.codes, told[:])
	var commands, code int
	if _, err := fmt.Sscanf(string(told[:max(n, 0)]), "%d %d\n", &commands, &code); err != nil || commands < 2 || code == cutOff {
		return nil
	}
	return &code
}
