//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// identity returns what a name is, and whether it is this user's.
func identity(name string) (is made, mine, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return made{}, false, false
	}
	return madeOf(&st), int(st.Uid) == os.Getuid(), true
}

func madeOf(st *unix.Statx_t) made {
	return made{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino, st.Btime.Sec*1e9 + int64(st.Btime.Nsec)}
}

// scratches reports whether a change is of what the session made in /tmp, or makes it.
func (s *supervisor) scratches(p *place, act confine.Act) bool {
	switch {
	case s.hold == nil || s.policy.Load().Level < confine.Workspace: // it could not be read again
		return false
	case s.scratch.owns(p.path):
		return true
	}
	making := !p.there && (act == confine.Create || act == confine.Point || act == confine.Arrive)
	return making && s.scratch != nil && filepath.Dir(p.path) == s.scratch.dir && s.scratch.claim(p.path)
}

// leadsToScratch reports whether a link of the workspace would lead to what the session makes in /tmp.
func (s *supervisor) leadsToScratch(link, target string) bool {
	return s.change(link, confine.Point) == confine.Made && s.scratch.reaches(filepath.Dir(link), target)
}
