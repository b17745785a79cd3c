package trees

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Modes of what is in a tree.
const (
	modeFile, modeExec = "100644", "100755"
	modeLink           = "120000"
	modeDir            = "40000"
	modeGone           = "000000"
)

// entry is one name in a folder of a commit.
type entry struct{ name, mode, id string }

// file is a file of a commit.
type file struct{ path, mode, id string }

// maxChanged is how many files may differ between two commits. A few folders, each in
// the next ten times over, are more files than any machine can hold.
const maxChanged = 100_000

var errMany = fmt.Errorf("%w: it changes over %d files or folders", ErrRefused, maxChanged)

// maxEntries is how many entries of trees are held in memory.
const maxEntries = 100_000

// order is git's: a folder sorts as if its name ended in a slash.
func order(a, b entry) int {
	key := func(e entry) string {
		if e.mode == modeDir {
			return e.name + "/"
		}
		return e.name
	}
	if a.mode != modeDir && b.mode != modeDir {
		return cmp.Compare(a.name, b.name)
	}
	return cmp.Compare(key(a), key(b))
}

// folder returns the entries of a folder, "" is an empty one.
func (s *Store) folder(id string) ([]entry, error) {
	if id == "" {
		return nil, nil
	}
	s.mu.Lock()
	es, ok := s.folders[id]
	s.mu.Unlock()
	if ok {
		return es, nil
	}
	raw, err := s.read(id, "tree")
	if err != nil {
		return nil, err
	}
	text := string(raw)
	for text != "" {
		head, rest, ok := strings.Cut(text, "\x00")
		mode, name, named := strings.Cut(head, " ")
		if !ok || !named || len(rest) < 20 {
			return nil, fmt.Errorf("the folder %s is damaged", id)
		}
		es = append(es, entry{name: name, mode: mode, id: hex.EncodeToString([]byte(rest[:20]))})
		text = rest[20:]
	}
	if err := s.keep(id, es); err != nil {
		return nil, err
	}
	return es, nil
}

