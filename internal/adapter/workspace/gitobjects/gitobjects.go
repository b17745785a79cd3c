// Package gitobjects reads blobs and commits of a git repository without git, wherever
// they are, also in packs and as differences. A Reader's error for what it does not find, does not know or
// what does not match its name means that git is asked: it returns nothing that is
// not the blob.
package gitobjects

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// ErrAskGit means that a blob was not read: only git can tell whether it is there.
var ErrAskGit = errors.New("only git can read the object")

const (
	maxObject    = 16 << 20 // bytes; larger ones are left to git
	maxDepth     = 200      // of differences
	maxAlternate = 5        // of stores that name further ones
	maxPacks     = 500
)

// Reader reads blobs of one repository. It is for one goroutine, and for a short time:
// git may remove the packs that it opened.
type Reader struct {
	idLen int
	dirs  []string
	packs []*pack
	all   bool // all packs are open
}

// New returns a reader of the objects in a folder and in those that it refers
// to. idLen is the length of an object id in bytes.
func New(objects string, idLen int) *Reader {
	r := &Reader{idLen: idLen}
	r.add(objects, 0)
	return r
}

func (r *Reader) add(dir string, depth int) {
	if slices.Contains(r.dirs, dir) || depth > maxAlternate {
		return
	}
	r.dirs = append(r.dirs, dir)
	f, err := open(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return
	}
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if f.Close(); err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' || line[0] == '"' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		r.add(filepath.Clean(line), depth+1)
	}
}

func (r *Reader) Close() {
	for _, p := range r.packs {
		p.close()
	}
	r.packs, r.all = nil, false
}

func (r *Reader) Blob(id []byte) ([]byte, error) { return r.read(id, blob, "blob") }

func (r *Reader) Commit(id []byte) ([]byte, error) { return r.read(id, commit, "commit") }

func (r *Reader) read(id []byte, want kind, name string) ([]byte, error) {
	is, body, err := r.object(id, 0)
	if err != nil {
		return nil, err
	}
	h := r.hasher()
	fmt.Fprintf(h, "%s %d\x00", name, len(body))
	h.Write(body)
	if is != want || !bytes.Equal(h.Sum(nil), id) {
		return nil, ErrAskGit
	}
	return body, nil
}

func (r *Reader) hasher() hash.Hash {
	if r.idLen == sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

// kind is the kind of an entry of a pack.
type kind byte

const (
	commit      kind = 1
	blob        kind = 3
	tag         kind = 4
	fromBefore  kind = 6 // the difference from an object earlier in the pack
	fromAnother kind = 7 // from one that is named
)

func (r *Reader) object(id []byte, depth int) (kind, []byte, error) {
	name := hex.EncodeToString(id)
	for _, dir := range r.dirs {
		if k, body, err := loose(dir, name); err == nil {
			return k, body, nil
		}
	}
	r.openPacks()
	for _, p := range r.packs {
		if at, ok := p.find(id); ok {
			if k, body, err := r.packed(p, at, depth); err == nil {
				return k, body, nil
			}
		}
	}
	return 0, nil, ErrAskGit
}

// whole reads exactly n bytes, to the end.
func whole(r io.Reader, n int64) ([]byte, error) {
	if n < 0 || n > maxObject {
		return nil, ErrAskGit
	}
	// A size that is a lie reserves no memory.
	var b bytes.Buffer
	b.Grow(int(min(n, 64<<10)))
	got, err := io.Copy(&b, io.LimitReader(r, n+1))
	if err != nil || got != n {
		return nil, ErrAskGit
	}
	return b.Bytes(), nil
}

// pack is a pack and its list of objects, which is searched in its file.
type pack struct {
	idx, data *os.File
	size      int64 // of data
	idLen     int
	fanout    [256]uint32
}

func (p *pack) close() {
	p.idx.Close()
	p.data.Close()
}

func (r *Reader) openPacks() {
	if r.all {
		return
	}
	r.all = true
	for _, dir := range r.dirs {
		d, err := os.Open(filepath.Join(dir, "pack"))
		if err != nil {
			continue
		}
		names, _ := d.Readdirnames(4 * maxPacks) // of what cannot be listed git is asked
		d.Close()
		for _, n := range names {
			if base, ok := strings.CutSuffix(n, ".idx"); ok && len(r.packs) < maxPacks {
				if p := openPack(filepath.Join(dir, "pack", base), r.idLen); p != nil {
					r.packs = append(r.packs, p)
				}
			}
		}
	}
}

func openPack(base string, idLen int) *pack {
	idx, err := open(base + ".idx")
	if err != nil {
		return nil
	}
	data, err := open(base + ".pack")
	if err != nil {
		idx.Close()
		return nil
	}
	p := &pack{idx: idx, data: data, idLen: idLen}
	var head [8 + 4*256]byte
	st, err := data.Stat()
	if _, herr := idx.ReadAt(head[:], 0); err != nil || herr != nil || string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		p.close()
		return nil
	}
	p.size = st.Size()
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if i > 0 && p.fanout[i] < p.fanout[i-1] {
			p.close()
			return nil
		}
	}
	return p
}

