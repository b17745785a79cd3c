package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// disk is the folder of a workspace's journal: the copies, and the index of the
// last snapshot before a command, so that a pawl that was killed during one can
// find out what changed since. One process at a time writes the index; a second
// one on the same workspace has its own folder and keeps its index in memory.
//
// The index is a file of records: a length, a checksum, and a folder with its
// files (D), a removed folder (X), or the end of a snapshot (E). Records after
// the last end are ignored. A damaged file is thrown away.
type disk struct {
	dir     string
	own     bool // the folder is removed with this process
	locked  *os.File
	f       *os.File // nil: in memory only
	size    int64
	whole   int64 // size when it was last written completely
	removed []string
	failed  error // why the workspace's own folder is not used; reported once
}

const (
	diskMagic = "pawl journal 2\n"
	lockName  = "lock"
	otherName = "other-"
	maxRecord = 1 << 28
	piece     = 64 << 10 // of an index that is written
)

// keepIdle is how long the journal of an unused workspace is kept.
const keepIdle = 30 * 24 * time.Hour

// openDisk opens the folder for a workspace below dir.
func openDisk(dir, root string) (*disk, error) {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "pawl-journal-")
		return &disk{dir: tmp, own: true}, err
	}
	sum := sha256.Sum256([]byte(root))
	d := &disk{dir: filepath.Join(dir, hex.EncodeToString(sum[:16]))}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if d.locked = lockIn(d.dir); d.locked == nil {
		if d.dir, err = os.MkdirTemp(dir, otherName); err != nil {
			return nil, err
		}
		d.own, d.locked = true, lockIn(d.dir)
		return d, nil
	}
	prune(dir)
	d.f, err = os.OpenFile(filepath.Join(d.dir, "index"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errors.Join(err, unlock(d.locked))
	}
	return d, nil
}

// lockIn takes a folder's lock; nil if another process has it.
func lockIn(dir string) *os.File {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil
	}
	if !lock(f) {
		_ = f.Close() // nothing was written
		return nil
	}
	return f
}

// prune removes files of dead processes, and journals of unused workspaces.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), otherName) {
			st, err := os.Stat(filepath.Join(p, "index"))
			if err != nil || time.Since(st.ModTime()) < keepIdle {
				continue
			}
		}
		if f := lockIn(p); f != nil {
			_ = os.RemoveAll(p) // the next process tries again
			_ = unlock(f)
		}
	}
}

func (d *disk) close() error {
	var err error
	if d.f != nil {
		err = d.f.Close()
	}
	if d.own {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	if d.locked != nil {
		err = errors.Join(err, unlock(d.locked))
	}
	return err
}

// indexFile is the decoded content of the index's file.
type indexFile struct {
	x       *index
	tag     string
	sources []stamp
	gitSeen stamp
}

// load reads the index; false without a valid one.
func (d *disk) load(root string) (indexFile, bool) {
	if d.f == nil {
		return indexFile{}, false
	}
	data, err := os.ReadFile(d.f.Name())
	if err == nil {
		var s indexFile
		if s, d.size, err = parse(data, root); err == nil {
			d.whole = d.size
			return s, d.f.Truncate(d.size) == nil
		}
	}
	d.size = 0
	return indexFile{}, false
}

var errDamaged = errors.New("the index is damaged")

// parse reads an index, and returns where its last snapshot ends.
func parse(data []byte, root string) (indexFile, int64, error) {
	s := indexFile{x: newIndex()}
	head := diskMagic + root + "\x00"
	if !strings.HasPrefix(string(data[:min(len(data), len(head))]), head) {
		return s, 0, errDamaged
	}
	off, end := len(head), 0
	var pending []func()
	for off+8 <= len(data) {
		n, sum := int(binary.LittleEndian.Uint32(data[off:])), binary.LittleEndian.Uint32(data[off+4:])
		if n > maxRecord || n == 0 {
			return s, 0, errDamaged
		}
		if off+8+n > len(data) {
			break // the process died while it wrote
		}
		rec := data[off+8 : off+8+n]
		if crc32.ChecksumIEEE(rec) != sum {
			return s, 0, errDamaged
		}
		off += 8 + n
		r := &decoder{data: rec[1:]}
		switch rec[0] {
		case 'D':
			dir := r.dir()
			pending = append(pending, func() { s.x.dirs[dir.path] = dir })
		case 'X':
			path := r.text()
			pending = append(pending, func() { delete(s.x.dirs, path) })
		case 'F': // of an older pawl
		case 'E':
			s.end(r)
			for _, do := range pending {
				do()
			}
			pending, end = nil, off
		default:
			return s, 0, errDamaged
		}
		if r.bad {
			return s, 0, errDamaged
		}
	}
	if end == 0 || s.x.dirs[""] == nil {
		return s, 0, errDamaged
	}
	for _, dir := range s.x.dirs {
		s.x.files += len(dir.files)
		s.x.added = append(s.x.added, dir)
	}
	return s, int64(end), nil
}

func (s *indexFile) end(r *decoder) {
	s.tag, s.gitSeen = r.text(), r.stamp()
	s.sources = nil
	for range r.count(1) {
		s.sources = append(s.sources, r.stamp())
	}
}

// save writes what changed since the last save.
func (d *disk) save(j *Journal) error {
	if d.f == nil {
		d.removed = nil
		err := d.failed
		d.failed = nil
		return err
	}
	whole := d.size == 0 || d.size > 2*d.whole+1<<20
	if err := d.write(j, whole); err != nil {
		// The disk is full: an index on disk must not look newer than it is.
		err = errors.Join(err, d.f.Truncate(0), d.f.Close())
		d.f = nil
		return fmt.Errorf("keep the journal's index: %w", err)
	}
	if whole {
		d.whole = d.size
	}
	d.removed = nil
	for _, dir := range j.index.dirty {
		dir.dirty = false
	}
	j.index.dirty = nil
	return nil
}

// write writes all records, or those of what changed, in pieces. A process that
// dies in between leaves records without an end.
func (d *disk) write(j *Journal, whole bool) error {
	e := &encoder{to: d.f, at: d.size}
	dirs := j.index.dirty
	if whole {
		if err := d.f.Truncate(0); err != nil {
			return err
		}
		e.at, d.removed, dirs = 0, nil, j.index.sorted()
		e.data = append(e.data, diskMagic+j.root+"\x00"...)
	}
	for _, p := range d.removed {
		e.record('X', func() { e.text(p) })
	}
	for _, dir := range dirs {
		if j.index.dirs[dir.path] == dir {
			e.record('D', func() { e.dir(dir) })
		}
	}
	e.record('E', func() {
		e.text(j.tag)
		e.stamp(j.gitSeen)
		e.num(int64(len(j.sources)))
		for _, s := range j.sources {
			e.stamp(s)
		}
	})
	e.flush()
	d.size = e.at
	return e.err
}

// forget removes the stored index.
func (d *disk) forget() error {
	if d.f == nil {
		return nil
	}
	d.size = 0
	return d.f.Truncate(0)
}

// encoder writes records to a file, a piece at a time.
type encoder struct {
	data []byte
	to   io.WriterAt
	at   int64 // where data goes
	err  error
}

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.to.WriteAt(e.data, e.at)
	}
	e.at += int64(len(e.data))
	e.data = e.data[:0]
}

