package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// told appends notes to a session, and returns its last event.
func told(t *testing.T, s *Store, id string, after int64, texts ...string) int64 {
	t.Helper()
	for _, text := range texts {
		must.Done(t)(s.Append(t.Context(), id, after, event.Draft{Body: event.Noted{Why: "x", Text: text}}))
		after++
	}
	return after
}

func fresh(t *testing.T) *Store {
	t.Helper()
	s := must.Get(Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), Options{}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func save(t *testing.T, s *Store, id string, at int64, data string) {
	t.Helper()
	must.Do(t, s.SaveSnapshot(t.Context(), id, "folds", at, []byte(data)))
}

// snapshot returns what is kept of a session, "" for nothing.
func snapshot(t *testing.T, s *Store, id string) string {
	t.Helper()
	at, data, err := s.Snapshot(t.Context(), id, "folds")
	if err != nil {
		if !errors.Is(err, event.ErrNoSnapshot) {
			t.Fatal(err)
		}
		return ""
	}
	return fmt.Sprint(at, " ", string(data))
}

// SPEC 19.3: a snapshot is what was saved last, of this session and up to an
// event that is still the one that it was.
func TestSnapshot(t *testing.T) {
	s := fresh(t)
	told(t, s, "s", 0, "a", "b", "c")
	told(t, s, "other", 0, "a", "b", "c")
	if got := snapshot(t, s, "s"); got != "" {
		t.Fatalf("there is %q", got)
	}
	save(t, s, "s", 2, "first")
	must.Do(t, s.SaveSnapshot(t.Context(), "s", "other", 1, []byte("another name")))
	save(t, s, "s", 3, "second")
	told(t, s, "s", 3, "d")
	if got := snapshot(t, s, "s"); got != "3 second" {
		t.Errorf("there is %q", got)
	}
	if err := s.SaveSnapshot(t.Context(), "s", "folds", 9, nil); err == nil {
		t.Error("one was saved of events that are not there")
	}
	if got := snapshot(t, s, "s"); got != "3 second" {
		t.Errorf("then there is %q", got)
	}
	// Somebody copies it to another session's place.
	b := must.Get(os.ReadFile(s.snapshotFile("s", "folds")))(t)
	must.Do(t, os.WriteFile(s.snapshotFile("other", "folds"), b, 0o600))
	if got := snapshot(t, s, "other"); got != "" {
		t.Errorf("another session has %q", got)
	}
	must.Do(t, s.Delete(t.Context(), "s"))
	for _, name := range []string{"folds", "other"} {
		if _, err := os.Stat(s.snapshotFile("s", name)); err == nil {
			t.Errorf("%s outlives its session", name)
		}
	}
	// A new session of that name, with other events of the same text.
	told(t, s, "s", 0, "a", "b", "c")
	must.Do(t, os.WriteFile(s.snapshotFile("s", "folds"), b, 0o600))
	if got := snapshot(t, s, "s"); got != "" {
		t.Errorf("a new session has %q of an old one", got)
	}
}

// SPEC 19.3: of a fork, the events that it shares and its own.
func TestSnapshotOfFork(t *testing.T) {
	s := fresh(t)
	told(t, s, "s", 0, "a", "b", "c")
	must.Do(t, s.Fork(t.Context(), event.Origin{Session: "s", At: 2}, "f"))
	save(t, s, "f", 2, "shared")
	if got := snapshot(t, s, "f"); got != "2 shared" {
		t.Errorf("there is %q", got)
	}
	told(t, s, "f", 2, "own")
	save(t, s, "f", 3, "own")
	if got := snapshot(t, s, "f"); got != "3 own" {
		t.Errorf("there is %q", got)
	}
	if got := snapshot(t, s, "s"); got != "" {
		t.Errorf("its origin has %q", got)
	}
}

// SPEC 19.3: a file that is cut short or changed anywhere is none.
func TestDamagedSnapshot(t *testing.T) {
	s := fresh(t)
	told(t, s, "s", 0, "a", "b")
	save(t, s, "s", 2, "what was folded")
	good := must.Get(os.ReadFile(s.snapshotFile("s", "folds")))(t)
	try := func(what string, b []byte) {
		t.Helper()
		must.Do(t, os.WriteFile(s.snapshotFile("s", "folds"), b, 0o600))
		if got := snapshot(t, s, "s"); got != "" {
			t.Errorf("%s: %q", what, got)
		}
	}
	for i := range good {
		try(fmt.Sprint("cut at ", i), good[:i])
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		try(fmt.Sprint("changed at ", i), bad)
	}
	try("longer", append(bytes.Clone(good), 0))
	must.Do(t, os.WriteFile(s.snapshotFile("s", "folds"), good, 0o600))
	if got := snapshot(t, s, "s"); got == "" {
		t.Error("the good one is not read")
	}
}

// The folder has a bounded number of files, all of sessions that there are.
func TestSnapshotsAreFew(t *testing.T) {
	s := fresh(t)
	for i := range maxSnapshots + 3 {
		id := fmt.Sprint("s", i)
		told(t, s, id, 0, "a")
		save(t, s, id, 1, strings.Repeat("x", largeSnapshot))
		then := time.Unix(1_700_000_000+int64(i), 0)
		must.Do(t, os.Chtimes(s.snapshotFile(id, "folds"), then, then))
	}
	gone := s.snapshotFile("s10", "folds")
	if _, err := s.w.exec(t.Context(), "UPDATE sessions SET state = 1 WHERE id = 's10'"); err != nil { // as an older pawl deletes one that was forked
		t.Fatal(err)
	}
	old := filepath.Join(s.snapshotFolder(), ".new-1")
	stray := filepath.Join(s.snapshotFolder(), "stray")
	for _, name := range []string{old, stray} {
		must.Write(t, name, "x")
	}
	then := time.Unix(1_700_000_000, 0)
	must.Do(t, os.Chtimes(old, then, then))
	newest := "newest" + strings.Repeat("x", largeSnapshot)
	save(t, s, "s5", 1, newest)
	entries := must.Get(os.ReadDir(s.snapshotFolder()))(t)
	if len(entries) > maxSnapshots {
		t.Errorf("%d files", len(entries))
	}
	for _, name := range []string{gone, old, stray, s.snapshotFile("s0", "folds")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if got := snapshot(t, s, "s5"); got != "1 "+newest {
		t.Errorf("the newest is %.20q", got)
	}
	if st, err := os.Stat(s.snapshotFile("s5", "folds")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
}
