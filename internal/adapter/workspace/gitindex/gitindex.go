// Package gitindex reads git's index: the file itself, in versions 2 to 4, and
// what `git ls-files` prints of it. Entries are passed on one at a time, so that
// an index of any size is read in little memory. A form that is not known is
// refused (ErrForm), never guessed at.
package gitindex

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"time"
)

// Entry is an entry of git's index.
type Entry struct {
	Path         []byte // relative to the folder that was asked for; valid until the next entry
	ID           [32]byte
	Plain        bool // a regular file without conflict that git compares
	Module       bool // a submodule
	Size         uint32
	Ino          uint32
	Mtime, Ctime int64 // nanoseconds
}

// ErrForm means that an index has a form that is not known here: a part of it
// is in another file, folders stand for their files, or it is of a newer git.
var ErrForm = errors.New("git's index has a form that is not known")

// End is the hash at the end of git's index, which distinguishes two indexes; zero if git
// is configured not to write it.
type End [32]byte

// indexReader reads the file. Git replaces an index by renaming, so an open one
// does not change.
type indexReader struct {
	b       *bufio.Reader
	version uint32
	idLen   int
	path    []byte // of the entry before
	raw     [indexStat + 32 + 2]byte
	left    uint32 // entries
	size    int64
	end     End
}

const (
	indexMagic   = "DIRC"
	indexStat    = 40 // bytes of an entry before the object id
	maxIndexPath = 1 << 16

	flagAssumeValid  = 0x8000
	flagExtended     = 0x4000
	flagStage        = 0x3000
	flagSkipWorktree = 0x4000 // of the second flags
	flagIntentToAdd  = 0x2000
)

func newIndexReader(f io.ReaderAt, size int64, idLen int) (*indexReader, error) {
	if size < int64(12+idLen) {
		return nil, ErrForm
	}
	r := &indexReader{b: bufio.NewReaderSize(io.NewSectionReader(f, 0, size-int64(idLen)), 64<<10), idLen: idLen, size: size}
	if _, err := f.ReadAt(r.end[:idLen], size-int64(idLen)); err != nil {
		return nil, err
	}
	var head [12]byte
	if _, err := io.ReadFull(r.b, head[:]); err != nil {
		return nil, err
	}
	r.version, r.left = binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if string(head[:4]) != indexMagic || r.version < 2 || r.version > 4 {
		return nil, ErrForm
	}
	return r, nil
}

// next reads an entry. After the last one it checks what follows, and returns io.EOF.
func (r *indexReader) next(t *Entry) error {
	if r.left == 0 {
		return r.extensions()
	}
	r.left--
	head := r.raw[:indexStat+r.idLen+2]
	if _, err := io.ReadFull(r.b, head); err != nil {
		return ErrForm
	}
	num := func(i int) uint32 { return binary.BigEndian.Uint32(head[4*i:]) }
	t.Ctime = int64(num(0))*int64(time.Second) + int64(num(1))
	t.Mtime = int64(num(2))*int64(time.Second) + int64(num(3))
	t.Ino, t.Size = num(5), num(9)
	mode := num(6)
	t.ID = [32]byte{}
	copy(t.ID[:], head[indexStat:indexStat+r.idLen])
	flags, more, n := binary.BigEndian.Uint16(head[indexStat+r.idLen:]), uint16(0), len(head)
	if flags&flagExtended != 0 {
		var x [2]byte
		if _, err := io.ReadFull(r.b, x[:]); err != nil || r.version < 3 {
			return ErrForm
		}
		more, n = binary.BigEndian.Uint16(x[:]), n+2
	}
	const kind, regular, folder, module = 0o170000, 0o100000, 0o040000, 0o160000
	if mode&kind == folder {
		return ErrForm // one entry for a whole folder (sparse index)
	}
	t.Module = mode&kind == module
	t.Plain = mode&kind == regular && flags&(flagAssumeValid|flagStage) == 0 && more&(flagSkipWorktree|flagIntentToAdd) == 0
	if r.version == 4 {
		cut, err := r.varint()
		if err != nil || cut > len(r.path) {
			return ErrForm
		}
		r.path = r.path[:len(r.path)-cut]
	} else {
		r.path = r.path[:0]
	}
	for {
		part, err := r.b.ReadSlice(0)
		r.path = append(r.path, part...)
		if err == nil {
			r.path = r.path[:len(r.path)-1]
			break
		}
		if err != bufio.ErrBufferFull || len(r.path) > maxIndexPath {
			return ErrForm
		}
	}
	if n += len(r.path) + 1; r.version < 4 { // entries are filled up with one to eight NULs
		if _, err := r.b.Discard((8 - n%8) % 8); err != nil {
			return ErrForm
		}
	}
	if len(r.path) == 0 {
		return ErrForm
	}
	t.Path = r.path
	return nil
}

