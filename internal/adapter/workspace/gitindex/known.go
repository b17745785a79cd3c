package gitindex

import (
	"encoding/binary"
	"hash/maphash"
	"io"
	"strings"
)

// Known is what was read of an index, so that of the next one only what differs
// is read: its entries in runs, each with a hash. A change of some entries, also
// one that moves all that follows, leaves most runs as they were. The zero value
// knows nothing.
type Known struct {
	seed  maphash.Seed
	runs  []run
	idLen int
}

// Some reports whether an index is known.
func (k *Known) Some() bool { return len(k.runs) > 0 }

// run is entries that follow each other.
type run struct {
	first      string // the path of the first one
	size       int64
	n          uint32
	sum, names uint64 // hashes of the bytes, and of the paths
}

// runSize is about how long a run is, in bytes.
const runSize = 64 << 10

// Changed passes on the entries of an open index that are not in the runs that
// are known, and keeps those that are there now. paths reports whether other
// paths are in it than before. Nothing is known after an error.
func (k *Known) Changed(f io.ReaderAt, size int64, idLen int, take func(*Entry)) (end End, paths bool, err error) {
	old := k.runs
	if pieces := int64(len(old)); k.idLen != idLen || pieces > 4*(size/runSize+16) { // too many small ones
		old, k.seed, k.idLen = nil, maphash.MakeSeed(), idLen
	}
	k.runs = nil
	r, err := newIndexReader(f, size, idLen)
	if err != nil {
		return end, true, err
	}
	if r.version == 4 { // an entry depends on the one before it
		var t Entry
		for err == nil {
			if err = r.next(&t); err == nil {
				take(&t)
			}
		}
		if err == io.EOF {
			err = nil
		}
		return r.end, true, err
	}
	d := &differ{k: k, f: f, size: size - int64(idLen), old: old, at: headSize, left: r.left, version: r.version, take: take}
	if err := d.read(); err != nil {
		k.runs = nil
		return end, true, err
	}
	return r.end, d.paths || len(old) == 0, nil
}

const headSize = 12

// differ reads one index.
type differ struct {
	k       *Known
	f       io.ReaderAt
	size    int64 // without the hash at the end
	old     []run // that are not passed yet
	at      int64
	left    uint32
	version uint32
	take    func(*Entry)
	paths   bool
	buf     []byte
}

func (d *differ) read() error {
	for d.left > 0 {
		same, err := d.skip()
		if err != nil {
			return err
		}
		if !same {
			if err := d.stretch(); err != nil {
				return err
			}
		}
	}
	d.paths = d.paths || len(d.old) > 0
	return d.extensions()
}

// bytes reads a part of the index.
func (d *differ) bytes(at, n int64) ([]byte, error) {
	if at+n > d.size {
		return nil, ErrForm
	}
	if int64(cap(d.buf)) < n {
		d.buf = make([]byte, n+n/4)
	}
	_, err := d.f.ReadAt(d.buf[:n], at)
	return d.buf[:n], err
}

// skip passes a run that is as it was.
func (d *differ) skip() (bool, error) {
	if len(d.old) == 0 || d.old[0].n > d.left || d.at+d.old[0].size > d.size {
		return false, nil
	}
	o := d.old[0]
	data, err := d.bytes(d.at, o.size)
	if err != nil || maphash.Bytes(d.k.seed, data) != o.sum {
		return false, err
	}
	d.k.runs = append(d.k.runs, o)
	d.old, d.at, d.left = d.old[1:], d.at+o.size, d.left-o.n
	return true, nil
}

// stretch reads entries up to where a known run begins, or to the end.
func (d *differ) stretch() error {
	r := newEntryReader(io.NewSectionReader(d.f, d.at, d.size-d.at), d.version, d.left, d.k.idLen)
	was := d.old
	from := len(d.k.runs)
	var names maphash.Hash
	names.SetSeed(d.k.seed)
	now, begin := run{}, d.at
	end := func() error {
		if now.n == 0 {
			return nil
		}
		data, err := d.bytes(begin, now.size)
		if err != nil {
			return err
		}
		now.sum, now.names = maphash.Bytes(d.k.seed, data), names.Sum64()
		d.k.runs = append(d.k.runs, now)
		begin, now = begin+now.size, run{}
		names.Reset()
		return nil
	}
	var t Entry
	for first := true; d.left > 0; first = false {
		if err := r.next(&t); err != nil {
			return ErrForm
		}
		for len(d.old) > 0 && strings.Compare(d.old[0].first, string(t.Path)) < 0 {
			d.old = d.old[1:]
		}
		if !first && len(d.old) > 0 && d.old[0].first == string(t.Path) {
			break // a known run may begin here
		}
		if first && len(d.old) > 0 && d.old[0].first == string(t.Path) {
			d.old = d.old[1:] // it does, and it is not as it was
		}
		if now.n == 0 {
			now.first = string(t.Path)
		}
		now.n++
		now.size += r.length
		names.Write(t.Path)
		names.WriteByte(0)
		d.take(&t)
		d.at, d.left = d.at+r.length, d.left-1
		// One that is nearly at the next known run goes on up to there.
		if now.size >= runSize && (len(d.old) == 0 || now.size >= 2*runSize) {
			if err := end(); err != nil {
				return err
			}
		}
	}
	if err := end(); err != nil {
		return err
	}
	gone := was[:len(was)-len(d.old)]
	came := d.k.runs[from:]
	if len(gone) != len(came) {
		d.paths = true
		return nil
	}
	for i := range gone {
		d.paths = d.paths || gone[i].names != came[i].names
	}
	return nil
}

// extensions checks what follows the entries. A name in lower case changes what
// the entries mean.
func (d *differ) extensions() error {
	for d.at < d.size {
		head, err := d.bytes(d.at, 8)
		if err != nil || head[0] < 'A' || head[0] > 'Z' {
			return ErrForm
		}
		d.at += 8 + int64(binary.BigEndian.Uint32(head[4:]))
	}
	if d.at != d.size {
		return ErrForm
	}
	return nil
}
