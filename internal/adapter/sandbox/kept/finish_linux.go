package kept

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// manifest is set.json.
type manifest struct {
	// Left are the files that the command left where others were.
	Left    map[string]stamp `json:"left,omitempty"`
	Moves   []pair           `json:"moves,omitempty"`
	Folders []folder         `json:"folders,omitempty"`
}

// stamp tells whether a file is as the command left it.
type stamp struct {
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Mode  uint32 `json:"mode"`
}

// pair is a move: what was at From is at To.
type pair struct{ From, To string }

type folder struct {
	Path string
	Mode uint32
}

func stampOf(st *unix.Stat_t) stamp { return stamp{st.Size, st.Mtim.Nano(), st.Mode} }

func exists(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil
}

func (k *Set) Finish(logged map[string]bool) (tool.KeptSet, error) {
	k.mu.Lock()
	dir, moves, copied := k.dir, k.moves, k.copied
	k.dir, k.moves, k.copied, k.left = "", nil, nil, nil
	k.mu.Unlock()
	k.s.mu.Lock()
	k.ran.to = time.Now()
	k.s.mu.Unlock()
	if dir == "" {
		return tool.KeptSet{}, nil
	}
	return k.s.finish(dir, moves, copied, logged)
}

func (s *Store) Recover(logged map[string]bool) []tool.KeptSet {
	var out []tool.KeptSet
	es, _ := os.ReadDir(s.dir) // most sessions have none
	for _, e := range es {
		dir := filepath.Join(s.dir, e.Name())
		if exists(filepath.Join(dir, "set.json")) || !exists(filepath.Join(dir, "tree")) {
			continue
		}
		var moves []move
		for i, all := 0, records(dir, "moved"); i+1 < len(all); i += 2 {
			moves = append(moves, move{from: all[i], to: all[i+1]})
		}
		if set, err := s.finish(dir, moves, nil, logged); err == nil && len(set.Items) > 0 {
			out = append(out, set)
		}
	}
	return out
}

// records reads a file of a set.
func records(dir, file string) []string {
	b, _ := os.ReadFile(filepath.Join(dir, file)) // most sets have none
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// ending is a set while it is finished.
type ending struct {
	s       *Store
	dir     string
	tree    string
	logged  map[string]bool
	above   map[string]bool // folders above logged and kept files
	covered map[string]bool // what an undo restores, or moves back
	had     map[string]bool // what of that the command ended or moved
	out     manifest
	sizes   map[string]int64 // of the files of tree, and of what was moved
}

func (s *Store) finish(dir string, moves []move, copied map[string]unix.Stat_t, logged map[string]bool) (tool.KeptSet, error) {
	e := &ending{s: s, dir: dir, tree: filepath.Join(dir, "tree"), logged: logged, above: map[string]bool{}, covered: map[string]bool{}, had: map[string]bool{}, sizes: map[string]int64{}, out: manifest{Left: map[string]stamp{}}}
	if err := e.files(copied); err != nil {
		return tool.KeptSet{}, err
	}
	e.pairs(moves)
	for _, paths := range []map[string]bool{logged, e.covered} {
		for p := range paths {
			for up := filepath.Dir(p); !e.above[up] && up != "/"; up = filepath.Dir(up) {
				e.above[up] = true
			}
		}
	}
	e.folders(dir)
	set := tool.KeptSet{Name: filepath.Base(s.dir) + "/" + filepath.Base(dir), Items: e.items(), Covers: func(p string) bool { return e.covered[p] }}
	if len(set.Items) == 0 {
		return tool.KeptSet{}, os.RemoveAll(dir)
	}
	return set, write(dir, e.out)
}

func write(dir string, m manifest) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "set.json"), b, 0o600)
}

// files drops from the tree what the log has and what did not change.
func (e *ending) files(copied map[string]unix.Stat_t) error {
	return filepath.WalkDir(e.tree, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path := strings.TrimPrefix(at, e.tree)
		var st, now unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil {
			return err
		}
		there := unix.Lstat(path, &now) == nil
		was, isCopy := copied[path]
		same := there && (inodeOf(&st) == inodeOf(&now) || isCopy && inodeOf(&was) == inodeOf(&now) && was.Ctim == now.Ctim)
		if e.logged[path] || same {
			if err := os.Remove(at); err != nil {
				return err
			}
			if st.Nlink == 1 {
				e.s.release(st.Size)
			}
			return nil
		}
		if there {
			e.out.Left[path] = stampOf(&now)
		}
		e.covered[path], e.had[path], e.sizes[path] = true, true, st.Size
		return nil
	})
}

