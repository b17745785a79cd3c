//go:build unix

package plainfile

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 15.1: no file that others put in place makes pawl wait, or read without an end.
func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir()) // the name of a socket is short
	must.Do(t, syscall.Mkfifo("fifo", 0o600))
	must.Do(t, os.Symlink("fifo", "link"))
	l := must.Get(net.Listen("unix", "socket"))(t)
	defer l.Close()
	root := must.Get(os.OpenRoot("."))(t)
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
	must.Do(t, os.WriteFile("sparse", nil, 0o600))
	must.Do(t, os.Truncate("sparse", 200<<30))
	if _, err := Read("sparse", 1<<20); !errors.Is(err, ErrTooLong) {
		t.Errorf("a file of 200 GB: %v", err)
	}
	if _, err := Open("none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	must.Write(t, "plain", "text")
	if b, err := Read("plain", 4); string(b) != "text" || err != nil {
		t.Errorf("%q %v", b, err)
	}
}
