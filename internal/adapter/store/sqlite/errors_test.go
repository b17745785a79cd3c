package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// clear checks that an error is one clear sentence with what to do.
func clear(t *testing.T, err error, category fault.Category, kind error, says ...string) {
	t.Helper()
	f := (*fault.Error)(nil)
	if !errors.As(err, &f) {
		t.Fatalf("error is %v", err)
	}
	if f.Category != category || kind != nil && !errors.Is(err, kind) {
		t.Errorf("category %s, kind %v: %v", f.Category, f.Kind, err)
	}
	if f.Hint == "" || strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("not one line with a hint: %q", err)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("does not say %q: %v", s, err)
		}
	}
}

// Issue 2, "Bad input": no write permission, a wrong place, a file of others.
func TestOpenRefuses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	file := func(name, content string) string {
		p := filepath.Join(dir, name)
		must.Write(t, p, content)
		return p
	}
	plainFile := file("plain", "x")
	_, err := Open(ctx, filepath.Join(plainFile, "log.db"), Options{})
	clear(t, err, fault.Configuration, nil, filepath.Join(plainFile, "log.db"), "--no-session")

	_, err = Open(ctx, dir, Options{})
	clear(t, err, fault.Configuration, nil, dir)

	_, err = Open(ctx, filepath.Join(dir, "log.db"), Options{Durability: "maximal"})
	clear(t, err, fault.Configuration, nil, "maximal", `"full"`)

	text := strings.Repeat("this is my diary\n", 1000)
	diary := file("diary.db", text)
	_, err = Open(ctx, diary, Options{})
	clear(t, err, fault.Internal, store.ErrCorrupt, diary, "nothing was deleted", "pawl doctor", diary+"-wal")
	if data, _ := os.ReadFile(diary); string(data) != text {
		t.Error("a file of others was touched")
	}

	other := filepath.Join(dir, "other.db")
	make2 := func(sql string) {
		t.Helper()
		must.Do(t, os.RemoveAll(other))
		s := must.Get(Open(ctx, other, Options{}))(t)
		must.Do(t, s.Close())
		c := must.Get(dial(other, ""))(t)
		defer c.close()
		must.Do(t, c.script(ctx, sql))
	}
	make2("PRAGMA application_id=7")
	_, err = Open(ctx, other, Options{})
	clear(t, err, fault.Configuration, nil, other, "not a log of pawl")
	make2("PRAGMA user_version=999")
	_, err = Open(ctx, other, Options{})
	clear(t, err, fault.Configuration, store.ErrNewer, other, "newer pawl", "update pawl")

	stray := filepath.Join(dir, "stray.db")
	file("stray.db-wal", "the last events of a log that was moved")
	_, err = Open(ctx, stray, Options{})
	clear(t, err, fault.Configuration, nil, stray+"-wal")
	if _, err := os.Stat(stray); err == nil {
		t.Error("made a log beside a stray WAL")
	}

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Open(cancelled, filepath.Join(dir, "c.db"), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if os.Geteuid() != 0 { // nothing is forbidden to root
		closed := filepath.Join(dir, "closed")
		must.Do(t, os.Mkdir(closed, 0o500))
		_, err = Open(ctx, filepath.Join(closed, "log.db"), Options{})
		clear(t, err, fault.Configuration, nil, closed, "write permission")
	}
}

// An empty file in the place, as a crash of another program may leave it, is
// no log yet.
func TestEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	must.Do(t, os.WriteFile(path, nil, 0o644))
	s := openAt(t, path, Options{})
	add(t, s, "s", 0, noted("a"))
	if i, err := os.Stat(path); err != nil || i.Mode().Perm()&0o077 != 0 {
		t.Error(i.Mode(), err)
	}
}

