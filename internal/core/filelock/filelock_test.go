package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// One open file has the lock until it is closed; another one is told so at once.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f := must.Get(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600))(t)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	must.Do(t, Try(first))
	if err := Try(second); !errors.Is(err, ErrLocked) {
		t.Errorf("a second open file: %v", err)
	}
	if _, err := second.WriteString("holder"); err != nil {
		t.Errorf("the lock keeps the file from being written: %v", err)
	}
	must.Do(t, first.Close())
	if err := Try(second); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
	if err := Try(first); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("a closed file: %v", err)
	}
}
