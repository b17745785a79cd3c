package keyring

import (
	"runtime"
	"testing"

	system "github.com/zalando/go-keyring"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.1: where no session bus is announced, the keyring is not asked.
func TestOpen(t *testing.T) {
	for bus, want := range map[string]bool{"": false, "unix:path=/run/user/0/bus": true} {
		if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
			want = true
		}
		if _, ok := Open(func(string) string { return bus }); ok != want {
			t.Errorf("%q: %v", bus, ok)
		}
	}
}

// SPEC 17.1: what is kept comes back, and is gone after its removal.
func TestRing(t *testing.T) {
	system.MockInit()
	var r Ring
	must.Do(t, r.Set("a", "secret"))
	if got, err := r.Get("a"); got != "secret" || err != nil {
		t.Error(got, err)
	}
	for range 2 {
		if err := r.Delete("a"); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Get("a"); err == nil {
		t.Error("it is still there")
	}
}
