package trees

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitobjects"
)

// Objects of git that this package writes and reads itself. A process of git for each
// would be most of what a small task costs.

// errUnusual is the reason why something is left to git, whose answer counts then.
var errUnusual = errors.New("git has to do this")

// Limits of what is held in memory, in bytes; what is larger is left to git.
const (
	maxHeld   = 16 << 20 // of one object, and of all that came from packs
	maxCommit = 10_000   // commits whose tree and parents are known
)

// object is an object that was read.
type object struct {
	kind string
	body []byte
}

// commitInfo is the content of a commit: its tree and its parents.
type commitInfo struct {
	tree    string
	parents []string
}

// commitTree makes a commit of a tree, on top of parents ("" is none), at a time.
func (s *Store) commitTree(tree, message string, at time.Time, parents ...string) (string, error) {
	if !isObjectID(tree) {
		return "", fmt.Errorf("%q is not a tree", tree)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	l := commitInfo{tree: tree}
	for _, p := range parents {
		if p != "" {
			fmt.Fprintf(&b, "parent %s\n", p)
			l.parents = append(l.parents, p)
		}
	}
	const who = "pawl <pawl@localhost>"
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n%s\n", who, at.Unix(), who, at.Unix(), strings.TrimRight(message, "\n"))
	commit, err := s.write("commit", []byte(b.String()))
	if err == nil {
		s.know(commit, l)
	}
	return commit, err
}

func (s *Store) know(commit string, l commitInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commits == nil || len(s.commits) > maxCommit {
		s.commits = map[string]commitInfo{}
	}
	s.commits[commit] = l
}

// commit returns a commit's tree and parents.
func (s *Store) commit(ctx context.Context, id string) (commitInfo, error) {
	s.mu.Lock()
	l, ok := s.commits[id]
	s.mu.Unlock()
	if ok {
		return l, nil
	}
	if !isObjectID(id) {
		return l, fmt.Errorf("%q is not a commit", id)
	}
	body, err := s.read(id, "commit")
	if errors.Is(err, errUnusual) {
		body, err = s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, nil, "cat-file", "commit", id)
	}
	if err != nil {
		return l, err
	}
head:
	for line := range strings.Lines(string(body)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			l.tree = value
		case "parent":
			l.parents = append(l.parents, value)
		default:
			break head
		}
	}
	if !isObjectID(l.tree) {
		return l, fmt.Errorf("the commit %s has no tree", id)
	}
	s.know(id, l)
	return l, nil
}

// treeOf returns the tree of a commit.
func (s *Store) treeOf(ctx context.Context, commit string) (string, error) {
	l, err := s.commit(ctx, commit)
	return l.tree, err
}

// deflaters hold what packs objects: each is large.
var deflaters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // a level that exists
	return z
}}

// write stores an object and returns its name.
func (s *Store) write(kind string, body []byte) (id string, err error) {
	head := fmt.Appendf(nil, "%s %d\x00", kind, len(body))
	id = nameOf(head, body)
	path := gitobjects.Path(s.objects[0], id)
	if _, err := os.Lstat(path); err == nil {
		return id, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(&packed)
	z.Write(head) // into memory: cannot fail
	z.Write(body)
	z.Close()
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_obj_*") // git removes those that are left
	if err != nil {
		return "", err
	}
	_, err = f.Write(packed.Bytes())
	err = errors.Join(err, f.Chmod(0o444), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return id, nil
}

func nameOf(head, body []byte) string {
	sum := sha1.New()
	sum.Write(head)
	sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// open opens an object that is a file of its own, here or in the project. The error is
// errUnusual for one that is not.
func (s *Store) open(id string) (*gitobjects.Loose, error) {
	if !isObjectID(id) {
		return nil, fmt.Errorf("%q is not an object", id)
	}
	for _, objects := range s.objects {
		switch o, err := gitobjects.Open(objects, id); {
		case err == nil:
			return o, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("the object %s is damaged: %w", id, err)
		}
	}
	return nil, errUnusual
}

// read reads an object that is a file of its own, or came from a pack before.
func (s *Store) read(id, kind string) ([]byte, error) {
	s.mu.Lock()
	o, ok := s.packed[id]
	s.mu.Unlock()
	if !ok {
		f, err := s.open(id)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if f.Size < 0 || f.Size > maxHeld {
			return nil, errUnusual
		}
		o = object{kind: f.Kind, body: make([]byte, f.Size)}
		if _, err := io.ReadFull(f, o.body); err != nil {
			return nil, fmt.Errorf("the object %s is damaged: %w", id, err)
		}
	}
	if o.kind != kind {
		return nil, fmt.Errorf("the object %s is a %s and not a %s", id, o.kind, kind)
	}
	return o.body, nil
}

// has reports whether read finds an object.
func (s *Store) has(id string) bool {
	s.mu.Lock()
	_, ok := s.packed[id]
	s.mu.Unlock()
	for _, objects := range s.objects {
		if !ok {
			_, err := os.Lstat(gitobjects.Path(objects, id))
			ok = err == nil
		}
	}
	return ok
}

// looseSize returns the size of an object that is a file of its own; ok is false for one
// that is in a pack.
func (s *Store) looseSize(id string) (size int64, ok bool, err error) {
	o, err := s.open(id)
	if errors.Is(err, errUnusual) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return o.Size, true, o.Close()
}

// unpack reads objects of packs, so that read finds them.
func (s *Store) unpack(ctx context.Context, ids []string) error {
	out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, strings.NewReader(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packed == nil || s.unpacked > maxHeld {
		s.packed, s.unpacked = map[string]object{}, 0
	}
	r := bufio.NewReader(bytes.NewReader(out))
	for range ids {
		var id, kind string
		var size int
		if _, err := fmt.Fscanf(r, "%s %s %d\n", &id, &kind, &size); err != nil || size > len(out) {
			return fmt.Errorf("git cat-file answered %.60q", out)
		}
		o := object{kind: kind, body: make([]byte, size)}
		if _, err := io.ReadFull(r, o.body); err != nil {
			return err
		}
		if _, err := r.Discard(1); err != nil {
			return err
		}
		s.packed[id] = o
		s.unpacked += size
	}
	return nil
}
