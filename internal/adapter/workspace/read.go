package workspace

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

func HashOf(data []byte) tool.Hash { return edits.HashOf(data) }

func sumOf(h hash.Hash) tool.Hash { return tool.Hash(hex.EncodeToString(h.Sum(nil))) }

// open opens a regular file for reading. It never blocks on a FIFO and never
// opens a device.
func (w *Workspace) open(path string) (place, *os.File, fs.FileInfo, error) {
	p, err := w.resolve(path)
	if err != nil {
		return p, nil, nil, err
	}
	f, info, err := w.openAt(p)
	return p, f, info, err
}

func (w *Workspace) openAt(p place) (*os.File, fs.FileInfo, error) {
	if err := w.checkRead(p); err != nil {
		return nil, nil, err
	}
	if p.abs == w.root {
		return nil, nil, &SpecialError{Path: p.clean, What: "folder"}
	}
	dir, err := w.folder(w.parent(p))
	if err != nil {
		return nil, nil, wrapError(doRead, p.clean, err)
	}
	defer dir.Close()
	info, err := dir.Lstat(p.base())
	if err != nil {
		return nil, nil, wrapError(doRead, p.clean, err)
	}
	if what := specialType(info.Mode()); what != "" {
		return nil, nil, &SpecialError{Path: p.clean, What: what}
	}
	if w.between != nil {
		w.between(p.abs)
	}
	f, err := dir.OpenFile(p.base(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, wrapError(doRead, p.clean, err)
	}
	// The opened file counts, not the one that was there before; and it counts
	// only if no link led to it.
	looked := info
	info, err = f.Stat()
	if err == nil && specialType(info.Mode()) != "" {
		f.Close()
		return nil, nil, &SpecialError{Path: p.clean, What: specialType(info.Mode())}
	}
	if err == nil && !os.SameFile(info, looked) {
		// Another file by now: somebody saved one by a rename.
		now, lerr := dir.Lstat(p.base())
		if lerr != nil || !os.SameFile(info, now) {
			err = movedError(p)
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, wrapError(doRead, p.clean, err)
	}
	return f, info, nil
}

// Read reads a regular file of at most max bytes (0: ReadLimit). For a file
// that grows while it is read it returns the content at the time of opening; the hash
// is always that of the returned bytes.
func (w *Workspace) Read(ctx context.Context, path string, max int64) (tool.File, error) {
	if err := ctx.Err(); err != nil {
		return tool.File{}, err
	}
	if max <= 0 {
		max = ReadLimit
	}
	// If a file is written in place while it is read, the result may be torn:
	// then it is read again.
	for try := 0; ; try++ {
		p, f, info, err := w.open(path)
		if err != nil {
			return tool.File{}, err
		}
		data, after, err := readAll(ctx, f, info, max)
		f.Close()
		if big := (*TooLargeError)(nil); errors.As(err, &big) {
			big.Path = p.clean
		}
		if err != nil {
			return tool.File{}, wrapError(doRead, p.clean, err)
		}
		torn := !after.ModTime().Equal(info.ModTime()) || after.Size() < info.Size()
		if torn && try < 2 {
			continue
		}
		return tool.File{Path: p.clean, Data: data, Hash: HashOf(data), Mode: uint32(info.Mode().Perm())}, nil
	}
}

// readAll reads as much as the file had when it was opened.
func readAll(ctx context.Context, f *os.File, info fs.FileInfo, max int64) ([]byte, fs.FileInfo, error) {
	want := info.Size()
	if want > max {
		return nil, nil, &TooLargeError{Size: want, Max: max}
	}
	limit := want
	if want == 0 {
		limit = max + 1 // some file systems do not report sizes
	}
	var b bytes.Buffer
	b.Grow(int(want) + bytes.MinRead)
	for b.Len() < int(limit) {
		n, err := io.CopyN(&b, f, min(limit-int64(b.Len()), 4<<20))
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == io.EOF || n == 0 && err == nil {
			break
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if int64(b.Len()) > max {
		return nil, nil, &TooLargeError{Size: int64(b.Len()), Max: max}
	}
	after, err := f.Stat()
	return b.Bytes(), after, err
}

// Stat returns the current hash of a file and whether the path is a folder. It
// also reads files outside the workspace, since only the hash is returned.
func (w *Workspace) Stat(path string) (tool.Hash, bool, error) {
	p, err := w.resolve(path)
	if err != nil {
		return "", false, err
	}
	if info, err := os.Lstat(p.abs); err == nil && info.IsDir() {
		return "", true, nil
	}
	f, info, err := (&Workspace{shared: w.shared, outside: true}).openAt(p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	if info.Size() > hashLimit {
		return "", false, &TooLargeError{Path: p.clean, Size: info.Size(), Max: hashLimit}
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, hashLimit)); err != nil { // it may grow meanwhile
		return "", false, wrapError(doRead, p.clean, err)
	}
	return sumOf(h), false, nil
}

// ReadNoFollow reads what is at a path without following a symlink there. See
// tool.Files.
func (w *Workspace) ReadNoFollow(ctx context.Context, path string, max int64) (tool.File, error) {
	if err := ctx.Err(); err != nil {
		return tool.File{}, err
	}
	p, err := w.resolveTo(path, true)
	if err == nil {
		err = w.checkRead(p)
	}
	if err != nil {
		return tool.File{}, err
	}
	if p.abs == w.root {
		return tool.File{}, &SpecialError{Path: p.clean, What: "folder"}
	}
	dir, err := w.folder(w.parent(p))
	if err != nil {
		return tool.File{}, wrapError(doRead, p.clean, err)
	}
	defer dir.Close()
	f, err := readNoFollow(dir, p.base(), max)
	f.Path = p.clean
	if s := (*SpecialError)(nil); errors.As(err, &s) {
		s.Path = p.clean
		return tool.File{}, s
	}
	return f, wrapError(doRead, p.clean, err)
}

// readNoFollow reads a regular file, or a symlink's target, in a folder.
func readNoFollow(dir *os.Root, name string, max int64) (tool.File, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return tool.File{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := dir.Readlink(name)
		if err != nil {
			return tool.File{}, err
		}
		return tool.File{Data: []byte(to), Hash: HashOf([]byte(to)), Mode: uint32(fs.ModeSymlink)}, nil
	}
	if what := specialType(info.Mode()); what != "" {
		return tool.File{}, &SpecialError{Path: name, What: what}
	}
	r, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return tool.File{}, err
	}
	defer r.Close()
	if info, err = r.Stat(); err != nil {
		return tool.File{}, err
	}
	if what := specialType(info.Mode()); what != "" {
		return tool.File{}, &SpecialError{Path: name, What: what}
	}
	if info.Size() > hashLimit {
		return tool.File{}, &TooLargeError{Path: name, Size: info.Size(), Max: hashLimit}
	}
	f := tool.File{Mode: uint32(info.Mode().Perm())}
	h := sha256.New()
	var b bytes.Buffer
	var to io.Writer = h
	if info.Size() <= max {
		to = io.MultiWriter(h, &b)
	}
	if _, err := io.Copy(to, io.LimitReader(r, info.Size())); err != nil {
		return tool.File{}, err
	}
	if f.Hash = sumOf(h); info.Size() <= max {
		f.Data = b.Bytes()
	}
	return f, nil
}

// Lines reads lines from..to (1-based, inclusive; to 0: to the end) of a file
// of any size, at most max bytes of them, without keeping the rest in memory.
// The result has those lines as Data and the hash of the whole file; first and
// last are the lines in Data, total is the number of lines of the file. A first
// line longer than max is cut; other lines are complete.
func (w *Workspace) Lines(ctx context.Context, path string, from, to int, max int64) (f tool.File, first, last, total int, err error) {
	p, file, info, err := w.open(path)
	if err != nil {
		return tool.File{}, 0, 0, 0, err
	}
	defer file.Close()
	if info.Size() > hashLimit {
		return tool.File{}, 0, 0, 0, &TooLargeError{Path: p.clean, Size: info.Size(), Max: hashLimit}
	}
	c := lineCut{from: from, to: to, max: int(max)}
	h := sha256.New()
	r := bufio.NewReaderSize(io.LimitReader(file, info.Size()), 256<<10)
	for n := 0; ; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return tool.File{}, 0, 0, 0, ctx.Err()
		}
		chunk, err := r.ReadSlice('\n')
		h.Write(chunk)
		c.add(chunk)
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return tool.File{}, 0, 0, 0, wrapError(doRead, p.clean, err)
		}
	}
	c.end()
	return tool.File{Path: p.clean, Data: c.out, Hash: sumOf(h), Mode: uint32(info.Mode().Perm())}, c.first, c.last, c.total, nil
}

