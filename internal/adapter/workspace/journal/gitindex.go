package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// This file reads git's index: the file itself, in versions 2 to 4, else what
// `git ls-files` prints of it. Entries are passed on one at a time, so that an
// index of any size is read in little memory.

// tracked is an entry of git's index.
type tracked struct {
	path         []byte // relative to the workspace; valid until the next entry
	id           id
	plain        bool // a regular file without conflict that git compares
	size         uint32
	ino          uint32
	mtime, ctime int64
}

// errForm means that an index has a form that is not known here: a part of it
// is in another file, folders stand for their files, or it is of a newer git.
var errForm = errors.New("git's index has a form that is not known")

// indexEnd is the hash at the end of git's index, by which two of them are told
// apart; zero if git was told not to write it.
type indexEnd id

// indexReader reads the file. Git replaces an index by renaming, so an open one
// does not change.
type indexReader struct {
	b       *bufio.Reader
	version uint32
	idLen   int
	path    []byte // of the entry before
	left    uint32 // entries
	size    int64
	end     indexEnd
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
		return nil, errForm
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
		return nil, errForm
	}
	return r, nil
}

// next reads an entry. After the last one it checks what follows, and returns io.EOF.
func (r *indexReader) next(t *tracked) error {
	if r.left == 0 {
		return r.extensions()
	}
	r.left--
	var raw [indexStat + 32 + 2]byte
	head := raw[:indexStat+r.idLen+2]
	if _, err := io.ReadFull(r.b, head); err != nil {
		return errForm
	}
	num := func(i int) uint32 { return binary.BigEndian.Uint32(head[4*i:]) }
	t.ctime = int64(num(0))*int64(time.Second) + int64(num(1))
	t.mtime = int64(num(2))*int64(time.Second) + int64(num(3))
	t.ino, t.size = num(5), num(9)
	mode := num(6)
	t.id = id{}
	copy(t.id[:], head[indexStat:indexStat+r.idLen])
	flags, more, n := binary.BigEndian.Uint16(head[indexStat+r.idLen:]), uint16(0), len(head)
	if flags&flagExtended != 0 {
		var x [2]byte
		if _, err := io.ReadFull(r.b, x[:]); err != nil || r.version < 3 {
			return errForm
		}
		more, n = binary.BigEndian.Uint16(x[:]), n+2
	}
	const kind, regular, folder = 0o170000, 0o100000, 0o040000
	if mode&kind == folder {
		return errForm // a folder that stands for its files
	}
	t.plain = mode&kind == regular && flags&(flagAssumeValid|flagStage) == 0 && more&(flagSkipWorktree|flagIntentToAdd) == 0
	if r.version == 4 {
		cut, err := r.varint()
		if err != nil || cut > len(r.path) {
			return errForm
		}
		r.path = r.path[:len(r.path)-cut]
	} else {
		r.path = r.path[:0]
	}
	was := len(r.path)
	for {
		part, err := r.b.ReadSlice(0)
		r.path = append(r.path, part...)
		if err == nil {
			r.path = r.path[:len(r.path)-1]
			break
		}
		if err != bufio.ErrBufferFull || len(r.path) > maxIndexPath {
			return errForm
		}
	}
	if r.version < 4 { // entries are filled up with one to eight NULs
		n += len(r.path) - was
		if _, err := r.b.Discard((n/8+1)*8 - n - 1); err != nil {
			return errForm
		}
	}
	if len(r.path) == 0 {
		return errForm
	}
	t.path = r.path
	return nil
}

// varint reads a number as in git's packs, where each continuation adds one.
func (r *indexReader) varint() (int, error) {
	n := 0
	for i := 0; ; i++ {
		c, err := r.b.ReadByte()
		if err != nil || i > 4 {
			return 0, errForm
		}
		if n = n<<7 | int(c&0x7f); c < 0x80 {
			return n, nil
		}
		n++
	}
}

// extensions reads the names of the extensions. One in lower case changes what
// the entries mean.
func (r *indexReader) extensions() error {
	for {
		var head [8]byte
		if _, err := io.ReadFull(r.b, head[:]); err == io.EOF {
			return io.EOF
		} else if err != nil || head[0] < 'A' || head[0] > 'Z' {
			return errForm
		}
		if n := binary.BigEndian.Uint32(head[4:]); int64(n) > r.size {
			return errForm
		} else if _, err := r.b.Discard(int(n)); err != nil {
			return errForm
		}
	}
}

// readIndex passes on the entries of an index file below prefix.
func readIndex(path, prefix string, idLen int, take func(*tracked)) (was stamp, end indexEnd, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return was, end, nil // nothing was ever added
	}
	if err != nil {
		return was, end, err
	}
	defer f.Close()
	if was, err = fileStamp(f); err != nil {
		return was, end, err
	}
	r, err := newIndexReader(f, was.size, idLen)
	if err != nil {
		return was, end, err
	}
	var t tracked
	for {
		if err := r.next(&t); err == io.EOF {
			return was, r.end, nil
		} else if err != nil {
			return was, end, err
		}
		if rest, ok := bytes.CutPrefix(t.path, []byte(prefix)); ok {
			t.path = rest
			take(&t)
		}
	}
}

// lastHash returns the stamp of an index file and the hash at its end.
func lastHash(path string, idLen int) (was stamp, end indexEnd) {
	f, err := os.Open(path)
	if err != nil {
		return stamp{}, end
	}
	defer f.Close()
	if was, err = fileStamp(f); err != nil || was.size < int64(idLen) {
		return stamp{}, end
	}
	if _, err := f.ReadAt(end[:idLen], was.size-int64(idLen)); err != nil {
		return stamp{}, indexEnd{}
	}
	return was, end
}

// parseListing passes on the entries that `ls-files -s -v --debug -z` printed: a
// line that ends in NUL, and five lines of recorded facts.
func parseListing(out []byte, take func(*tracked)) error {
	var t tracked
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte{0})
		about, path, ok2 := bytes.Cut(head, []byte{'\t'})
		f := bytes.Fields(about)
		if !ok || !ok2 || len(f) != 4 || len(f[2]) > 2*len(t.id) {
			return errListing
		}
		t.id = id{}
		if _, err := hex.Decode(t.id[:], f[2]); err != nil {
			return errListing
		}
		t.path = path
		// A lower-case letter: git is told to assume that it is unchanged; S: not
		// checked out.
		t.plain = string(f[0]) == "H" && bytes.HasPrefix(f[1], []byte("100")) && string(f[3]) == "0"
		var nums [9]uint64
		n := 0
		for range 5 {
			var line []byte
			if line, rest, ok = bytes.Cut(rest, []byte{'\n'}); !ok {
				return errListing
			}
			n = numbers(line, &nums, n)
		}
		if n < len(nums) {
			return errListing
		}
		sec := uint64(time.Second)
		t.ctime, t.mtime = int64(nums[0]*sec+nums[1]), int64(nums[2]*sec+nums[3])
		t.ino, t.size = uint32(nums[5]), uint32(nums[8])
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
