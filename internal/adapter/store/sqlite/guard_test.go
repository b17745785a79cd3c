package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func texts(t *testing.T, s event.Store, id string) string {
	t.Helper()
	var out []string
	for e, err := range s.Read(context.Background(), id, 0) {
		must.Do(t, err)
		out = append(out, e.Body.(event.Noted).Text)
	}
	return strings.Join(out, " ")
}

func noted(text string) event.Draft { return event.Draft{Body: event.Noted{Text: text}} }

func add(t *testing.T, s event.Store, id string, after int64, ds ...event.Draft) {
	t.Helper()
	must.Done(t)(s.Append(context.Background(), id, after, ds...))
}

// Issue 2, point 5: append-only is enforced by the file itself, also against
// other programs.
func TestTriggers(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{})
	add(t, s, "s", 0, noted("a"), noted("b"), noted("c"))
	add(t, s, "t", 0, noted("x"))
	c := must.Get(dial(path, ""))(t)
	defer c.close()
	const values = "(id, cause, time, kind, version, packed, body) VALUES "
	for _, sql := range []string{
		"UPDATE events SET body = '{}'",
		"UPDATE events SET cause = 1 WHERE id & 0xff = 2",
		"DELETE FROM events",
		"DELETE FROM events WHERE id & 0xff = 3",
		"DELETE FROM sessions WHERE id = 's'",
		"INSERT OR REPLACE INTO events " + values + "((1 << 32) | 2, 0, 0, 'noted', 1, 0, '{}')",
		"REPLACE INTO events " + values + "((1 << 32) | 3, 0, 0, 'noted', 1, 0, '{}')",
		"INSERT OR IGNORE INTO events " + values + "((1 << 32) | 1, 0, 0, 'noted', 1, 0, '{}')",
		"INSERT INTO events " + values + "((1 << 32) | 2, 0, 0, 'noted', 1, 0, '{}') ON CONFLICT DO UPDATE SET body = '{}'",
		"INSERT INTO events " + values + "(1 << 32, 0, 0, 'noted', 1, 0, '{}')",
		"UPDATE sessions SET num = 9 WHERE id = 's'",
		"UPDATE sessions SET id = 'z' WHERE id = 's'",
		"UPDATE OR REPLACE events SET id = id + 1",
	} {
		if err := c.script(ctx, sql); err == nil {
			t.Errorf("the file let through: %s", sql)
		}
	}
	if got := texts(t, s, "s"); got != "a b c" {
		t.Errorf("left: %q", got)
	}
	// Delete of a whole session is the one way out, and for that session only.
	must.Do(t, s.Delete(ctx, "t"))
	if err := c.script(ctx, "DELETE FROM events"); err == nil {
		t.Error("the way out stays open")
	}
}

// Issue 2, "Bad input"; SPEC 16.7: what the agent read is nobody else's.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	dir := filepath.Join(t.TempDir(), "state", "pawl")
	path := filepath.Join(dir, "log.db")
	s := openAt(t, path, Options{})
	add(t, s, "s", 0, noted("a"))
	must.Done(t)(s.Sessions(context.Background(), ""))
	seen := 0
	err := filepath.WalkDir(filepath.Dir(dir), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if i.Mode().Perm() != want {
			t.Errorf("%s has mode %o", p, i.Mode().Perm())
		}
		seen++
		return nil
	})
	if err != nil || seen != 5 { // two folders, log, WAL, shared memory
		t.Errorf("%d files, %v", seen, err)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b", "what?mode=memory", "50%41", "#1", "ä&vfs=x", "file:x"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "?:") {
			continue
		}
		path := filepath.Join(t.TempDir(), name, name+".db")
		s := openAt(t, path, Options{})
		add(t, s, "s", 0, noted("a"))
		if i, err := os.Stat(path); err != nil || i.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
		if got := texts(t, s, "s"); got != "a" {
			t.Errorf("%s: %q", path, got)
		}
	}
	t.Chdir(t.TempDir())
	s := openAt(t, "log.db", Options{})
	t.Chdir(t.TempDir())
	add(t, s, "s", 0, noted("a"))
	if got := texts(t, s, "s"); got != "a" {
		t.Errorf("a relative path: %q", got)
	}
}

