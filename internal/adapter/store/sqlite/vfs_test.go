package sqlite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// This file puts a layer under the real SQLite that notes every write, truncate
// and sync of its files in order, and fails where a test asks for it. It is a copy
// of SQLite's own file layer with a few methods replaced: what SQLite does and
// when it syncs is what it does in production. Not seen: the shared memory
// (-shm), which SQLite rebuilds after a crash, and syncs of folders, which it
// does together with the first sync of a new file.

// op is one change of a file, or a point in time that the test named.
type op struct {
	file string // base name; "" for a mark
	kind opKind
	off  int64 // of a write; the size of a truncate; the value of a mark
	data []byte
}

type opKind int

const (
	opWrite opKind = iota
	opTruncate
	opSync
	opCreate
	opDelete
	opMark
)

// disk is what happened to the files of one store.
type disk struct {
	name     string // of the layer
	vfs      sqlite3.Tsqlite3_vfs
	original uintptr

	mu   sync.Mutex
	ops  []op
	fail func(kind opKind, file string) int32 // a result code, 0 to go on
}

// The callbacks get addresses only, so that what they belong to is found here.
var layers struct {
	sync.Mutex
	disks map[uintptr]*disk  // by sqlite3_vfs
	files map[uintptr]*shimd // by sqlite3_file
	made  int
}

// shimd is an open file.
type shimd struct {
	d        *disk
	base     string
	original *sqlite3.Tsqlite3_io_methods
	methods  *sqlite3.Tsqlite3_io_methods
}

// at returns what lies at an address outside Go's heap.
func at[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// funcAddr is the address of a top-level function as SQLite's Go code calls it.
func funcAddr(f any) uintptr {
	return (*[2]uintptr)(unsafe.Pointer(&f))[1]
}

// call makes a function of such an address.
func call[F any](addr uintptr) F { return *(*F)(unsafe.Pointer(&addr)) }

func goString(addr uintptr) string {
	if addr == 0 {
		return ""
	}
	return libc.GoString(addr)
}

// newDisk registers a layer. It stays registered: connections may outlive the
// test by a moment.
func newDisk(t testing.TB) *disk {
	t.Helper()
	tls := libc.NewTLS()
	defer tls.Close()
	layers.Lock()
	defer layers.Unlock()
	if layers.disks == nil {
		layers.disks, layers.files = map[uintptr]*disk{}, map[uintptr]*shimd{}
	}
	layers.made++
	d := &disk{name: fmt.Sprintf("shim%d", layers.made)}
	d.original = sqlite3.Xsqlite3_vfs_find(tls, 0)
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(d.vfs)))
	name, err := libc.CString(d.name)
	if p == 0 || d.original == 0 || err != nil {
		t.Fatal("no memory for a file layer")
	}
	v := at[sqlite3.Tsqlite3_vfs](p)
	*v = *at[sqlite3.Tsqlite3_vfs](d.original)
	v.FpNext, v.FzName = 0, name
	v.FxOpen, v.FxDelete = funcAddr(shimOpen), funcAddr(shimDelete)
	layers.disks[p] = d
	if rc := sqlite3.Xsqlite3_vfs_register(tls, p, 0); rc != 0 {
		t.Fatal("register a file layer:", rc)
	}
	return d
}

// do notes an operation unless the test lets it fail.
func (d *disk) do(o op, f func() int32) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		if rc := d.fail(o.kind, o.file); rc != 0 {
			return rc
		}
	}
	rc := f()
	if rc == 0 {
		d.ops = append(d.ops, o)
	}
	return rc
}

// mark notes a point in time.
func (d *disk) mark(value int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops = append(d.ops, op{kind: opMark, off: value})
}

func (d *disk) setFail(f func(kind opKind, file string) int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

func fileOf(p uintptr) *shimd {
	layers.Lock()
	defer layers.Unlock()
	return layers.files[p]
}

func diskOf(p uintptr) *disk {
	layers.Lock()
	defer layers.Unlock()
	return layers.disks[p]
}

func shimOpen(tls *libc.TLS, pVfs, zName, pFile uintptr, flags int32, pOut uintptr) int32 {
	d := diskOf(pVfs)
	base := filepath.Base(goString(zName))
	existed := true
	if zName != 0 {
		var res int32
		p := libc.Xmalloc(tls, 8)
		call[func(*libc.TLS, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](d.original).FxAccess)(tls, d.original, zName, sqlite3.SQLITE_ACCESS_EXISTS, p)
		res = *at[int32](p)
		libc.Xfree(tls, p)
		existed = res != 0
	}
	if d.fail != nil && !existed {
		if rc := d.fail(opCreate, base); rc != 0 {
			return rc
		}
	}
	rc := call[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](d.original).FxOpen)(tls, pVfs, zName, pFile, flags, pOut)
	file := at[sqlite3.Tsqlite3_file](pFile)
	if rc != 0 || file.FpMethods == 0 {
		return rc
	}
	if !existed {
		d.mu.Lock()
		d.ops = append(d.ops, op{file: base, kind: opCreate})
		d.mu.Unlock()
	}
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	f := &shimd{d: d, base: base, original: at[sqlite3.Tsqlite3_io_methods](file.FpMethods), methods: at[sqlite3.Tsqlite3_io_methods](p)}
	*f.methods = *f.original
	f.methods.FxWrite, f.methods.FxTruncate = funcAddr(shimWrite), funcAddr(shimTruncate)
	f.methods.FxSync, f.methods.FxClose = funcAddr(shimSync), funcAddr(shimClose)
	file.FpMethods = p
	layers.Lock()
	layers.files[pFile] = f
	layers.Unlock()
	return rc
}

func shimWrite(tls *libc.TLS, pFile, zBuf uintptr, n int32, off int64) int32 {
	f := fileOf(pFile)
	data := bytes.Clone(unsafe.Slice(at[byte](zBuf), n))
	return f.d.do(op{file: f.base, kind: opWrite, off: off, data: data}, func() int32 {
		return call[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.original.FxWrite)(tls, pFile, zBuf, n, off)
	})
}

func shimTruncate(tls *libc.TLS, pFile uintptr, size int64) int32 {
	f := fileOf(pFile)
	return f.d.do(op{file: f.base, kind: opTruncate, off: size}, func() int32 {
		return call[func(*libc.TLS, uintptr, int64) int32](f.original.FxTruncate)(tls, pFile, size)
	})
}

func shimSync(tls *libc.TLS, pFile uintptr, flags int32) int32 {
	f := fileOf(pFile)
	return f.d.do(op{file: f.base, kind: opSync}, func() int32 {
		return call[func(*libc.TLS, uintptr, int32) int32](f.original.FxSync)(tls, pFile, flags)
	})
}

func shimClose(tls *libc.TLS, pFile uintptr) int32 {
	f := fileOf(pFile)
	layers.Lock()
	delete(layers.files, pFile)
	layers.Unlock()
	return call[func(*libc.TLS, uintptr) int32](f.original.FxClose)(tls, pFile)
}

func shimDelete(tls *libc.TLS, pVfs, zPath uintptr, dirSync int32) int32 {
	d := diskOf(pVfs)
	return d.do(op{file: filepath.Base(goString(zPath)), kind: opDelete}, func() int32 {
		return call[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](d.original).FxDelete)(tls, pVfs, zPath, dirSync)
	})
}
