//go:build !unix

package shell

import (
	"os"
	"os/exec"
	"time"
)

type family struct {
	group int
	mark  mark
}

// end ends the first process of a command.
func end(f family, _ time.Duration, _ <-chan struct{}) {
	if p, err := os.FindProcess(f.group); err == nil && f.group > 0 {
		_ = p.Kill()
	}
}

func groupAlive(int) bool { return false }

func readNow(*os.File, []byte) int { return 0 }

func outcome(st *os.ProcessState) (code int, signal string) { return st.ExitCode(), "" }

func tooLong(error) bool { return false }

func detach(*exec.Cmd) {}

func brand(int, mark) {}

func begin(cmd *exec.Cmd, _ mark) error { return cmd.Start() }

// supervisor does nothing here.
type supervisor struct{}

func newSupervisor(mark) *supervisor { return nil }
func (*supervisor) add(int)          {}
func (*supervisor) remove(int)       {}
func (*supervisor) close()           {}
