package gitindex

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"
)

// Set is paths of an index, sorted, in one text. A nil one is empty.
type Set struct {
	text    []byte
	ends    []uint32 // of each path in text
	modules []string
}

var errOrder = errors.New("git's index is not sorted")

// NewSet reads the paths of an open index below prefix.
func NewSet(f io.ReaderAt, size int64, prefix string, idLen int) (*Set, error) {
	s := &Set{}
	var failed error
	_, err := Read(f, size, prefix, idLen, func(t *Entry) {
		if failed == nil {
			failed = s.Add(t)
		}
	})
	return s, errors.Join(err, failed)
}

// Add adds the path of the next entry. A conflict has the same path up to three times.
func (s *Set) Add(t *Entry) error {
	order := 1
	if n := len(s.ends); n > 0 {
		order = bytes.Compare(t.Path, s.at(n-1))
	}
	switch {
	case order == 0:
		return nil
	case order < 0, len(s.text) > 1<<31:
		return errOrder
	}
	s.text = append(s.text, t.Path...)
	s.ends = append(s.ends, uint32(len(s.text)))
	if t.Module {
		s.modules = append(s.modules, string(t.Path))
	}
	return nil
}

func (s *Set) at(i int) []byte {
	if i == 0 {
		return s.text[:s.ends[0]]
	}
	return s.text[s.ends[i-1]:s.ends[i]]
}

// Len returns the number of paths.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.ends)
}

// Equal reports whether two sets have the same paths.
func (s *Set) Equal(o *Set) bool {
	return s.Len() == o.Len() && (s.Len() == 0 || bytes.Equal(s.text, o.text) && slices.Equal(s.ends, o.ends))
}

// Tracks reports whether a file, or anything below a folder, is in the set.
func (s *Set) Tracks(path string, dir bool) bool { return s.Has(path) || dir && s.Below(path) }

func (s *Set) Has(path string) bool { return string(s.from(path)) == path && path != "" }

// Below reports whether anything below a folder is in the index.
func (s *Set) Below(dir string) bool { return strings.HasPrefix(string(s.from(dir+"/")), dir+"/") }

// Module reports whether a path is a submodule's.
func (s *Set) Module(path string) bool {
	_, ok := slices.BinarySearch(s.modules, path)
	return ok
}

// from returns the first path that is not before want, nil for none.
func (s *Set) from(want string) []byte {
	i := sort.Search(s.Len(), func(i int) bool { return string(s.at(i)) >= want })
	if i == s.Len() {
		return nil
	}
	return s.at(i)
}