func (e *encoder) record(kind byte, fill func()) {
	if len(e.data) > piece {
		e.flush()
	}
	at := len(e.data)
	e.data = append(e.data, 0, 0, 0, 0, 0, 0, 0, 0, kind)
	fill()
	rec := e.data[at+8:]
	binary.LittleEndian.PutUint32(e.data[at:], uint32(len(rec)))
	binary.LittleEndian.PutUint32(e.data[at+4:], crc32.ChecksumIEEE(rec))
}

func (e *encoder) num(n int64) { e.data = binary.AppendVarint(e.data, n) }

func (e *encoder) text(s string) {
	e.num(int64(len(s)))
	e.data = append(e.data, s...)
}

func (e *encoder) flag(b bool) {
	if b {
		e.data = append(e.data, 1)
	} else {
		e.data = append(e.data, 0)
	}
}

func (e *encoder) stamp(s stamp) {
	for _, n := range [...]int64{s.size, s.mtime, s.ctime, int64(s.ino), int64(s.mode), int64(s.links)} {
		e.num(n)
	}
}

func (e *encoder) dir(d *dir) {
	e.text(d.path)
	e.stamp(d.stamp)
	e.stamp(d.ignoreFile)
	e.flag(d.unstable)
	e.flag(d.ignored)
	e.num(int64(len(d.subs)))
	for _, s := range d.subs {
		e.text(s)
	}
	e.num(int64(len(d.files)))
	for i := range d.files {
		f := &d.files[i]
		e.text(f.name)
		e.stamp(f.stamp)
		e.flag(f.unstable)
		e.data = append(append(e.data, byte(f.state)), f.id[:]...)
	}
}

type decoder struct {
	data []byte
	bad  bool
}

func (r *decoder) num() int64 {
	n, k := binary.Varint(r.data)
	if k <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[k:]
	return n
}

// count reads a number of things of at least size bytes each.
func (r *decoder) count(size int64) int64 {
	n := r.num()
	if n < 0 || n*size > int64(len(r.data)) {
		r.bad = true
		return 0
	}
	return n
}

func (r *decoder) bytes(n int64) []byte {
	if n < 0 || n > int64(len(r.data)) {
		r.bad, r.data = true, nil
		return make([]byte, max(0, min(n, 64)))
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *decoder) text() string { return string(r.bytes(r.count(1))) }

func (r *decoder) flag() bool { return r.bytes(1)[0] == 1 }

func (r *decoder) stamp() stamp {
	return stamp{size: r.num(), mtime: r.num(), ctime: r.num(), ino: uint64(r.num()), mode: uint32(r.num()), links: uint32(r.num())}
}

func (r *decoder) dir() *dir {
	d := &dir{path: r.text(), stamp: r.stamp(), ignoreFile: r.stamp(), unstable: r.flag(), ignored: r.flag()}
	for range r.count(1) {
		d.subs = append(d.subs, r.text())
	}
	n := r.count(40)
	d.files = make([]file, 0, n)
	for range n {
		f := file{name: r.text(), stamp: r.stamp(), unstable: r.flag(), state: state(r.bytes(1)[0])}
		f.id = id(r.bytes(int64(len(f.id))))
		d.files = append(d.files, f)
	}
	return d
}
