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
	"time"
)

// Objects of git that this package writes and reads itself. A process of git for each
// would be most of what a small task costs.

// commitTree makes a commit of a tree, on top of parents ("" is none), at a time.
func (s *Store) commitTree(tree, message string, at time.Time, parents ...string) (string, error) {
	if !isObjectID(tree) {
		return "", fmt.Errorf("%q is no tree", tree)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		if p != "" {
			fmt.Fprintf(&b, "parent %s\n", p)
		}
	}
	const who = "pawl <pawl@localhost>"
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n%s\n", who, at.Unix(), who, at.Unix(), strings.TrimRight(message, "\n"))
	commit, err := s.write("commit", []byte(b.String()))
	if err == nil {
		s.know(commit, tree)
	}
	return commit, err
}

func (s *Store) know(commit, tree string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.treeIDs == nil || len(s.treeIDs) > 10_000 {
		s.treeIDs = map[string]string{}
	}
	s.treeIDs[commit] = tree
}

// treeOf returns the tree of a commit.
func (s *Store) treeOf(ctx context.Context, commit string) (string, error) {
	s.mu.Lock()
	tree := s.treeIDs[commit]
	s.mu.Unlock()
	if tree != "" {
		return tree, nil
	}
	tree, err := s.git(ctx, nil, "rev-parse", "--verify", commit+"^{tree}")
	if err == nil {
		s.know(commit, tree)
	}
	return tree, err
}

func (s *Store) objectPath(id string) string { return filepath.Join(s.dir, "objects", id[:2], id[2:]) }

// write stores an object and returns its name.
func (s *Store) write(kind string, body []byte) (id string, err error) {
	head := fmt.Appendf(nil, "%s %d\x00", kind, len(body))
	sum := sha1.New()
	sum.Write(head)
	sum.Write(body)
	id = hex.EncodeToString(sum.Sum(nil))
	path := s.objectPath(id)
	if _, err := os.Lstat(path); err == nil {
		return id, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
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

// looseSize returns the size of an object that is a file of its own; ok is false for one
// that is in a pack, or in the project.
func (s *Store) looseSize(id string) (size int64, ok bool, err error) {
	f, err := os.Open(s.objectPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return 0, false, fmt.Errorf("the object %s is damaged: %w", id, err)
	}
	head, err := bufio.NewReader(io.LimitReader(z, 64)).ReadString(0)
	if err == nil {
		_, err = fmt.Sscanf(strings.TrimRight(head, "\x00"), "blob %d", &size)
	}
	if err != nil {
		return 0, false, fmt.Errorf("the object %s is damaged: %w", id, err)
	}
	return size, true, nil
}
