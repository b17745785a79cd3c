//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// This file tells the programs of a command line that only do what their words say from
// those beside them that may do anything (process.Confine, Editors). The kernel knows what a
// process runs, and who started it.

// edits reports whether the caller is such a program, or the shell of the command line, if
// its redirections may write.
func (c caller) edits() bool {
	if len(c.s.editors) == 0 {
		return false
	}
	self := strconv.Itoa(int(c.n.Task))
	if c.s.ofLine(self) {
		return slices.Contains(c.s.editors, "")
	}
	parent := parentOf(self) // pawl, where the shell became its last command
	return slices.Contains(c.s.editors, c.s.installed(self)) && !loadsMore(self) && (parent == pawl() || c.s.ofLine(parent))
}

// ofLine reports whether a process is the shell that pawl started with the command line, or a
// subshell of it: a shell that another program starts with the same words may read other files
// first.
func (s *supervisor) ofLine(pid string) bool {
	for pid != pawl() {
		args, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err != nil || string(args) != s.line || !shellsyntax.Shell(s.installed(pid)) {
			return false
		}
		pid = parentOf(pid)
	}
	return true
}

func pawl() string { return strconv.Itoa(os.Getpid()) }

// installed returns the name of the program that a process runs, "?" if commands of the box
// could have written it.
func (s *supervisor) installed(pid string) string {
	exe, err := os.Readlink("/proc/" + pid + "/exe")
	if err != nil || s.change(exe, confine.Write) != confine.Refused || s.scratches(&place{path: exe, there: true}, confine.Write) {
		return "?"
	}
	return filepath.Base(exe)
}

// loadsMore reports whether a process was told to load other code into its program.
func loadsMore(pid string) bool {
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	return err != nil || bytes.HasPrefix(env, []byte("LD_")) || bytes.Contains(env, []byte("\x00LD_"))
}

// parentOf returns the process that started another, "" if that is not known.
func parentOf(pid string) string {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return ""
	}
	return field(status, "PPid:")
}