// pairs finds where what was moved is now.
func (e *ending) pairs(moves []move) {
	for i, m := range moves {
		from, to := origin(moves[:i], m.from), final(moves[i+1:], m.to)
		var st, now unix.Stat_t
		if m.made || from == to || e.had[from] || e.logged[from] || unix.Lstat(to, &st) != nil {
			continue
		}
		if e.logged[to] && e.copyMoved(from, to, &st) {
			continue
		}
		found := false
		_ = filepath.WalkDir(to, func(at string, d fs.DirEntry, err error) error {
			was := from + strings.TrimPrefix(at, to)
			if err == nil && !d.IsDir() && !e.logged[was] && !e.had[was] {
				found, e.covered[was], e.covered[at] = true, true, true
			}
			return nil
		})
		if !found && (st.Mode&unix.S_IFMT != unix.S_IFDIR || e.above[from]) {
			continue
		}
		if unix.Lstat(from, &now) == nil {
			e.out.Left[from] = stampOf(&now)
		}
		e.covered[from], e.had[from], e.sizes[from] = true, true, st.Size
		e.out.Moves = append(e.out.Moves, pair{from, to})
	}
}

// copyMoved copies a file that was moved over one that the log restores: that takes its place
// before it could be moved back.
func (e *ending) copyMoved(from, to string, st *unix.Stat_t) bool {
	k := &Set{s: e.s, dir: e.dir}
	kept, err := k.at(from)
	if err != nil || k.copyName(unix.AT_FDCWD, to, kept, st) != nil {
		return false
	}
	var now unix.Stat_t
	if unix.Lstat(from, &now) == nil {
		e.out.Left[from] = stampOf(&now)
	}
	e.covered[from], e.had[from], e.sizes[from] = true, true, st.Size
	return true
}

// folders keeps the folders that are gone, of which those with an odd mode, or nothing in
// them that is restored, are an item.
func (e *ending) folders(dir string) {
	for _, r := range records(dir, "folders") {
		mode, path, ok := strings.Cut(r, " ")
		n, err := strconv.ParseUint(mode, 8, 32)
		replaced := slices.ContainsFunc(e.out.Moves, func(p pair) bool { return p.To == path })
		if !ok || err != nil || exists(path) && !replaced {
			continue
		}
		e.out.Folders = append(e.out.Folders, folder{path, uint32(n)})
		if usual := n == 0o755 || n == 0o775; !usual || replaced || !e.above[path] {
			e.sizes[path+"/"] = 0
		}
	}
}

// mostItems is how many items a set has at most.
const mostItems = 20

// items folds the files into the topmost folders that are gone, and further if there are
// many.
func (e *ending) items() []tool.KeptItem {
	there := map[string]bool{"/": true}
	isThere := func(dir string) bool {
		is, known := there[dir]
		if !known {
			is = exists(dir)
			there[dir] = is
		}
		return is
	}
	at := map[string]*tool.KeptItem{}
	for path, size := range e.sizes {
		files := 1
		if p, ok := strings.CutSuffix(path, "/"); ok {
			path, files = p, 0
		}
		for up := filepath.Dir(path); !isThere(up); up = filepath.Dir(up) {
			path = up
		}
		add(at, tool.KeptItem{Path: path, Files: files, Bytes: size})
	}
	for len(at) > mostItems {
		deepest := 0
		for path := range at {
			deepest = max(deepest, strings.Count(path, "/"))
		}
		if deepest <= 1 {
			break
		}
		for path, item := range at {
			if strings.Count(path, "/") == deepest {
				delete(at, path)
				up := *item
				up.Path = filepath.Dir(path)
				add(at, up)
			}
		}
	}
	top := map[string]*tool.KeptItem{}
	for path, item := range at {
		for up := path; up != "/"; up = filepath.Dir(up) {
			if at[up] != nil {
				item.Path = up
			}
		}
		add(top, *item)
	}
	var out []tool.KeptItem
	for _, item := range top {
		out = append(out, *item)
	}
	sorting.By(out, func(a, b tool.KeptItem) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func add(at map[string]*tool.KeptItem, item tool.KeptItem) {
	if old := at[item.Path]; old != nil {
		item.Files, item.Bytes = item.Files+old.Files, item.Bytes+old.Bytes
	}
	at[item.Path] = &item
}

// read returns the manifest of a set.
func (s *Store) read(set string) (dir string, m manifest, err error) {
	session, n, ok := strings.Cut(set, "/")
	if _, err := strconv.Atoi(n); !ok || err != nil || session != filepath.Base(session) || strings.HasPrefix(session, ".") {
		return "", m, errors.New("there is no such set of kept files")
	}
	dir = filepath.Join(filepath.Dir(s.dir), session, n)
	b, err := os.ReadFile(filepath.Join(dir, "set.json"))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	return dir, m, err
}