// CutLines returns what Lines returns of a file with this content.
func CutLines(data []byte, from, to int, max int64) (out []byte, first, last, total int) {
	c := lineCut{from: from, to: to, max: int(max)}
	for line := range bytes.SplitAfterSeq(data, []byte("\n")) {
		c.add(line)
	}
	c.end()
	return c.out, c.first, c.last, c.total
}

// lineCut collects a range of lines from a stream of chunks. Each chunk ends in a newline
// or is a part of a line.
type lineCut struct {
	from, to, max      int
	out                []byte
	first, last, total int
	inLine, full       bool
	start              int // where the current line begins in out
}

func (c *lineCut) add(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	if !c.inLine {
		c.total++
		c.inLine = true
		c.start = len(c.out)
	}
	ends := chunk[len(chunk)-1] == '\n'
	if c.total >= c.from && (c.to <= 0 || c.total <= c.to) && !c.full {
		c.take(chunk)
	}
	if ends {
		c.inLine = false
	}
}

func (c *lineCut) take(chunk []byte) {
	if len(c.out)+len(chunk) > c.max {
		c.full = true
		if c.first != 0 && c.first != c.total {
			c.out = c.out[:c.start] // only complete lines after the first
			c.last = c.total - 1
			return
		}
		chunk = chunk[:max(0, c.max-len(c.out))]
	}
	if c.first == 0 {
		c.first = c.total
	}
	c.last = c.total
	c.out = append(c.out, chunk...)
}

func (c *lineCut) end() {
	if c.first == 0 {
		c.last = 0
	}
}

// isBinary reports whether a content is not text: it has a NUL byte near its start.
func isBinary(data []byte) bool { return !edits.Text(data) }
