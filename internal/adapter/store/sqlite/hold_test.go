package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// holdEnv makes the test binary a process that takes a session and keeps it.
const holdEnv = "PAWL_HOLD_CHILD"

func holdChild(path string) error {
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		return err
	}
	if _, err := s.Hold("s"); err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("held\n"); err != nil {
		return err
	}
	_, err = os.Stdin.Read(make([]byte, 1)) // until it is killed
	return err
}

// SPEC 10.4: one process at a time has a session; another is told who has it
// and since when, and another session is free.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	since := time.Unix(1_700_000_000, 0)
	open := func() *Store {
		s := must.Get(Open(t.Context(), path, Options{Now: func() time.Time { return since }}))(t)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	a, b := open(), open()
	release, err := a.Hold("s")
	must.Do(t, err)
	for range 3 { // asking does not give it away
		_, err = b.Hold("s")
		held := (*event.HeldError)(nil)
		if !errors.As(err, &held) || held.PID != os.Getpid() || !held.Since.Equal(since) || held.Session != "s" {
			t.Fatal(err)
		}
		if !strings.Contains(err.Error(), "open in another pawl (process ") {
			t.Error(err)
		}
	}
	other, err := b.Hold("../x/ y\x00") // an id that cannot be a file name
	must.Do(t, err)
	release()
	release()
	again := must.Get(b.Hold("s"))(t)
	again()
	other()
	if _, err := os.Stat(path + ".held"); !os.IsNotExist(err) {
		t.Error("the locks leave something behind", err)
	}
}

// SPEC 3.4: a lock that cannot be made is said, and not tried for ever.
func TestHoldOfALink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := must.Get(Open(t.Context(), path, Options{}))(t)
	defer s.Close()
	sum := sha256.Sum256([]byte("s"))
	must.Do(t, os.Mkdir(path+".held", 0o700))
	lock := filepath.Join(path+".held", hex.EncodeToString(sum[:16]))
	must.Do(t, os.Symlink("no/such/folder", lock))
	if _, err := s.Hold("s"); err == nil || !strings.Contains(err.Error(), "is it a link") {
		t.Error(err)
	}
}

// SPEC 10.4: a session whose process was killed is free at once.
func TestHoldOfADeadProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	self := must.Get(os.Executable())(t)
	s := must.Get(Open(t.Context(), path, Options{}))(t)
	defer s.Close()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	in := must.Get(cmd.StdinPipe())(t)
	defer in.Close()
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	if n, err := out.Read(make([]byte, 8)); n != 5 {
		t.Fatal(n, err)
	}
	held := (*event.HeldError)(nil)
	if _, err := s.Hold("s"); !errors.As(err, &held) || held.PID != cmd.Process.Pid {
		t.Fatal(err)
	}
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait()
	release := must.Get(s.Hold("s"))(t)
	release()
}
