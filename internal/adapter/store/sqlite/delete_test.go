package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// appendEnv makes the test binary a process that appends an event for each line
// that it reads, and answers with the number of events.
const appendEnv = "PAWL_APPEND_CHILD"

func appendChild(path string) error {
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	n := int64(0)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if _, err := s.Append(context.Background(), "other", n, event.Draft{Body: event.Noted{Why: "x", Text: lines.Text()}}); err != nil {
			return err
		}
		n++
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
	return nil
}

// large makes a session of events, some large, and of contents.
func large(t *testing.T, s *Store, id string, events int) {
	t.Helper()
	ds := make([]event.Draft, 0, events)
	for i := range events {
		d := note(600)
		if i%100 == 0 {
			hash := must.Get(s.Put(t.Context(), []byte(fmt.Sprint(id, i, strings.Repeat("content", 300)))))(t)
			d = event.Draft{Body: event.FileChanged{Path: "a", After: tool.Hash(hash), Kept: true}}
		}
		ds = append(ds, d)
	}
	must.Done(t)(s.Append(t.Context(), id, 0, ds...))
}

// SPEC 19.3: a session is deleted, and its space given back, in short
// transactions: between any two of them another process appends.
func TestDeletionBlocksNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path, Options{})
	large(t, s, "s", 6000)
	before := size(path, path+"-wal")

	self := must.Get(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), appendEnv+"="+path)
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	cmd.Stderr = os.Stderr
	must.Do(t, cmd.Start())
	answers := bufio.NewScanner(out)
	steps, largest := 0, int64(0)
	was := count(t, s)
	s.stepped = func() {
		steps++
		now := count(t, s)
		largest, was = max(largest, was-now), now
		if _, err := io.WriteString(in, "meanwhile\n"); err != nil || !answers.Scan() || answers.Text() != fmt.Sprint(steps) {
			t.Errorf("step %d: %v, the other process says %q", steps, err, answers.Text())
		}
	}
	must.Do(t, s.Delete(t.Context(), "s"))
	s.stepped = nil
	must.Do(t, errors.Join(in.Close(), cmd.Wait()))
	if steps < 6000/stepRows+3 || largest > stepRows {
		t.Errorf("%d steps, the largest of %d events", steps, largest)
	}
	if got := strings.Count(texts(t, s, "other"), "meanwhile"); got != steps {
		t.Errorf("%d of %d events of the other process are there", got, steps)
	}
	must.Do(t, s.Close())
	if after := size(path, path+"-wal"); after > before/4 {
		t.Errorf("the log had %d bytes and has %d", before, after)
	}
}

// count returns how many events of all sessions the file has.
func count(t *testing.T, s *Store) (n int64) {
	t.Helper()
	err := s.reader(t.Context(), func(c *conn) error {
		row, err := c.one(t.Context(), "SELECT count(*) FROM events WHERE id < 2 << 32")
		if err == nil {
			n = integer(row[0])
		}
		return err
	})
	must.Do(t, err)
	return n
}

// A deletion that is cut short at any step leaves a session that is gone for
// everybody, and the next deletion removes the rest.
func TestDeletionCutShort(t *testing.T) {
	for at := 1; ; at++ {
		path := filepath.Join(t.TempDir(), "log.db")
		s := openAt(t, path, Options{})
		large(t, s, "s", 1300)
		told(t, s, "keep", 0, "a")
		told(t, s, "next", 0, "a")
		ctx, cut := context.WithCancel(t.Context())
		steps := 0
		s.stepped = func() {
			if steps++; steps == at {
				cut()
			}
		}
		err := s.Delete(ctx, "s")
		cut()
		s.stepped = nil
		if _, gone := s.Session(t.Context(), "s"); !errors.Is(gone, event.ErrNoSession) {
			t.Fatalf("cut at step %d: %v", at, gone)
		}
		if got := newestOf(t, s); got != "next keep" {
			t.Fatalf("cut at step %d: the newest are %q", at, got)
		}
		if _, err := s.Append(t.Context(), "s", 1300, note(5)); err == nil {
			t.Fatalf("cut at step %d: it goes on", at)
		}
		must.Do(t, s.Delete(t.Context(), "next"))
		if n := count(t, s); n != 0 {
			t.Fatalf("cut at step %d: %d events are left", at, n)
		}
		if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
			t.Fatalf("cut at step %d: %v %v", at, found, err)
		}
		if got := texts(t, s, "keep"); got != "a" {
			t.Fatalf("cut at step %d: kept is %q", at, got)
		}
		told(t, s, "s", 0, "a") // the id is free again
		must.Do(t, s.Close())
		if err == nil { // it was done before
			if at < 5 {
				t.Errorf("it took %d steps", steps)
			}
			return
		}
	}
}
