package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// pack is one file with the copies of contents, by their SHA-256. It is one
// file, not one for each content: a tree of 50,000 files is copied in a second.
// Contents are hashed after reading, so damage is detected.
type pack struct {
	mu     sync.Mutex
	f      *os.File
	path   string
	size   int64
	live   int64 // bytes of referenced contents
	refs   int   // how many they are
	clear  int64 // the snapshot since which there was no garbage worth removing
	limit  int64 // of live
	places map[id]*place
	err    error // why the last content was not kept, if not because of the limit
}

// place is the position of a content. seen is the last snapshot that reported it.
type place struct {
	off  int64
	n    uint32
	refs int32
	seen int64
}

const (
	packMagic  = "pawlpak1"
	packHeader = 4 + 32
)

// openPack opens or creates a pack. An unreadable one is started again.
func openPack(path string, limit int64) (*pack, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	p := &pack{f: f, path: path, limit: limit, places: map[id]*place{}}
	if err := p.scan(); err != nil {
		if err := errors.Join(f.Truncate(0), p.begin()); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return p, nil
}

// noPack returns a pack that keeps nothing.
func noPack(why error) *pack { return &pack{places: map[id]*place{}, err: why} }

func (p *pack) begin() error {
	p.places, p.live, p.refs = map[id]*place{}, 0, 0
	p.size = int64(len(packMagic))
	_, err := p.f.WriteAt([]byte(packMagic), 0)
	return err
}

// scan reads the headers. Anything after the last complete content is cut off.
func (p *pack) scan() error {
	st, err := p.f.Stat()
	if err != nil {
		return err
	}
	magic := make([]byte, len(packMagic))
	if _, err := p.f.ReadAt(magic, 0); err != nil || string(magic) != packMagic {
		return fmt.Errorf("%s is not a pack", p.path)
	}
	var h [packHeader]byte
	off := int64(len(packMagic))
	for off+packHeader <= st.Size() {
		if _, err := p.f.ReadAt(h[:], off); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(h[:])
		end := off + packHeader + int64(n)
		if end > st.Size() {
			break
		}
		p.places[id(h[4:])] = &place{off: off + packHeader, n: n}
		off = end
	}
	p.size = off
	return p.f.Truncate(off)
}

// put keeps a content for snapshot now. ref: a file of the index has it, so it
// counts as referenced. It returns false if the limit or the disk has no
// space.
func (p *pack) put(h id, data []byte, ref bool, now int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.places[h]
	if ref && (e == nil || e.refs == 0) && p.live+int64(len(data)) > p.limit {
		return false
	}
	if e == nil && p.f == nil {
		return false
	}
	if e == nil {
		buf := make([]byte, packHeader, packHeader+len(data))
		binary.LittleEndian.PutUint32(buf, uint32(len(data)))
		copy(buf[4:], h[:])
		if _, err := p.f.WriteAt(append(buf, data...), p.size); err != nil {
			p.err = err
			return false // the next one overwrites it
		}
		p.err = nil
		e = &place{off: p.size + packHeader, n: uint32(len(data))}
		p.places[h] = e
		p.size += packHeader + int64(len(data))
	}
	e.seen = max(e.seen, now)
	if ref {
		p.ref(e)
	}
	return true
}

func (p *pack) ref(e *place) {
	if e.refs++; e.refs == 1 {
		p.live += int64(e.n)
		p.refs++
	}
}

// claim counts a reference of the index to a content; false if it is missing.
func (p *pack) claim(h id) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.places[h]
	if e != nil {
		p.ref(e)
	}
	return e != nil
}

// drop records that a file no longer has the content.
func (p *pack) drop(h id) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.places[h]; e != nil && e.refs > 0 {
		if e.refs--; e.refs == 0 {
			p.live -= int64(e.n)
			p.refs--
		}
	}
}

// touch records that a snapshot reported the content.
func (p *pack) touch(h id, now int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.places[h]; e != nil {
		e.seen = max(e.seen, now)
	}
}

var errNotKept = errors.New("this content is not kept")

func (p *pack) get(h id) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.places[h]
	if e == nil {
		return nil, errNotKept
	}
	data := make([]byte, e.n)
	if _, err := io.ReadFull(io.NewSectionReader(p.f, e.off, int64(e.n)), data); err != nil {
		return nil, fmt.Errorf("read a copy in %s: %w", p.path, err)
	}
	if sha256.Sum256(data) != h {
		return nil, fmt.Errorf("a copy in %s is damaged", p.path)
	}
	return data, nil
}

// clean removes contents that are neither referenced nor reported since
// snapshot since, once they are most of the file.
func (p *pack) clean(since int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	keep := p.live + int64(p.refs)*packHeader
	little := func() bool {
		garbage := p.size - keep
		return garbage < 64<<20 && garbage < p.limit/4 || garbage < keep
	}
	// What is referenced is counted. All contents are gone through only if the
	// rest may be garbage; what was reported lately keeps it for a while.
	if p.f == nil || little() || since < p.clear {
		return nil
	}
	p.clear = since + reported
	keep = 0
	for _, e := range p.places {
		if e.refs > 0 || e.seen >= since {
			keep += int64(e.n) + packHeader
		}
	}
	if little() {
		return nil
	}
	tmp := p.path + ".new"
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	at := make(map[id]*place, len(p.places))
	w := bufio.NewWriterSize(f, 1<<20)
	off := int64(len(packMagic))
	_, err = w.WriteString(packMagic)
	for h, e := range p.places {
		if e.refs == 0 && e.seen < since || err != nil {
			continue
		}
		_, err = io.Copy(w, io.NewSectionReader(p.f, e.off-packHeader, packHeader+int64(e.n)))
		at[h] = &place{off: off + packHeader, n: e.n, refs: e.refs, seen: e.seen}
		off += packHeader + int64(e.n)
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = os.Rename(tmp, p.path)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(tmp))
	}
	old := p.f
	p.f, p.places, p.size = f, at, off
	return old.Close()
}

func (p *pack) close() error {
	if p.f == nil {
		return nil
	}
	return p.f.Close()
}

// reason returns why contents cannot be kept.
func (p *pack) reason() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err.Error()
	}
	return fmt.Sprintf("%d MB are kept", p.limit>>20)
}
