package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept.json")
	for _, text := range []string{"one", "two, which is longer", ""} {
		must.Do(t, Write(path, []byte(text), 0o600))
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	alone(t, dir, 1)
}

// What cannot be written leaves nothing beside it and the old as it was.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "kept.json", "in"), 0o700))
	if err := Write(filepath.Join(dir, "kept.json"), []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if err := Write(filepath.Join(dir, "none", "kept.json"), []byte("x"), 0o600); err == nil {
		t.Error("written into no folder")
	}
	alone(t, dir, 1)
}

// A reader sees one text or the other, whole, while several write.
func TestNeverAPart(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept")
	texts := []string{strings.Repeat("a", 10_000), strings.Repeat("b", 20_000)}
	must.Do(t, Write(path, []byte(texts[0]), 0o600))
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 20 {
				if err := Write(path, []byte(text), 0o600); err != nil && runtime.GOOS != "windows" { // an open file is not replaced there
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		got, err := os.ReadFile(path)
		if err != nil || string(got) != texts[0] && string(got) != texts[1] {
			t.Fatalf("a part: %d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
	alone(t, dir, 1)
}

func alone(t *testing.T, dir string, want int) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil || len(es) != want {
		t.Errorf("%d files lie there, want %d: %v %v", len(es), want, es, err)
	}
}
