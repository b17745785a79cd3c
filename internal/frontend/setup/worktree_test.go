package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/filelock"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.6: the lock of a working tree tells whether the session in it lives.
func TestTreeLock(t *testing.T) {
	f := must.Get(os.Create(filepath.Join(t.TempDir(), "lock")))(t)
	defer f.Close()
	if lockHeld(f.Name()) || filelock.Try(f) != nil || !lockHeld(f.Name()) {
		t.Error("held")
	}
}