// A damaged log is never deleted, and what can be read of it is read.
func TestDamaged(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{})
	for _, id := range []string{"before", "hit", "after"} {
		for i := range int64(400) {
			add(t, s, id, i, noted(id+" "+strings.Repeat("x", 300)))
		}
	}
	must.Do(t, s.Close())
	data := must.Get(os.ReadFile(path))(t)
	at := bytes.LastIndex(data, []byte("hit xxx")) &^ (pageSize - 1)
	copy(data[at:at+pageSize], bytes.Repeat([]byte{0xfe}, pageSize))
	must.Do(t, os.WriteFile(path, data, 0o600))

	s = openAt(t, path, Options{})
	for _, id := range []string{"before", "after"} {
		if got := strings.Count(texts(t, s, id), id); got != 400 {
			t.Errorf("%s: %d events", id, got)
		}
	}
	n := 0
	var last error
	for e, err := range s.Read(ctx, "hit", 0) {
		if last = err; err == nil {
			n++
			if e.Seq != int64(n) {
				t.Fatalf("event %d at place %d", e.Seq, n)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d events could be read", n)
	}
	clear(t, last, fault.Internal, store.ErrCorrupt, path, "nothing was deleted", "pawl doctor")
	if found, err := s.Check(ctx); err != nil || len(found) == 0 {
		t.Errorf("check: %q %v", found, err)
	}
	if rows, err := s.Sessions(ctx, ""); err != nil || len(rows) != 3 {
		t.Errorf("list: %v %v", rows, err)
	}
	add(t, s, "after", 400, noted("goes on"))
}

// Damage that SQLite does not see: a hole, a body that does not unpack, a
// content that is not what it was.
func TestDamagedRows(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{})
	add(t, s, "hole", 0, noted("a"), noted("b"), noted("c"))
	add(t, s, "body", 0, noted("a"), noted(strings.Repeat("large ", 1000)), noted("c"))
	add(t, s, "json", 0, noted("a"), noted("b"))
	add(t, s, "how", 0, noted("a"))
	hash, err := s.Put(ctx, []byte("content"))
	must.Do(t, err)
	if err := s.w.script(ctx, `DROP TRIGGER events_never_go; DROP TRIGGER events_never_change;
DELETE FROM events WHERE id = (1 << 32) | 2; UPDATE events SET body = substr(body, 1, 20) WHERE id = (2 << 32) | 2;
UPDATE events SET body = '{"why":' WHERE id = (3 << 32) | 2; UPDATE events SET packed = 9 WHERE id = (4 << 32) | 1;
UPDATE blobs SET data = 'CONTENT'`); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"hole": 1, "body": 1, "json": 1, "how": 0} {
		n := 0
		var last error
		for _, err := range s.Read(ctx, id, 0) {
			if last = err; err == nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: read %d events", id, n)
		}
		clear(t, last, fault.Internal, store.ErrCorrupt, path, id)
	}
	_, err = s.Get(ctx, hash)
	clear(t, err, fault.Internal, store.ErrCorrupt, hash)
}

// Issue 2, "Bad input": a full disk leads to one sentence and loses nothing.
func TestFullDisk(t *testing.T) {
	for _, durability := range []string{"normal", "full"} {
		ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
		d := newDisk(t)
		s, err := open(ctx, path, Options{Durability: durability}, d.name)
		must.Do(t, err)
		defer s.Close()
		add(t, s, "s", 0, noted("a"), noted("b"))
		left := 0
		for ; left < 40; left++ { // full at the first write, the second, …
			n := left
			d.setFail(func(kind opKind, _ string) int32 {
				if kind != opWrite {
					return 0
				}
				if n--; n < 0 {
					return sqlite3.SQLITE_FULL
				}
				return 0
			})
			_, err := s.Append(ctx, "s", 2, noted(strings.Repeat("c", 900)), noted(strings.Repeat("d", 900)))
			if err == nil {
				break
			}
			clear(t, err, fault.Configuration, store.ErrFull, path, "pawl sessions delete")
			if got := texts(t, s, "s"); got != "a b" {
				t.Fatalf("left: %.40q", got)
			}
		}
		if left == 0 || left == 40 {
			t.Errorf("%d writes to an append", left)
		}
		_, err = s.Put(ctx, []byte(strings.Repeat("x", 10)))
		clear(t, err, fault.Configuration, store.ErrFull, path)
		d.setFail(nil)
		add(t, s, "s", 4, noted("e")) // space again
		if found, err := s.Check(ctx); err != nil || len(found) > 0 {
			t.Errorf("damaged: %q %v", found, err)
		}
	}
}

