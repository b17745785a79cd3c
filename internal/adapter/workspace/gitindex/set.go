package gitindex

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"
)

// Set is the paths of an index, in about ten bytes each: for each path it keeps only the
// difference to the one before.
type Set struct {
	data    []byte
	starts  []uint32 // where each block's first path is, which is kept whole
	n       int
	modules []string
}

// block is the number of paths that are read to find one.
const block = 32

var errOrder = errors.New("git's index is not sorted")

// NewSet reads the paths of an open index below prefix.
func NewSet(f io.ReaderAt, size int64, prefix string, idLen int) (*Set, error) {
	b := &builder{}
	var failed error
	_, err := Read(f, size, prefix, idLen, func(t *Entry) {
		if failed == nil {
			failed = b.add(t.Path, t.Module)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	b.data = slices.Clip(b.data)
	return &b.Set, nil
}

type builder struct {
	Set
	last []byte
}

// add adds the next path. A conflict has the same path up to three times.
func (b *builder) add(path []byte, module bool) error {
	switch order := strings.Compare(string(path), string(b.last)); {
	case b.n > 0 && order == 0:
		return nil
	case b.n > 0 && order < 0, len(b.data) > 1<<31:
		return errOrder
	}
	same := 0
	if b.n%block == 0 {
		b.starts = append(b.starts, uint32(len(b.data)))
	} else {
		for same < len(path) && same < len(b.last) && path[same] == b.last[same] {
			same++
		}
	}
	b.data = binary.AppendUvarint(b.data, uint64(same))
	b.data = binary.AppendUvarint(b.data, uint64(len(path)-same))
	b.data = append(b.data, path[same:]...)
	b.last = append(b.last[:0], path...)
	if module {
		b.modules = append(b.modules, string(path))
	}
	b.n++
	return nil
}

// Len returns the number of paths.
func (s *Set) Len() int { return s.n }

func (s *Set) Has(path string) bool {
	at, ok := s.from(path)
	return ok && at == path
}

// Below reports whether anything below a folder is in the index.
func (s *Set) Below(dir string) bool {
	at, ok := s.from(dir + "/")
	return ok && strings.HasPrefix(at, dir+"/")
}

// Module reports whether a path is a submodule's.
func (s *Set) Module(path string) bool {
	_, ok := slices.BinarySearch(s.modules, path)
	return ok
}

// from returns the first path that is not before want.
func (s *Set) from(want string) (string, bool) {
	i := sort.Search(len(s.starts), func(i int) bool {
		_, text, _ := entry(s.data[s.starts[i]:])
		return string(text) > want
	})
	if i > 0 {
		i--
	}
	if i == len(s.starts) {
		return "", false
	}
	var path []byte
	for rest := s.data[s.starts[i]:]; len(rest) > 0; {
		var same int
		var text []byte
		same, text, rest = entry(rest)
		if path = append(path[:same], text...); string(path) >= want {
			return string(path), true
		}
	}
	return "", false
}

// entry reads one entry: how much of the path before it begins with, and what follows.
func entry(data []byte) (same int, text, rest []byte) {
	a, n := binary.Uvarint(data)
	b, m := binary.Uvarint(data[n:])
	data = data[n+m:]
	return int(a), data[:b], data[b:]
}
