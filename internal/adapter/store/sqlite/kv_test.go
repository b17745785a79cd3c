package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/core/kv/kvtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func kvAt(t testing.TB, dir string) kv.Store {
	t.Helper()
	s := must.Get(OpenKV(t.Context(), filepath.Join(dir, "values.db")))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// SPEC 14.5
func TestKV(t *testing.T) {
	kvtest.Test(t, func(t testing.TB) func() kv.Store {
		dir := filepath.Join(t.TempDir(), "new")
		return func() kv.Store { return kvAt(t, dir) }
	})
}

// SPEC 14.5: a process that is killed while it writes.
func TestKVKilled(t *testing.T) { kvtest.Killed(t, kvAt) }

// SPEC 14.5: a disk that is full keeps what was there.
func TestKVFullDisk(t *testing.T) {
	d := newDisk(t)
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "values.db")
	s := must.Get(openKV(ctx, path, d.name))(t)
	defer s.Close()
	was := must.Get(s.Save(ctx, "k", []byte("old")))(t)
	d.setFail(func(kind opKind, _ string) int32 {
		if kind == opWrite {
			return sqlite3.SQLITE_FULL
		}
		return 0
	})
	if _, err := s.Swap(ctx, "k", was, []byte(strings.Repeat("new", 1000))); !errors.Is(err, store.ErrFull) {
		t.Errorf("on a full disk: %v", err)
	}
	d.setFail(nil)
	if e, err := s.Load(ctx, "k"); err != nil || string(e.Value) != "old" || e.Version != was {
		t.Errorf("%q at %q, %v", e.Value, e.Version, err)
	}
	if _, err := s.Swap(ctx, "k", was, []byte("after")); err != nil {
		t.Error(err)
	}
}

// The log and the values never take one for the other.
func TestKVOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	l := must.Get(Open(t.Context(), path, Options{}))(t)
	must.Do(t, l.Close())
	if _, err := OpenKV(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not one with values") {
		t.Errorf("the log was taken: %v", err)
	}
	path = filepath.Join(t.TempDir(), "values.db")
	s := must.Get(OpenKV(t.Context(), path))(t)
	must.Do(t, s.Close())
	if _, err := Open(t.Context(), path, Options{}); err == nil {
		t.Error("the values were taken for a log")
	}
}
