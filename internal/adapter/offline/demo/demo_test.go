package demo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func goTest(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The sound project passes; each bug makes a test fail, in the package said,
// and it still compiles.
func TestBugsFail(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, Write(dir, Sound))
	if out, err := goTest(t, dir, "vet", "./..."); err != nil {
		t.Fatalf("the sound project: %v\n%s", err, out)
	}
	if out, err := goTest(t, dir, "test", "./..."); err != nil {
		t.Fatalf("the sound project: %v\n%s", err, out)
	}
	bugs := Bugs()
	if len(bugs) < 9 {
		t.Errorf("%d bugs, want the default and 8 others", len(bugs))
	}
	for i, b := range bugs {
		name := filepath.Join(dir, b.File)
		sound := must.Get(os.ReadFile(name))(t)
		if n := strings.Count(string(sound), b.Old); n != 1 {
			t.Errorf("%s: the place is there %d times", b.Name, n)
			continue
		}
		must.Write(t, name, strings.Replace(string(sound), b.Old, b.New, 1))
		out, err := goTest(t, dir, "test", "-vet=off", "./"+b.Fails)
		if err == nil || !strings.Contains(out, "--- FAIL") {
			t.Errorf("bug %d, %s: no test of %s fails:\n%s", i, b.Name, b.Fails, out)
		}
		// The one that the demo shows must not be named by its own package.
		if i == 0 {
			if out, err := goTest(t, dir, "test", "-vet=off", "./"+filepath.Dir(b.File)); err != nil {
				t.Errorf("the cause's own tests fail:\n%s", out)
			}
		}
		must.Do(t, os.WriteFile(name, sound, 0o644))
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for _, bug := range []int{-2, len(Bugs())} {
		if err := Write(dir, bug); err == nil {
			t.Errorf("bug %d was written", bug)
		}
	}
	must.Do(t, Write(dir, 0))
	b := Bugs()[0]
	got, err := os.ReadFile(filepath.Join(dir, b.File))
	if err != nil || !strings.Contains(string(got), b.New) || strings.Contains(string(got), b.Old) {
		t.Errorf("not planted: %v", err)
	}
	// Someone's files are never written over.
	if err := Write(dir, 1); err == nil {
		t.Error("an existing project was written over")
	}
}
