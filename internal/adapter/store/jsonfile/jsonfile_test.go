package jsonfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/core/kv/kvtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func at(t testing.TB, dir string) kv.Store {
	s := must.Get(Open(dir))(t)
	return s
}

// SPEC 14.5
func TestStore(t *testing.T) {
	kvtest.Test(t, func(t testing.TB) func() kv.Store {
		dir := filepath.Join(t.TempDir(), "new", "store")
		return func() kv.Store { return at(t, dir) }
	})
}

// SPEC 14.5: a process that is killed while it writes.
func TestKilled(t *testing.T) { kvtest.Killed(t, at) }

// bad is a disk that fails from one step of a write on. Where it is dead, as
// after a power cut, nothing that comes after that step happens either.
type bad struct {
	atomicfile.Disk
	step string // create, write, short, chmod, sync, close, rename, remove
	name string // of the file that it is about, in part
	dead bool
	err  error
	hit  bool
}

func (b *bad) at(step, path string) error {
	if b.hit && b.dead || b.step == step && strings.Contains(filepath.Base(path), b.name) {
		b.hit = true
		return &fs.PathError{Op: step, Path: path, Err: b.err}
	}
	return nil
}

func (b *bad) Create(dir, pattern string) (atomicfile.File, error) {
	if err := b.at("create", pattern); err != nil {
		return nil, err
	}
	f, err := b.Disk.Create(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &badFile{f, b}, nil
}

func (b *bad) Rename(from, to string) error {
	if err := b.at("rename", to); err != nil {
		return err
	}
	return b.Disk.Rename(from, to)
}

func (b *bad) Remove(path string) error {
	if err := b.at("remove", path); err != nil {
		return err
	}
	return b.Disk.Remove(path)
}

type badFile struct {
	atomicfile.File
	b *bad
}

func (f *badFile) Write(p []byte) (int, error) {
	if err := f.b.at("write", f.Name()); err != nil {
		return 0, err
	}
	if err := f.b.at("short", f.Name()); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *badFile) Chmod(m os.FileMode) error {
	if err := f.b.at("chmod", f.Name()); err != nil {
		return err
	}
	return f.File.Chmod(m)
}

func (f *badFile) Sync() error {
	if err := f.b.at("sync", f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *badFile) Close() error { return errors.Join(f.b.at("close", f.Name()), f.File.Close()) }

// SPEC 14.5: a disk that is full, or a death, at each step of a write: the old
// value stays, whole, at its version, no version is used twice, and the store
// goes on when there is a disk again.
func TestFailingDisk(t *testing.T) {
	for _, name := range []string{"_k.json", "count"} {
		for _, step := range []string{"create", "write", "short", "chmod", "sync", "close", "rename"} {
			for _, dead := range []bool{false, true} {
				dir, ctx := t.TempDir(), t.Context()
				was := must.Get(at(t, dir).Save(ctx, "k", []byte("old")))(t)
				disk := &bad{Disk: atomicfile.OS{}, step: step, name: name, dead: dead, err: syscall.ENOSPC}
				s := must.Get(open(dir, disk))(t)
				if _, err := s.Swap(ctx, "k", was, []byte("new, and longer")); !errors.Is(err, syscall.ENOSPC) || !disk.hit {
					t.Errorf("%s of %s: %v", step, name, err)
				}
				s2 := at(t, dir)
				if e, err := s2.Load(ctx, "k"); err != nil || string(e.Value) != "old" || e.Version != was {
					t.Errorf("%s of %s (dead: %v): %q at %q, %v", step, name, dead, e.Value, e.Version, err)
				}
				now, err := s2.Swap(ctx, "k", was, []byte("after"))
				if err != nil || now == was {
					t.Errorf("%s of %s (dead: %v): the store does not go on: %q, %v", step, name, dead, now, err)
				}
				if keys, err := s2.List(ctx, ""); err != nil || len(keys) != 1 {
					t.Errorf("%s of %s: %q, %v", step, name, keys, err)
				}
				left, _ := os.ReadDir(dir)
				if len(left) != 3 { // the value, the count, the lock
					t.Errorf("%s of %s (dead: %v): left %v", step, name, dead, left)
				}
			}
		}
	}
	s := must.Get(open(t.TempDir(), &bad{Disk: atomicfile.OS{}, step: "remove", err: syscall.EIO}))(t)
	must.Done(t)(s.Save(t.Context(), "k", nil))
	if err := s.Delete(t.Context(), "k"); !errors.Is(err, syscall.EIO) {
		t.Errorf("delete: %v", err)
	}
}

// A file that others damaged is told apart from none, is never overwritten by a
// swap, and can be replaced.
func TestDamaged(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := at(t, dir)
	for _, text := range []string{"", "{", `{"version":"1","text":"half`, "null", `{"text":"no version"}`, "\x00\x00\x00"} {
		must.Write(t, filepath.Join(dir, "_k.json"), text)
		if _, err := s.Load(ctx, "k"); !errors.Is(err, kv.ErrDamaged) || !strings.Contains(err.Error(), "_k.json") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := s.Swap(ctx, "k", "", []byte("x")); !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("swap over %q: %v", text, err)
		}
	}
	must.Done(t)(s.Save(ctx, "k", []byte("x")))
	if e, err := s.Load(ctx, "k"); err != nil || string(e.Value) != "x" {
		t.Errorf("%q, %v", e.Value, err)
	}
}
