// Package must has the steps of a test that have to succeed: where one fails, the
// test ends there. Only tests import it.
package must

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// T is a test, also one of generated cases.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test where a step of it failed.
func Do(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is the result of a step that has to succeed: must.Get(f())(t).
func Get[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Done is Do for a step whose result does not matter: must.Done(t)(f()).
func Done(t T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		Do(t, err)
	}
}

// Write writes a file, and makes the folders above it.
func Write(t T, path, text string) {
	t.Helper()
	WriteMode(t, path, text, 0o600)
}

// WriteMode is Write with the file's mode. A program that it writes can be run at once.
func WriteMode(t T, path, text string, mode os.FileMode) {
	t.Helper()
	Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	Do(t, WriteProgram(path, text, mode))
}

// WriteProgram writes a program that a test is about to start. A process that is just being
// forked by another test would hold a copy of the open file until it runs its own program,
// and the kernel starts no program that somebody can write to ("text file busy").
func WriteProgram(path, program string, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(program), mode)
}

// Dir is a new folder of the test, by its real name: the system's folder for temporary
// files is a link on some systems.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	Do(t, err)
	return dir
}
