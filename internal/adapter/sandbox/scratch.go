package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// scratch knows what a session made in the folder for temporary files that everybody shares
// (SPEC 16.18): that is its own, to read, change and remove under the same path. What others
// made there is not. It is safe for concurrent use; nil owns nothing.
type scratch struct {
	dir string // /tmp, without links

	mu     sync.Mutex
	own    map[made]bool        // directly in dir; who owns a folder owns what is in it
	claims map[string]time.Time // names that did not exist when the session was about to make them
}

// made distinguishes a file from a later one with the same inode number.
type made struct {
	dev, ino uint64
	born     int64 // in nanoseconds
}

// newScratch returns the scratch files of a session, nil where the system cannot keep them
// apart from those of others.
func newScratch() *scratch {
	dir := real("/tmp")
	if st, err := os.Stat(dir); !Holds || err != nil || !st.IsDir() || st.Mode()&os.ModeSticky == 0 {
		return nil
	}
	return &scratch{dir: dir, own: map[made]bool{}, claims: map[string]time.Time{}}
}

// A file belongs to who claimed its name if it was made at most this long afterwards. The
// clock of file systems is a little slow.
const (
	claimBefore = 20 * time.Millisecond
	claimAfter  = time.Minute
)

// top returns the name directly in the folder that a path begins with.
func (s *scratch) top(file string) (string, bool) {
	if s == nil || file == s.dir || !confine.Within(s.dir, file) {
		return "", false
	}
	name, _, _ := strings.Cut(file[len(s.dir)+1:], "/")
	return name, true
}

// owns reports whether the session made a file, or the folder in which it is. Only the last
// name of the path may be a link.
func (s *scratch) owns(file string) bool {
	name, ok := s.top(file)
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.own)+len(s.claims) == 0 {
		return false
	}
	is, mine, ok := identity(filepath.Join(s.dir, name))
	if !ok {
		return false
	}
	if at, claimed := s.claims[name]; claimed {
		delete(s.claims, name)
		born := time.Unix(0, is.born).Sub(at)
		if mine && born > -claimBefore && born < claimAfter {
			s.own[is] = true
		}
	}
	return s.own[is]
}

// claim says that the session is about to make a path: false if its name is taken.
func (s *scratch) claim(file string) bool {
	name, ok := s.top(file)
	if !ok {
		return false
	}
	if _, err := os.Lstat(filepath.Join(s.dir, name)); !os.IsNotExist(err) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims[name] = time.Now()
	return true
}

// reaches reports whether a link in the folder dir leads to what the session made in the
// folder, or may make there: any name is free there, so a repository or the configuration
// of a tool would come to the workspace by it.
func (s *scratch) reaches(dir, target string) bool {
	if s == nil {
		return false
	}
	if !filepath.IsAbs(target) {
		target = dir + "/" + target
	}
	target = real(target)
	if confine.Within(target, s.dir) {
		return true
	}
	name, ok := s.top(target)
	if !ok {
		return false
	}
	_, err := os.Lstat(filepath.Join(s.dir, name))
	return err != nil || s.owns(target)
}

// used reports whether the session has made anything.
func (s *scratch) used() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.own)+len(s.claims) > 0
}

// Scratch reports whether a path is the session's own in /tmp. write: or a new name there,
// which is its own once it is made.
func (b *Boxes) Scratch(file string, write bool) bool {
	return b.scratch.owns(file) || write && b.scratch.claim(file)
}