// keep checks that the entries of a folder are usual, and keeps them.
func (s *Store) keep(id string, es []entry) error {
	known := make(map[string]bool, len(es))
	for _, e := range es {
		if e.name == "" || strings.ContainsRune(e.name, '/') || known[e.name] {
			return errUnusual
		}
		known[e.name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folders == nil || s.entries > maxEntries {
		s.folders, s.entries = map[string][]entry{}, 0
	}
	s.folders[id] = es
	s.entries += len(es)
	return nil
}

// writeTree stores a folder and returns its name, "" for an empty one.
func (s *Store) writeTree(es []entry) (string, error) {
	if len(es) == 0 {
		return "", nil
	}
	slices.SortFunc(es, order)
	id, err := s.write("tree", rawTree(es))
	if err == nil {
		err = s.keep(id, es)
	}
	return id, err
}

// rawTree is how git stores entries that are in its order.
func rawTree(es []entry) (b []byte) {
	for _, e := range es {
		b = append(append(append(append(b, e.mode...), ' '), e.name...), 0)
		b, _ = hex.AppendDecode(b, []byte(e.id))
	}
	return b
}

// list passes on the files below a folder, in the order of their paths.
func (s *Store) list(id, path string, take func(file) error) error {
	es, err := s.folder(id)
	if err != nil {
		return err
	}
	for _, e := range es {
		if e.mode == modeDir {
			err = s.list(e.id, path+e.name+"/", take)
		} else {
			err = take(file{path + e.name, e.mode, e.id})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// differ passes on the files that differ between two folders, with mode modeGone where
// there is none, until take returns an error. It looks at a level of folders at a time,
// so that what is in packs is read together; a folder that is in many places is read once.
func (s *Store) differ(ctx context.Context, from, to string, take func(was, now file) error) error {
	type place struct{ path, from, to string }
	for level := []place{{"", from, to}}; len(level) > 0; {
		var ids []string
		for _, p := range level {
			ids = append(ids, p.from, p.to)
		}
		if err := s.fetch(ctx, ids); err != nil {
			return err
		}
		var below []place
		for _, p := range level {
			if p.from == p.to {
				continue
			}
			old, err := s.fetched(ctx, p.from)
			if err != nil {
				return err
			}
			present, err := s.fetched(ctx, p.to)
			if err != nil {
				return err
			}
			for _, pair := range pairs(old, present) {
				was, now := pair[0], pair[1]
				if was == now {
					continue
				}
				path := p.path + cmp.Or(was.name, now.name)
				if was.mode == modeDir || now.mode == modeDir {
					if below = append(below, place{path + "/", dirOf(was), dirOf(now)}); len(below) > maxChanged {
						return errMany
					}
				}
				one := func(e entry) file {
					if e.mode == "" || e.mode == modeDir {
						return file{path, modeGone, ""}
					}
					return file{path, e.mode, e.id}
				}
				if a, b := one(was), one(now); a != b {
					if err := take(a, b); err != nil {
						return err
					}
				}
			}
		}
		level = below
	}
	return nil
}

// fetched is folder for one that fetch has read. It reads the folder again if it was
// dropped from memory.
func (s *Store) fetched(ctx context.Context, id string) ([]entry, error) {
	es, err := s.folder(id)
	for range 3 {
		if !errors.Is(err, errUnusual) {
			break
		}
		if err := s.fetch(ctx, []string{id}); err != nil {
			return nil, err
		}
		es, err = s.folder(id)
	}
	return es, err
}

// fetch reads the folders that are in packs.
func (s *Store) fetch(ctx context.Context, ids []string) error {
	missing := map[string]bool{}
	for _, id := range ids {
		s.mu.Lock()
		_, known := s.folders[id]
		s.mu.Unlock()
		if id != "" && !known && !s.has(id) {
			missing[id] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return s.unpack(ctx, slices.Sorted(maps.Keys(missing)))
}

// dirOf returns the folder that an entry is, "" for none.
func dirOf(e entry) string {
	if e.mode == modeDir {
		return e.id
	}
	return ""
}

// pairs returns the entries of two folders by name, the zero value where one has none.
func pairs(a, b []entry) [][2]entry {
	at := make(map[string]int, len(a))
	out := make([][2]entry, 0, max(len(a), len(b)))
	for i, e := range a {
		at[e.name] = i
		out = append(out, [2]entry{e})
	}
	for _, e := range b {
		if i, ok := at[e.name]; ok {
			out[i][1] = e
		} else {
			out = append(out, [2]entry{1: e})
		}
	}
	return out
}

// edit returns the folder after changes of files, whose paths are relative to it.
func (s *Store) edit(id string, changes []file) (string, error) {
	es, err := s.folder(id)
	if err != nil || len(changes) == 0 {
		return id, err
	}
	names := make(map[string]entry, len(es))
	for _, e := range es {
		names[e.name] = e
	}
	below := map[string][]file{}
	var set []file
	for _, c := range changes {
		if head, rest, in := strings.Cut(c.path, "/"); in {
			below[head] = append(below[head], file{rest, c.mode, c.id})
		} else if c.mode == modeGone {
			delete(names, c.path)
		} else {
			set = append(set, c)
		}
	}
	for name, cs := range below {
		sub, err := s.edit(dirOf(names[name]), cs)
		if err != nil {
			return "", err
		}
		if sub != "" {
			names[name] = entry{name, modeDir, sub}
		} else if names[name].mode == modeDir {
			delete(names, name)
		}
	}
	for _, c := range set { // last: a file where a folder was
		names[c.path] = entry{c.path, c.mode, c.id}
	}
	out := make([]entry, 0, len(names))
	for _, e := range names {
		out = append(out, e)
	}
	return s.writeTree(out)
}

// prime reads all of a commit's folders, and those of its files that are in packs, so
// that the commit can be checked out here. The error is errUnusual for a large one:
// git is as fast with it.
func (s *Store) prime(ctx context.Context, commit string) error {
	s.priming.Lock() // workers that begin together begin from the same commit
	defer s.priming.Unlock()
	root, err := s.treeOf(ctx, commit)
	if err != nil {
		return err
	}
	if s.large.Load() {
		return errUnusual
	}
	out, err := s.git(ctx, nil, "ls-tree", "-r", "-t", "-z", "--long", "--full-tree", commit)
	if err != nil {
		return err
	}
	folders := map[string][]entry{}
	ids := map[string]string{"": root} // of folders, by path
	var files, size int64
	var blobs []string
	for line := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		if !ok {
			return errUnusual // an empty tree
		}
		f := strings.Fields(about)
		var bytes int64
		if len(f) != 4 {
			return fmt.Errorf("git ls-tree answered %q", line)
		}
		dir, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, name = path[:i], path[i+1:]
		}
		e := entry{name, strings.TrimPrefix(f[0], "0"), f[2]}
		folders[dir] = append(folders[dir], e)
		switch {
		case e.mode == modeDir:
			ids[path] = e.id
		case f[3] != "-":
			_, _ = fmt.Sscan(f[3], &bytes)
			files, size = files+1, size+bytes
			if files <= maxPlain && !s.has(e.id) {
				blobs = append(blobs, e.id)
			}
		}
	}
	for dir, es := range folders {
		if err := s.keep(ids[dir], es); err != nil {
			return err
		}
	}
	if files > maxPlain || size > maxHeld {
		s.large.Store(true)
		return errUnusual
	}
	if len(blobs) == 0 {
		return nil
	}
	slices.Sort(blobs)
	return s.unpack(ctx, slices.Compact(blobs))
}

// maxPlain is how many files a tree may have that is not left to git.
const maxPlain = 2000
