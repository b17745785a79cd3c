//go:build unix

package shell

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// watch is the supervisor's script. It reads the groups that begin (+) and end (-). When
// its input ends without a q, pawl is dead. Then it kills the groups, and on Linux every
// process with the mark: $0 in the environment or $1 as a limit. The groups are killed at
// once: later their numbers may be others'. It is a sh script, and not pawl again, so it
// starts in a millisecond and survives "pkill pawl".
const watch = `g=' '
while read -r op id; do
	case $op in
	+) g="$g$id " ;;
	-) a=${g%%" $id "*} b=${g#*" $id "}; [ "$a" = "$g" ] || g="$a $b" ;;
	q) exit 0 ;;
	esac
done
for id in $g $g; do kill -9 "-$id" 2>/dev/null; done
for round in 1 2 3; do
	for f in $(
		grep -l -e "$0" /proc/[0-9]*/environ
		grep -l -e "^Max realtime timeout  *$1" /proc/[0-9]*/limits
	); do
		f=${f#/proc/}
		kill -9 "${f%/*}"
	done 2>/dev/null
done
`

// supervisor kills the commands of a pawl that was killed. It is started with the first
// command, and again if it has ended. It is best effort: no command is refused because
// the supervisor is missing.
type supervisor struct {
	mark mark

	mu     sync.Mutex
	pipe   *os.File
	groups map[int]bool
	closed bool
}

func newSupervisor(m mark) *supervisor {
	return &supervisor{mark: m, groups: map[int]bool{}}
}

func (s *supervisor) add(group int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[group] = true
	if s.pipe != nil && s.say("+ %d\n", group) {
		return
	}
	s.start()
}

func (s *supervisor) remove(group int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.groups, group)
	if s.pipe != nil {
		s.say("- %d\n", group)
	}
}

// close ends the supervisor without killing anything.
func (s *supervisor) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.pipe != nil && s.say("q\n") {
		_ = s.pipe.Close()
		s.pipe = nil
	}
}

// say sends a line to the supervisor. It returns false if the supervisor does not read
// it.
func (s *supervisor) say(format string, args ...any) bool {
	_ = s.pipe.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := fmt.Fprintf(s.pipe, format, args...); err != nil {
		_ = s.pipe.Close()
		s.pipe = nil
		return false
	}
	return true
}

func (s *supervisor) start() {
	if s.closed {
		return
	}
	sh, err := exec.LookPath("/bin/sh")
	if err != nil {
		if sh, err = exec.LookPath("sh"); err != nil {
			return
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	cmd := &exec.Cmd{
		Path: sh, Args: []string{"sh", "-c", watch, s.mark.env, s.mark.limit}, Dir: "/",
		Env: []string{"PATH=/usr/bin:/bin:" + os.Getenv("PATH")}, Stdin: r,
	}
	detach(cmd)
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return
	}
	go func() { _ = cmd.Wait() }() // only so that it does not stay a zombie
	s.pipe = w
	for g := range s.groups {
		if !s.say("+ %d\n", g) {
			return
		}
	}
}
