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

// inflaters hold what unpacks objects: each is large.
var inflaters sync.Pool // of zlib.Resetter

// loose reads a blob or a commit that is a file of its own.
func loose(dir, name string) (kind, []byte, error) {
	f, err := open(filepath.Join(dir, name[:2], name[2:]))
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	z, _ := inflaters.Get().(io.ReadCloser)
	if z != nil {
		err = z.(zlib.Resetter).Reset(f, nil)
	} else {
		z, err = zlib.NewReader(f)
	}
	if err != nil {
		return 0, nil, err
	}
	defer inflaters.Put(z)
	r := bufio.NewReaderSize(z, 512)
	head, err := r.ReadSlice(0)
	if err != nil {
		return 0, nil, err
	}
	is, length, _ := strings.Cut(string(head[:len(head)-1]), " ")
	k := map[string]kind{"blob": blob, "commit": commit}[is]
	size, err := strconv.ParseInt(length, 10, 64)
	if k == 0 || err != nil {
		return 0, nil, ErrAskGit
	}
	body, err := whole(r, size)
	return k, body, err
}

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