// Two processes on one session: the second is told that it is late. Many
// stores that open a new file at once all get the same one.
func TestManyAtOnce(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "new", "log.db")
	const n = 8
	stores := make([]*Store, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s, err := Open(ctx, path, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			stores[i] = s
			for j := range int64(30) {
				if _, err := s.Append(ctx, fmt.Sprint("s", i), j, noted(fmt.Sprint(j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for i, s := range stores {
		defer s.Close()
		for j := range n {
			if got := strings.Count(texts(t, s, fmt.Sprint("s", j)), " "); got != 29 {
				t.Errorf("store %d sees %d events of session %d", i, got+1, j)
			}
		}
	}
	if _, err := stores[0].Append(ctx, "s1", 29, noted("late")); !errors.Is(err, event.ErrStale) {
		t.Errorf("the second writer: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
}

// What was deleted is not in the file any more.
func TestDeletedIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{})
	const small, large = "SECRET-IN-A-SMALL-EVENT", "SECRET-IN-A-LARGE-ONE"
	hash := must.Get(s.Put(context.Background(), []byte("SECRET-IN-A-FILE")))(t)
	for i := range int64(50) {
		add(t, s, "keep", i, noted("kept"))
		add(t, s, "s", 3*i, noted(small), event.Draft{Body: event.FileChanged{Path: "a", After: tool.Hash(hash)}}, noted(strings.Repeat(large, 3)))
	}
	must.Do(t, s.Delete(context.Background(), "s"))
	for _, f := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("SECRET")) {
			t.Errorf("%s still has it", filepath.Base(f))
		}
	}
	if got := strings.Count(texts(t, s, "keep"), "kept"); got != 50 {
		t.Errorf("%d others are left", got)
	}
}

// A large deletion frees the space.
func TestSpaceComesBack(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{})
	ds := make([]event.Draft, 500)
	for i := range ds {
		ds[i] = note(900)
	}
	add(t, s, "keep", 0, noted("kept"))
	for n := int64(0); n < 10_000; n += 500 {
		add(t, s, "s", n, ds...)
	}
	must.Do(t, s.Delete(ctx, "s"))
	if n := size(path, path+"-wal"); n > 1<<20 {
		t.Errorf("the log is still %d bytes", n)
	}
	if got := texts(t, s, "keep"); got != "kept" {
		t.Errorf("left: %q", got)
	}
}

// Between Put and the event that names a content another process may delete
// the only session that used it: the event brings it back.
func TestPutSurvivesDeletion(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	one, two := openAt(t, path, Options{}), openAt(t, path, Options{})
	content := []byte(strings.Repeat("content ", 1000))
	hash := must.Get(one.Put(ctx, content))(t)
	names := event.Draft{Body: event.FileChanged{Path: "a", After: tool.Hash(hash)}}
	add(t, one, "gone", 0, names)
	must.Done(t)(two.Put(ctx, content))
	must.Do(t, one.Delete(ctx, "gone"))
	add(t, two, "s", 0, names)
	if got, err := one.Get(ctx, hash); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A WAL that a slow reader holds open does not grow with the log: a reader
// holds nothing between two looks.
func TestReaderHoldsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{})
	add(t, s, "s", 0, noted("a"), noted("b"))
	for _, err := range s.Read(context.Background(), "s", 0) {
		must.Do(t, err)
		for i := range int64(3000) {
			add(t, s, "long", i, note(900))
		}
		break
	}
	if n := size(path + "-wal"); n > 3<<20 {
		t.Errorf("the WAL is %d bytes", n)
	}
}
