//go:build unix

package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// SPEC 16.7: the values of a folder's files of secrets are known, and nothing is
// read that is none.
func TestKeys(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	put := func(name, text string) {
		t.Helper()
		must.Write(t, name, text)
	}
	put(filepath.Join(dir, ".env"), "DB_PASSWORD=Tr0ub4dor-and-1\n")
	put(filepath.Join(dir, ".env.production"), "A_TOKEN=Tr0ub4dor-and-2\nB_TOKEN=Tr0ub4dor-and-1\n")
	put(filepath.Join(dir, ".env.example"), "A_TOKEN=Tr0ub4dor-and-3\n")
	put(filepath.Join(dir, "deploy/credentials.json"), `{"password": "Tr0ub4dor-and-4"}`)
	put(filepath.Join(dir, "node_modules/x.env"), "A_TOKEN=Tr0ub4dor-and-5\n")
	put(filepath.Join(dir, "main.go"), "const A_TOKEN = \"Tr0ub4dor-and-6\"\n")
	put(filepath.Join(dir, "long.env"), strings.Repeat("#\n", maxKeyFile)+"A_TOKEN=Tr0ub4dor-and-7\n")
	put(filepath.Join(out, ".env"), "A_TOKEN=Tr0ub4dor-and-8\n")
	for _, err := range []error{
		os.Symlink(filepath.Join(out, ".env"), filepath.Join(dir, "linked.env")), // leads out
		os.Symlink("main.go", filepath.Join(dir, "id_rsa")),                      // stays inside
		syscall.Mkfifo(filepath.Join(dir, "pipe.env"), 0o600),
		os.Mkdir(filepath.Join(dir, "folder.env"), 0o700),
	} {
		must.Do(t, err)
	}
	m := secrets.New()
	m.Hold(Keys(dir)...)
	var got []string
	for n := 1; n < 9; n++ {
		if v := fmt.Sprintf("Tr0ub4dor-and-%d", n); m.String(v) != v {
			got = append(got, v)
		}
	}
	if want := []string{"Tr0ub4dor-and-1", "Tr0ub4dor-and-2", "Tr0ub4dor-and-4"}; !slices.Equal(got, want) && !slices.Equal(got, append(want, "Tr0ub4dor-and-6")) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Keys(filepath.Join(dir, "nothing")); got != nil {
		t.Errorf("%q of no folder", got)
	}
}