// varint reads a number as in git's packs, where each continuation adds one.
func (r *indexReader) varint() (n int, err error) {
	for range 5 {
		c, err := r.b.ReadByte()
		if err != nil {
			return 0, ErrForm
		}
		if n = n<<7 | int(c&0x7f); c < 0x80 {
			return n, nil
		}
		n++
	}
	return 0, ErrForm
}

// extensions reads the names of the extensions. One in lower case changes what
// the entries mean.
func (r *indexReader) extensions() error {
	for {
		var head [8]byte
		if _, err := io.ReadFull(r.b, head[:]); err == io.EOF {
			return io.EOF
		} else if err != nil || head[0] < 'A' || head[0] > 'Z' {
			return ErrForm
		}
		if n := binary.BigEndian.Uint32(head[4:]); int64(n) > r.size {
			return ErrForm
		} else if _, err := r.b.Discard(int(n)); err != nil {
			return ErrForm
		}
	}
}

// Read passes on the entries of an open index below prefix, which is "" or ends
// in a slash. idLen is the length of an object id in bytes.
func Read(f io.ReaderAt, size int64, prefix string, idLen int, take func(*Entry)) (End, error) {
	r, err := newIndexReader(f, size, idLen)
	if err != nil {
		return End{}, err
	}
	var t Entry
	for {
		if err := r.next(&t); err == io.EOF {
			return r.end, nil
		} else if err != nil {
			return End{}, err
		}
		if rest, ok := bytes.CutPrefix(t.Path, []byte(prefix)); ok {
			t.Path = rest
			take(&t)
		}
	}
}

// EndOf returns the hash at the end of an open index.
func EndOf(f io.ReaderAt, size int64, idLen int) (end End, err error) {
	if size < int64(idLen) {
		return end, ErrForm
	}
	_, err = f.ReadAt(end[:idLen], size-int64(idLen))
	return end, err
}

// ErrListing means that git printed something else than was expected.
var ErrListing = errors.New("git lists its index in a form that is not known")

// ParseListing passes on the entries that `ls-files -s -v --debug -z` printed: a
// line that ends in NUL, and five lines of recorded facts.
func ParseListing(out []byte, take func(*Entry)) error {
	var t Entry
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte{0})
		about, path, ok2 := bytes.Cut(head, []byte{'\t'})
		f := bytes.Fields(about)
		if !ok || !ok2 || len(f) != 4 || len(f[2]) > 2*len(t.ID) {
			return ErrListing
		}
		t.ID = [32]byte{}
		if _, err := hex.Decode(t.ID[:], f[2]); err != nil {
			return ErrListing
		}
		t.Path = path
		// A lower-case letter: git assumes that it is unchanged (--assume-unchanged); S: not
		// checked out.
		t.Module = bytes.HasPrefix(f[1], []byte("160"))
		t.Plain = string(f[0]) == "H" && bytes.HasPrefix(f[1], []byte("100")) && string(f[3]) == "0"
		var nums [9]uint64
		n := 0
		for range 5 {
			var line []byte
			if line, rest, ok = bytes.Cut(rest, []byte{'\n'}); !ok {
				return ErrListing
			}
			n = numbers(line, &nums, n)
		}
		if n < len(nums) {
			return ErrListing
		}
		sec := uint64(time.Second)
		t.Ctime, t.Mtime = int64(nums[0]*sec+nums[1]), int64(nums[2]*sec+nums[3])
		t.Ino, t.Size = uint32(nums[5]), uint32(nums[8])
		take(&t)
		out = rest
	}
	return nil
}

// numbers adds the decimal numbers of a line such as "  mtime: 12:34".
func numbers(line []byte, nums *[9]uint64, n int) int {
	for i := 0; i < len(line) && n < len(nums); {
		for i < len(line) && separates(line[i]) {
			i++
		}
		from, v := i, uint64(0)
		for i < len(line) && line[i] >= '0' && line[i] <= '9' {
			v = v*10 + uint64(line[i]-'0')
			i++
		}
		if i > from && (i == len(line) || separates(line[i])) {
			nums[n] = v
			n++
			continue
		}
		for i < len(line) && !separates(line[i]) {
			i++
		}
	}
	return n
}

func separates(c byte) bool { return c == ' ' || c == '\t' || c == ':' }
