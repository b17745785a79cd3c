package swarmrun

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.6: what a swarm sent is there for the next one of the same team at the same
// server, for one process at a time, and not for ever.
func TestKeptFolder(t *testing.T) {
	above, now := t.TempDir(), time.Now()
	home := func() string {
		t.Helper()
		dir := must.Get(os.MkdirTemp(above, "w-"))(t)
		return dir
	}
	open := func(server, team string, at time.Time) (string, func() error) {
		t.Helper()
		dir, release, err := keptFolder(home(), server, team, at)
		must.Do(t, err)
		t.Cleanup(func() { _ = release() })
		return dir, release
	}
	red, free := open("nats://a", "red", now)
	file := filepath.Join(red, "store.git", "objects", "pack", "x.pack")
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.Do(t, os.WriteFile(file, nil, 0o600))
	there := func() bool { _, err := os.Stat(file); return err == nil }
	second, _ := open("nats://a", "red", now)
	blue, _ := open("nats://a", "blue", now)
	elsewhere, _ := open("nats://b", "red", now)
	if second == red || blue == red || elsewhere == red || filepath.Dir(filepath.Dir(second)) != above || filepath.Base(blue)[0] != '.' {
		t.Errorf("%s, %s, %s, %s", red, second, blue, elsewhere)
	}
	if open("nats://c", "", now.Add(2*keptTime)); !there() {
		t.Error("it is removed while somebody uses it")
	}
	must.Do(t, free())
	next, free := open("nats://a", "red", now.Add(keptTime/2))
	if next != red || !there() {
		t.Errorf("the next process gets %s", next)
	}
	must.Do(t, free())
	if open("nats://c", "x", now.Add(keptTime)); !there() {
		t.Error("it is removed too early")
	}
	if open("nats://c", "y", now.Add(2*keptTime)); there() {
		t.Error("it stays for ever")
	}
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	f := must.Get(os.Create(file))(t)
	defer f.Close()
	if err := f.Truncate(keptBytes + 1); err != nil { // no blocks are written
		t.Fatal(err)
	}
	if open("nats://a", "red", now.Add(2*keptTime)); there() {
		t.Error("it grows without end")
	}
}
