package machine

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// SPEC 15.1: too little memory or disk is said, with what and how much.
func TestPressure(t *testing.T) {
	at := time.Unix(0, 0)
	mem, disks := uint64(1<<30), map[string]uint64{"/a": 1 << 30, "/b": 1 << 30}
	looks := 0
	m := New(Limits{Memory: 100 << 20, Disk: 200 << 20}, func() time.Time { return at }, "/a", "/b", "/unknown")
	m.memory = func() (uint64, bool) { looks++; return mem, true }
	m.disk = func(f string) (uint64, bool) { n, ok := disks[f]; return n, ok }
	check := func(want string, words ...string) {
		t.Helper()
		at = at.Add(2 * time.Second)
		what, why := m.Pressure()
		if what != want {
			t.Errorf("pressure %q (%s), not %q", what, why, want)
		}
		for _, w := range words {
			if !strings.Contains(why, w) {
				t.Errorf("%q is not in %q", w, why)
			}
		}
	}
	check("")
	mem = 99 << 20
	check("memory", "99 MB", "100 MB")
	mem, disks["/b"] = 1<<30, 5<<10
	check("disk", "/b", "5 KB", "200 MB")
	disks["/b"] = 1 << 30
	check("")
	before := looks
	m.Pressure()
	if looks != before {
		t.Error("it looked again within a moment")
	}
	off := New(Limits{}, time.Now, "/a")
	off.memory = func() (uint64, bool) { return 0, true }
	if what, _ := off.Pressure(); what != "" {
		t.Error("a limit of 0 is one")
	}
}

// This machine reports numbers that make sense.
func TestHere(t *testing.T) {
	if n, known := memory(); known && (n < 1<<20 || n > 1<<50) {
		t.Errorf("%d bytes of memory", n)
	}
	if n, known := disk(filepath.Join(t.TempDir(), "not", "there")); known && n > 1<<60 {
		t.Errorf("%d bytes of disk", n)
	}
	New(Limits{Memory: 1, Disk: 1}, time.Now, t.TempDir()).Pressure()
}

func BenchmarkLook(b *testing.B) {
	m := New(Limits{Memory: 1, Disk: 1}, time.Now, b.TempDir())
	for b.Loop() {
		m.look()
	}
}
