package kept

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Set keeps for one command, from one Finish to the next. Paths are absolute and real, but
// for their last name. It is safe for concurrent use.
type Set struct {
	s   *Store
	ran *span

	mu     sync.Mutex
	dir    string // "" before something is kept
	moves  []move
	copied map[string]unix.Stat_t // the origins of which tree has a copy, as they were
	left   map[string]bool        // see Left
}

// Begin returns the set of a command.
func (s *Store) Begin() tool.Keeping {
	k := &Set{s: s, ran: &span{from: time.Now()}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, k.ran)
	return k
}

func (k *Set) KeepsRemoved() {}

// mostLeft is how many paths are noted: of more, nobody can tell who changed them.
const mostLeft = 200_000

// Note notes that the command did something to a path, and whether it left something there.
func (k *Set) Note(path string, there bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == nil {
		k.left = map[string]bool{}
	}
	if _, known := k.left[path]; known || len(k.left) < mostLeft {
		k.left[path] = there
	}
}

func (k *Set) Left(path string) (there, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	there, known = k.left[path]
	return there, known
}

func (k *Set) Touched(dir, but string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.left) >= mostLeft {
		return true
	}
	for path := range k.left {
		if confine.Within(dir, path) && !confine.Within(but, path) {
			return true
		}
	}
	return false
}

// Made notes that the command made what is at a name.
func (k *Set) Made(dir int, name string) {
	var x unix.Statx_t
	if unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &x) != nil || x.Mask&unix.STATX_BTIME == 0 {
		return
	}
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	k.s.made[inode{unix.Mkdev(x.Dev_major, x.Dev_minor), x.Ino}] = made{born: time.Unix(x.Btime.Sec, int64(x.Btime.Nsec))}
}

// ofSession reports whether the session made a file. The number of one that somebody else
// removed may be another's by now: then it was born later.
func (s *Store) ofSession(dir int, name string, st *unix.Stat_t) (is, heir bool) {
	s.mu.Lock()
	m, ok := s.made[inodeOf(st)]
	s.mu.Unlock()
	if !ok {
		return false, false
	}
	var x unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH, unix.STATX_BTIME, &x)
	return err == nil && time.Unix(x.Btime.Sec, int64(x.Btime.Nsec)).Equal(m.born), m.heir
}

