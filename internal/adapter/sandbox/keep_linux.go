//go:build amd64 || arm64

package sandbox

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/kept"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// This file keeps what a command ends (SPEC 16.15): package kept.

// lasting is the size of a file from which its end or its copy takes long enough to be
// noticed by the other processes of the command.
const lasting = 1 << 20

// keeping makes a change of a file that ends something: with what is kept, or plainly where
// nothing is. What exceeds the limits is held, and after a yes made plainly.
func (c caller) keeping(p *place, kept func() error, plain func() error) error {
	s := c.s
	if p.there && p.st.Size > lasting {
		if err := c.mayWait(); err != nil {
			return err
		}
	}
	if s.keep == nil {
		return plain()
	}
	err := kept()
	switch {
	case !noRoom(err):
		return err
	case s.loses.Load():
		return plain()
	}
	r := process.Refusal{Act: process.ActLose, What: p.path, Size: p.st.Size}
	if s.hold == nil {
		s.refusals.add(r.Act, r.What)
		return unix.EACCES
	}
	return &lack{r, unix.EACCES}
}

func noRoom(err error) bool { return errors.Is(err, kept.ErrNoRoom) }

// made notes that the command made the file of a place, which is at a name: its end is no
// loss.
func (s *supervisor) made(p *place, dir int, name string) {
	if s.keep != nil {
		s.keep.Made(dir, name)
	}
	s.left(p.path, true)
}

// left notes that the command did something to a path, and whether it left something there.
func (s *supervisor) left(path string, there bool) {
	if s.keep != nil {
		s.keep.Note(path, there)
	}
}

// rewrites keeps the content of an opened file that may change from here on.
func (c caller) rewrites(fd int, p *place, st *unix.Stat_t, flags int) error {
	appends := flags&(unix.O_APPEND|unix.O_TRUNC) == unix.O_APPEND
	err := c.keeping(p, func() error { return c.s.keep.Rewrite(fd, p.path, st, appends) }, func() error { return nil })
	if err == nil {
		c.s.left(p.path, true)
	}
	return err
}

func (p *place) kept() kept.Place {
	return kept.Place{Dir: p.dir, Name: p.name, Path: p.path, There: p.there, St: &p.st}
}
