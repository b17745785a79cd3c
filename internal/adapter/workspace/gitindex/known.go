package gitindex

import (
	"encoding/binary"
	"io"
	"strings"
)

// Known remembers an index that was read, so that only the differences of the next one
// are read: the entries in runs, each with a hash, and the marked entries. A change of
// some entries, even one that moves all later ones, leaves most runs unchanged. The zero
// value knows nothing.
type Known struct {
	sums    sums
	runs    []run
	idLen   int
	version uint32
}

// run is entries that follow each other.
type run struct {
	// first and before are the paths of the first one and of the one before it; an
	// entry of version 4 is written as a difference from the one before.
	first, before, last string
	size                int64
	n                   uint32
	sum                 uint64 // of the bytes
	marked              []string
}

// runSize is about how long a run is, in bytes.
const runSize = 64 << 10

// Changed passes the entries of an open index that are not in the runs that are
// known to mark, and keeps the runs that are there now. It returns the paths of
// all entries that mark reported true of, now or when they were read. Nothing is
// known after an error.
func (k *Known) Changed(f io.ReaderAt, size int64, idLen int, mark func(*Entry) bool) (marked []string, end End, err error) {
	old := k.runs
	k.runs = nil
	r, err := newIndexReader(f, size, idLen)
	if err != nil {
		return nil, end, err
	}
	if k.idLen != idLen || k.version != r.version || int64(len(old)) > 4*(size/runSize+16) { // too many small ones
		old, k.sums, k.idLen, k.version = nil, newSums(), idLen, r.version
	}
	d := &differ{k: k, f: f, size: size - int64(idLen), old: old, at: headSize, left: r.left, version: r.version, mark: mark}
	if err := d.read(); err != nil {
		k.runs = nil
		return nil, end, err
	}
	for _, r := range k.runs {
		marked = append(marked, r.marked...)
	}
	return marked, r.end, nil
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
	before  string // the path before at
	mark    func(*Entry) bool
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
	if len(d.old) == 0 || d.old[0].n > d.left || d.at+d.old[0].size > d.size || d.old[0].before != d.before {
		return false, nil
	}
	o := d.old[0]
	data, err := d.bytes(d.at, o.size)
	if err != nil || d.k.sums.of(data) != o.sum {
		return false, err
	}
	d.k.runs = append(d.k.runs, o)
	d.old, d.at, d.left, d.before = d.old[1:], d.at+o.size, d.left-o.n, o.last
	return true, nil
}

// stretch reads entries up to where a known run begins, or to the end.
func (d *differ) stretch() error {
	r := newEntryReader(io.NewSectionReader(d.f, d.at, d.size-d.at), d.version, d.left, d.k.idLen, d.before)
	now, begin := run{before: d.before}, d.at
	var last []byte // only of version 4
	end := func() error {
		if now.n == 0 {
			return nil
		}
		data, err := d.bytes(begin, now.size)
		if err != nil {
			return err
		}
		now.sum, now.last = d.k.sums.of(data), string(last)
		d.k.runs = append(d.k.runs, now)
		begin, d.before, now = begin+now.size, now.last, run{before: now.last}
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
		path := t.Path
		if now.n == 0 {
			now.first = string(path)
		}
		if d.version == 4 {
			last = append(last[:0], path...)
		}
		now.n++
		now.size += r.length
		if d.mark(&t) {
			now.marked = append(now.marked, string(path))
		}
		d.at, d.left = d.at+r.length, d.left-1
		// One that is nearly at the next known run goes on up to there.
		if now.size >= runSize && (len(d.old) == 0 || now.size >= 2*runSize) {
			if err := end(); err != nil {
				return err
			}
		}
	}
	return end()
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
