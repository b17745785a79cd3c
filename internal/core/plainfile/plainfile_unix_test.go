//go:build unix

package plainfile

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// SPEC 15.1: no file that others put in place makes pawl wait, or read without an end.
func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir()) // the name of a socket is short
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", "link"); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	root, err := os.OpenRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"fifo", "link", "socket", ".", os.DevNull} {
		if f, err := Open(name); err == nil {
			t.Errorf("%s was opened: %v", name, f.Close())
		}
		if filepath.IsAbs(name) {
			continue
		}
		if f, err := OpenIn(root, name); err == nil {
			t.Errorf("%s was opened in its folder: %v", name, f.Close())
		}
	}
	if err := os.WriteFile("sparse", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("sparse", 200<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := Read("sparse", 1<<20); !errors.Is(err, ErrTooLong) {
		t.Errorf("a file of 200 GB: %v", err)
	}
	if _, err := Open("none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile("plain", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read("plain", 4); string(b) != "text" || err != nil {
		t.Errorf("%q %v", b, err)
	}
}
