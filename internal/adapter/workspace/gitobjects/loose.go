package gitobjects

import (
	"bufio"
	"compress/zlib"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Loose is an object that is a file of its own, while it is read. What is read is
// not checked against its name.
type Loose struct {
	io.Reader        // its body
	Kind      string // blob, tree, commit or tag
	Size      int64  // of the body, by the object's header

	f *os.File
	z io.ReadCloser
}

// inflaters hold what unpacks objects: each is large.
var inflaters sync.Pool // of zlib.Resetter

// Open opens the object of a name in a folder of objects. The error is fs.ErrNotExist if
// it is not a file there; any other error means that it cannot be read.
func Open(objects, name string) (*Loose, error) {
	f, err := open(Path(objects, name))
	if err != nil {
		return nil, err
	}
	o, err := unpack(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return o, nil
}

// Path is where the object of a name is in a folder of objects.
func Path(objects, name string) string { return filepath.Join(objects, name[:2], name[2:]) }

func unpack(f *os.File) (*Loose, error) {
	o := &Loose{f: f}
	var err error
	if held := inflaters.Get(); held != nil {
		o.z = held.(io.ReadCloser)
		err = o.z.(zlib.Resetter).Reset(f, nil)
	} else {
		o.z, err = zlib.NewReader(f)
	}
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(o.z, 512)
	o.Reader = r
	head, err := r.ReadSlice(0)
	if err != nil {
		return nil, err
	}
	kind, size, _ := strings.Cut(string(head[:len(head)-1]), " ")
	o.Kind = kind
	o.Size, err = strconv.ParseInt(size, 10, 64)
	return o, err
}

// Close closes the file.
func (o *Loose) Close() error {
	inflaters.Put(o.z)
	return o.f.Close()
}

// open opens a regular file.
func open(p string) (*os.File, error) {
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(ErrAskGit, f.Close())
	}
	return f, nil
}