// find returns where an object is in the pack.
func (p *pack) find(id []byte) (int64, bool) {
	const names = 8 + 4*256
	lo, hi := uint32(0), p.fanout[id[0]]
	if id[0] > 0 {
		lo = p.fanout[id[0]-1]
	}
	n, got := int64(p.fanout[255]), make([]byte, p.idLen)
	failed := false
	i := lo + uint32(sort.Search(int(hi-lo), func(i int) bool {
		if _, err := p.idx.ReadAt(got, names+int64(lo+uint32(i))*int64(p.idLen)); err != nil {
			failed = true
			return true
		}
		return bytes.Compare(got, id) >= 0
	}))
	if failed || i >= hi {
		return 0, false
	}
	if _, err := p.idx.ReadAt(got, names+int64(i)*int64(p.idLen)); err != nil || !bytes.Equal(got, id) {
		return 0, false
	}
	offsets := names + n*int64(p.idLen) + 4*n
	var b [8]byte
	if _, err := p.idx.ReadAt(b[:4], offsets+4*int64(i)); err != nil {
		return 0, false
	}
	at := binary.BigEndian.Uint32(b[:])
	if at&(1<<31) == 0 {
		return int64(at), true
	}
	if _, err := p.idx.ReadAt(b[:], offsets+4*n+8*int64(at&^(1<<31))); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(b[:])), true
}

// packed reads the entry of a pack at an offset.
func (r *Reader) packed(p *pack, at int64, depth int) (kind, []byte, error) {
	if depth > maxDepth || at <= 0 || at >= p.size {
		return 0, nil, ErrAskGit
	}
	b := bufio.NewReader(io.NewSectionReader(p.data, at, p.size-at))
	c, err := b.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	k, size := kind(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = b.ReadByte(); err != nil || shift > 32 {
			return 0, nil, ErrAskGit
		}
		size |= int64(c&0x7f) << shift
	}
	var base []byte
	switch {
	case k >= commit && k <= tag:
	case k == fromBefore:
		back, err := distance(b)
		if err != nil {
			return 0, nil, err
		}
		if k, base, err = r.packed(p, at-back, depth+1); err != nil {
			return 0, nil, err
		}
	case k == fromAnother:
		id := make([]byte, r.idLen)
		if _, err := io.ReadFull(b, id); err != nil {
			return 0, nil, err
		}
		if k, base, err = r.object(id, depth+1); err != nil {
			return 0, nil, err
		}
	default:
		return 0, nil, ErrAskGit
	}
	z, err := zlib.NewReader(b)
	if err != nil {
		return 0, nil, err
	}
	body, err := whole(z, size)
	if err == nil && base != nil {
		body, err = apply(base, body)
	}
	if err == nil && body == nil {
		body = []byte{}
	}
	return k, body, err
}

// distance reads how far back the base of a difference is.
func distance(b io.ByteReader) (int64, error) {
	n := int64(0)
	for i := 0; ; i++ {
		c, err := b.ReadByte()
		if err != nil || i > 8 {
			return 0, ErrAskGit
		}
		if n = n<<7 | int64(c&0x7f); c < 0x80 {
			if n <= 0 {
				return 0, ErrAskGit
			}
			return n, nil
		}
		n++
	}
}

// apply makes an object of its base and a difference: pieces of the base, and new bytes.
func apply(base, delta []byte) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, ErrAskGit
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 || size > maxObject {
		return nil, ErrAskGit
	}
	delta = delta[n:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, ErrAskGit
			}
			out, delta = append(out, delta[:op]...), delta[op:]
		} else {
			var v [7]byte // four of the offset, three of the length
			for i := range v {
				if op&(1<<i) != 0 {
					if len(delta) == 0 {
						return nil, ErrAskGit
					}
					v[i], delta = delta[0], delta[1:]
				}
			}
			off := uint64(binary.LittleEndian.Uint32(v[:4]))
			n := uint64(v[4]) | uint64(v[5])<<8 | uint64(v[6])<<16
			n = cmp.Or(n, 0x10000)
			if off+n > uint64(len(base)) {
				return nil, ErrAskGit
			}
			out = append(out, base[off:off+n]...)
		}
		if uint64(len(out)) > size {
			return nil, ErrAskGit
		}
	}
	if uint64(len(out)) != size {
		return nil, ErrAskGit
	}
	return out, nil
}
