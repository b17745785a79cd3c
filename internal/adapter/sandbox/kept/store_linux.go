// Package kept keeps what confined commands remove, replace or empty, so that an undo can
// restore what no journal has a copy of: ignored files, large ones, git's objects (SPEC
// 16.15). The supervisor of the sandbox, which makes each change itself, calls it.
//
// What is kept for one command is a set, a folder of the session's folder:
//
//	tree/PATH   what was at the absolute PATH before the command
//	folders     the folders that it removed, each "MODE PATH\0"
//	moved       its moves, each "FROM\0TO\0"
//	set.json    what Finish found after the command; without it pawl was killed
//	out/PATH    what a restore took from PATH to make room
//
// It promises that a file is in its place or in the set at every moment: it is moved or
// linked there, and only where that is not possible copied, before it ends. What
// the session itself made is not kept. What would exceed the limits is ErrNoRoom, and
// then nothing is changed.
package kept

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrNoRoom: no copy can be kept within the limits.
var ErrNoRoom = errors.New("no copy can be kept of it")

// Limits are in bytes.
type Limits struct {
	Session int64 // all that is kept for a session
	File    int64 // of a file that must be copied
}

// Store keeps for the commands of one session.
type Store struct {
	dir    string
	limits Limits

	mu   sync.Mutex
	used int64 // -1: not counted yet
	sets int
	// made are the files and folders that commands of the session made.
	made map[inode]made
	// placed are files that commands moved, as they were then.
	placed map[string]stamp
	// ran are when commands ran.
	ran []*span
	// linked are the files of sets that have a name elsewhere, too.
	linked map[inode][]string
	// looked: the sets of earlier processes were searched for such files.
	looked bool
}

// span is when a command ran; to is zero while it does.
type span struct{ from, to time.Time }

// leeway is how much a file system's clock may be behind.
const leeway = 20 * time.Millisecond

// during reports whether a command of this session ran at a moment.
func (s *Store) during(at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.ran, func(r *span) bool {
		return !at.Before(r.from.Add(-leeway)) && (r.to.IsZero() || !at.After(r.to))
	})
}

type made struct {
	born time.Time
	heir bool // it took the place of a person's file
}

type inode struct{ dev, ino uint64 }

// Open returns the store in a session's folder. It makes the folder when it is needed.
func Open(dir string, l Limits) *Store {
	return &Store{dir: dir, limits: l, used: -1, made: map[inode]made{}, placed: map[string]stamp{}, linked: map[inode][]string{}}
}

// reserve takes room for a file. The caller holds mu.
func (s *Store) reserve(n int64) bool {
	if s.used < 0 {
		s.used = 0
		_ = filepath.WalkDir(s.dir, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				if st, err := e.Info(); err == nil {
					s.used += st.Size()
				}
			}
			return nil
		})
	}
	if s.used+n > s.limits.Session {
		return false
	}
	s.used += n
	return true
}

func (s *Store) release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = max(0, s.used-n)
}

// newSet makes the folder of a set.
func (s *Store) newSet() (string, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", err
	}
	for {
		s.sets++
		dir := filepath.Join(s.dir, strconv.Itoa(s.sets))
		switch err := os.Mkdir(dir, 0o700); {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return "", err
		default:
			return dir, os.Mkdir(filepath.Join(dir, "tree"), 0o700)
		}
	}
}

// move is a move that a command made.
type move struct {
	from, to string
	made     bool // there is nothing to move back: the session made it, or to is a second name
	linked   bool // a second name
}

// origin returns where what is at a path now was before some moves.
func origin(moves []move, path string) string {
	for i := len(moves) - 1; i >= 0; i-- {
		if rest, ok := below(moves[i].to, path); ok {
			path = moves[i].from + rest
		}
	}
	return path
}

// final returns where what was at a path is after some moves.
func final(moves []move, path string) string {
	for _, m := range moves {
		if rest, ok := below(m.from, path); ok && !m.linked {
			path = m.to + rest
		}
	}
	return path
}

// below returns what follows a folder's path in a path.
func below(folder, path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, folder)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// keptOfGit reports whether a file of a git folder is kept: what ends for good there are
// objects, refs and reflogs. The rest, the index for one, is written anew by each command.
func keptOfGit(path string, replaced bool) (inGit, keeps bool) {
	_, rest, ok := strings.Cut(path, "/.git/")
	if !ok {
		return false, true
	}
	name := filepath.Base(rest)
	if strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_") {
		return true, false
	}
	in := func(folder string) bool { return strings.Contains("/"+rest, "/"+folder+"/") }
	if replaced {
		return true, name == "packed-refs" || in("logs")
	}
	return true, in("objects") || in("refs") || in("logs")
}