// A disk that fails: the sentence names the file, and what was acknowledged is
// there.
func TestBrokenDisk(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	d := newDisk(t)
	s, err := open(ctx, path, Options{Durability: "full"}, d.name)
	must.Do(t, err)
	defer s.Close()
	add(t, s, "s", 0, noted("a"))
	for kind, rc := range map[opKind]int32{opSync: sqlite3.SQLITE_IOERR_FSYNC, opWrite: sqlite3.SQLITE_IOERR_WRITE} {
		d.setFail(func(k opKind, _ string) int32 {
			if k == kind {
				return rc
			}
			return 0
		})
		_, err = s.Append(ctx, "s", 1, noted("b"))
		clear(t, err, fault.Internal, nil, path, "pawl doctor")
		d.setFail(nil)
	}
	if got := texts(t, s, "s"); got != "a" {
		t.Errorf("left: %q", got)
	}
	add(t, s, "s", 1, noted("b"))
}

// A write-protected disk.
func TestReadOnlyDisk(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	d := newDisk(t)
	s, err := open(ctx, path, Options{}, d.name)
	must.Do(t, err)
	defer s.Close()
	add(t, s, "s", 0, noted("a"))
	d.setFail(func(kind opKind, _ string) int32 {
		if kind == opWrite {
			return sqlite3.SQLITE_READONLY
		}
		return 0
	})
	_, err = s.Append(ctx, "s", 1, noted("b"))
	clear(t, err, fault.Configuration, nil, path, "write permission")
	d.setFail(nil)
}

// Another program holds the file: wait, then say so; a cancelled wait ends.
func TestLocked(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{Wait: time.Millisecond})
	add(t, s, "s", 0, noted("a"))
	c, err := dial(path, "")
	must.Do(t, err)
	defer c.close()
	must.Do(t, c.script(ctx, "BEGIN IMMEDIATE"))
	_, err = s.Append(ctx, "s", 1, noted("b"))
	clear(t, err, fault.Internal, store.ErrLocked, path, "locked")
	if !fault.Retryable(err) {
		t.Error("a lock is worth another try")
	}
	if got := texts(t, s, "s"); got != "a" { // readers do not wait
		t.Errorf("read %q", got)
	}
	patient := openAt(t, path, Options{})
	short, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { _, err := patient.Append(short, "s", 1, noted("b")); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: %v", err)
	}
	go func() { _, err := patient.Append(ctx, "s", 1, noted("b")); done <- err }()
	must.Do(t, c.script(ctx, "COMMIT"))
	if err := <-done; err != nil {
		t.Errorf("the lock is gone: %v", err)
	}
	if _, err := s.Append(ctx, "s", 1, noted("late")); !errors.Is(err, event.ErrStale) {
		t.Error(err)
	}
}

// A file system without hard links: many processes find an empty file and fill
// it once.
func TestEmptyFileManyAtOnce(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "log.db")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			s, err := Open(ctx, path, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Append(ctx, fmt.Sprint("s", i), 0, noted("a")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := openAt(t, path, Options{})
	if rows, err := s.Sessions(ctx, ""); err != nil || len(rows) != 6 {
		t.Errorf("%d sessions, %v", len(rows), err)
	}
	if row, err := s.w.one(ctx, "SELECT page_size, journal_mode FROM pragma_page_size, pragma_journal_mode"); err != nil || integer(row[0]) != pageSize || text(row[1]) != "wal" {
		t.Errorf("%v %v", row, err)
	}
}
