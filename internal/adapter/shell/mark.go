package shell

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
)

// mark is inherited by all processes of a command. It identifies those that left their
// group and lost their parents.
//
// A process can start another one without its environment (env -i), so Linux has a second
// mark: the soft limit of the time that a realtime process may run without a pause. The
// limit passes through fork, exec, setsid and a cleared environment. Any program may set
// it and everybody may read it in /proc. At these values it limits nothing: the least is
// over 30,000 years. A program that becomes a daemon has no reason to change it. The hard
// limit is the same number for all, which only root can raise again, so a process cannot
// hide that a pawl started it.
//
// With a child subreaper instead, pawl would have to wait for children that it did not
// start, in addition to those of os/exec. And after kill -9 of pawl, its orphans could
// not be distinguished from other processes.
type mark struct {
	env   string // NAME=value; for a whole shell it ends in a dot
	limit string // in decimal; for a whole shell it lacks the last digits
}

const (
	limitName   = "Max realtime timeout" // as /proc names it
	limitPlaces = 6                      // digits for the commands of a shell
	marksDigits = 13 + limitPlaces
	ceiling     = 1<<63 - 1 // the hard limit, above all marks
	envName     = "PAWL_JOB="
)

// newMark returns the mark of a shell; the marks of its commands are derived from it.
func newMark() mark {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	// 13 digits and limitPlaces: below 1<<63, as the kernel requires.
	n, _ := rand.Int(rand.Reader, big.NewInt(8e12)) // never fails either
	return mark{
		env:   envName + hex.EncodeToString(id[:]) + ".",
		limit: n.Add(n, big.NewInt(1e12)).String(),
	}
}

// of returns the mark of a shell's nth command.
func (m mark) of(n int) mark {
	return mark{
		env:   fmt.Sprintf("%s%d", m.env, n),
		limit: fmt.Sprintf("%s%0*d", m.limit, limitPlaces, n%1_000_000),
	}
}

// hasEnv reports whether an entry of an environment is the mark, or the mark of a command
// of the marked shell.
func (m mark) hasEnv(entry string) bool {
	return entry == m.env || strings.HasSuffix(m.env, ".") && strings.HasPrefix(entry, m.env)
}

func (m mark) hasLimit(soft string) bool {
	return soft == m.limit || len(soft) == len(m.limit)+limitPlaces && strings.HasPrefix(soft, m.limit)
}
