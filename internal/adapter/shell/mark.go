package shell

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
)

// mark is what all processes of a command inherit, and by which those are
// found that left their group and lost their parents.
//
// A process can start another without its environment (env -i), so that there
// is a second mark on Linux: the soft limit of the time that a realtime
// process may run without a pause. It passes through fork, exec, setsid and a
// cleared environment, any program may set it, everybody may read it in /proc,
// and at these values it limits nothing: the least is over 30,000 years. Who
// becomes a daemon has no reason to touch it. The hard limit becomes the same
// number for all, which only root can raise again: by it a process cannot hide
// that a pawl started it.
//
// With a child subreaper instead, pawl would have to wait for children that it
// did not start, in addition to those that os/exec waits for; and after kill -9 of pawl
// nothing would distinguish its orphans from anybody's.
type mark struct {
	env   string // NAME=value; that of a whole shell ends in a dot
	limit string // in decimal; that of a whole shell lacks the last places
}

const (
	limitName   = "Max realtime timeout" // as /proc names it
	limitPlaces = 6                      // for the commands of a shell
	marksDigits = 13 + limitPlaces
	ceiling     = 1<<63 - 1 // the hard limit, above all marks
	envName     = "PAWL_JOB="
)

// newMark makes the mark of a shell, from which those of its commands are made.
func newMark() mark {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	// 13 digits and limitPlaces: below 1<<63, as the kernel wants.
	n, _ := rand.Int(rand.Reader, big.NewInt(8e12)) // nor does this
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

// hasEnv reports whether an entry of an environment is the mark, or that of a
// command of the marked shell.
func (m mark) hasEnv(entry string) bool {
	return entry == m.env || strings.HasSuffix(m.env, ".") && strings.HasPrefix(entry, m.env)
}

// hasLimit is hasEnv for a limit.
func (m mark) hasLimit(soft string) bool {
	return soft == m.limit || len(soft) == len(m.limit)+limitPlaces && strings.HasPrefix(soft, m.limit)
}
