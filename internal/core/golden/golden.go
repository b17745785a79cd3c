// Package golden compares the output of tests with golden files. The test flag
// -update rewrites the files.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files and generated pages anew")

// Update reports whether golden files are to be written anew.
func Update() bool { return *update }

// File compares a text with a file's, and tells the difference.
func File(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; look at it, and where it is right write it with -update (-want +got):\n%s", path, d)
	}
}