// isMade reports whether the end of a file is no loss: the session made it. One that took
// the place of a person's file is kept all the same while there is much room.
func (s *Store) isMade(dir int, name string, st *unix.Stat_t) bool {
	is, heir := s.ofSession(dir, name, st)
	if !is || !heir {
		return is
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return st.Size > s.limits.File || s.used+st.Size > s.limits.Session/2
}

// Linked notes that a file got a second name.
func (k *Set) Linked(from, to string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.moves = append(k.moves, move{from: from, to: to, made: true, linked: true})
}

func (k *Set) forget(st *unix.Stat_t) {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	delete(k.s.made, inodeOf(st))
}

func inodeOf(st *unix.Stat_t) inode { return inode{uint64(st.Dev), st.Ino} }

// at returns where in tree the file of a path is kept, and makes the folder for it. The
// caller holds mu.
func (k *Set) at(path string) (string, error) {
	if err := k.begin(); err != nil {
		return "", err
	}
	to := filepath.Join(k.dir, "tree", path)
	return to, os.MkdirAll(filepath.Dir(to), 0o700)
}

func (k *Set) begin() (err error) {
	if k.dir == "" {
		k.s.mu.Lock()
		defer k.s.mu.Unlock()
		k.dir, err = k.s.newSet()
	}
	return err
}

// note appends to a file of the set. The caller holds mu.
func (k *Set) note(file, text string) error {
	if err := k.begin(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(k.dir, file), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Unlink removes a name: what is to be kept is moved.
func (k *Set) Unlink(dir int, name, path string, st *unix.Stat_t, flags int) error {
	kind := st.Mode & unix.S_IFMT
	if flags&unix.AT_REMOVEDIR != 0 {
		return k.rmdir(dir, name, path, st)
	}
	if kind != unix.S_IFREG && kind != unix.S_IFLNK || k.s.isMade(dir, name, st) {
		err := unix.Unlinkat(dir, name, flags)
		if err == nil && st.Nlink <= 1 {
			k.forget(st)
		}
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	from := origin(k.moves, path)
	if _, keeps := keptOfGit(from, false); !keeps {
		return unix.Unlinkat(dir, name, flags)
	}
	err := k.keep(dir, name, from, st, func(to string) error {
		return unix.Renameat2(dir, name, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errCopied):
		return unix.Unlinkat(dir, name, flags)
	}
	return err
}

// errCopied: the set has the file, and the name is still there.
var errCopied = errors.New("copied")

// keep brings a file into the set: by a move or a link, else as a copy. The caller holds mu.
func (k *Set) keep(dir int, name, from string, st *unix.Stat_t, bring func(to string) error) error {
	to, err := k.at(from)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	size := st.Size
	if st.Nlink > 1 { // it costs nothing yet
		size = 0
	}
	k.s.mu.Lock()
	room := k.s.reserve(size)
	k.s.mu.Unlock()
	if !room {
		if exists(to) {
			return errCopied
		}
		return ErrNoRoom
	}
	switch err = bring(to); {
	case err == nil:
		if st.Nlink > 1 {
			k.s.mu.Lock()
			k.s.linked[inodeOf(st)] = append(k.s.linked[inodeOf(st)], to)
			k.s.mu.Unlock()
		}
		return nil
	case errors.Is(err, unix.EEXIST): // as it was before the command
		k.s.release(size)
		return errCopied
	}
	k.s.release(size)
	if !errors.Is(err, unix.EXDEV) && !errors.Is(err, unix.EMLINK) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	if err := k.copyName(dir, name, to, st); err != nil {
		return err
	}
	return errCopied
}

// rmdir removes a folder and notes its mode.
func (k *Set) rmdir(dir int, name, path string, st *unix.Stat_t) error {
	made := k.s.isMade(dir, name, st)
	if err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); err != nil {
		return err
	}
	if made {
		k.forget(st)
		return nil
	}
	k.lostFolder(path, st)
	return nil
}

// lostFolder notes a folder that goes. It is an empty one, so a failure is no loss.
func (k *Set) lostFolder(path string, st *unix.Stat_t) {
	k.mu.Lock()
	defer k.mu.Unlock()
	from := origin(k.moves, path)
	if inGit, _ := keptOfGit(from+"/", false); !inGit {
		_ = k.note("folders", strconv.FormatUint(uint64(st.Mode&0o7777), 8)+" "+from+"\x00")
	}
}

// Place is a name in an opened folder.
type Place struct {
	Dir   int
	Name  string
	Path  string
	There bool
	St    *unix.Stat_t
}

// Rename moves a name; what it replaces is kept.
func (k *Set) Rename(a, b Place, flags uint) error {
	rename := func() error { return unix.Renameat2(a.Dir, a.Name, b.Dir, b.Name, flags) }
	if b.There && flags&unix.RENAME_NOREPLACE != 0 || b.There && inodeOf(a.St) == inodeOf(b.St) {
		return rename() // fails, or does nothing
	}
	aMade, bMade := k.s.isMade(a.Dir, a.Name, a.St), b.There && k.s.isMade(b.Dir, b.Name, b.St)
	undo, err := func() {}, error(nil)
	kept := false
	if b.There && !bMade {
		if kept, undo, err = k.keepReplaced(b); err != nil {
			return err
		}
	}
	folder := a.St.Mode&unix.S_IFMT == unix.S_IFDIR
	if folder && b.There && !bMade {
		k.lostFolder(b.Path, b.St)
	}
	if !aMade || folder {
		err = k.moved(move{from: a.Path, to: b.Path, made: aMade}, rename)
	} else {
		err = rename()
	}
	switch {
	case err != nil:
		undo()
		return err
	case !folder:
		k.s.mu.Lock()
		k.s.placed[b.Path] = stampOf(a.St)
		k.s.mu.Unlock()
	}
	switch {
	case bMade:
		k.forget(b.St)
	case kept && aMade: // it stands for what the person had
		k.s.mu.Lock()
		m := k.s.made[inodeOf(a.St)]
		m.heir = true
		k.s.made[inodeOf(a.St)] = m
		k.s.mu.Unlock()
	}
	return err
}

// keepReplaced keeps what is about to be replaced. undo takes that back.
func (k *Set) keepReplaced(b Place) (kept bool, undo func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	undo = func() {}
	from := origin(k.moves, b.Path)
	kind := b.St.Mode & unix.S_IFMT
	if _, keeps := keptOfGit(from, true); !keeps || kind != unix.S_IFREG && kind != unix.S_IFLNK {
		return false, undo, nil
	}
	err = k.keep(b.Dir, b.Name, from, b.St, func(to string) error { return unix.Linkat(b.Dir, b.Name, unix.AT_FDCWD, to, 0) })
	if errors.Is(err, errCopied) {
		return true, undo, nil
	}
	if err != nil {
		return false, undo, err
	}
	return true, func() { // else the file would have two names
		k.mu.Lock()
		defer k.mu.Unlock()
		if to, err := k.at(from); err == nil && os.Remove(to) == nil {
			k.s.release(b.St.Size)
		}
	}, nil
}

// moved makes a move, and notes it before: what was moved is not what was made.
func (k *Set) moved(m move, rename func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if strings.Contains(m.from, "/.git/") {
		return rename()
	}
	if err := k.note("moved", m.from+"\x00"+m.to+"\x00"); err != nil {
		return err
	}
	if err := rename(); err != nil {
		return errors.Join(err, k.note("moved", m.to+"\x00"+m.from+"\x00"))
	}
	k.moves = append(k.moves, m)
	return nil
}
