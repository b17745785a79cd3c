package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// The real paths of a look are those that each path has alone: of folders, of links to
// folders, files, each other, themselves and nothing, and of what is missing below them.
func TestReals(t *testing.T) {
	root := real(t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	dirs := []string{root}
	var paths []string
	for i := range 60 {
		at := filepath.Join(dirs[r.IntN(len(dirs))], fmt.Sprint(i))
		paths = append(paths, at)
		switch to := paths[r.IntN(len(paths))]; r.IntN(4) {
		case 0:
			_ = os.WriteFile(at, nil, 0o600)
		case 1:
			_ = os.Symlink(to, at)
		case 2:
			if rel, err := filepath.Rel(filepath.Dir(at), to); err == nil {
				_ = os.Symlink(rel, at)
			}
		default:
			_ = os.Mkdir(at, 0o700)
			dirs = append(dirs, at)
		}
	}
	all := reals{}
	for range 2 { // the second time from what is remembered
		for _, p := range paths {
			for _, p := range []string{p, p + "/missing/below", p + "/../" + filepath.Base(p), p + "/"} {
				if got, want := all.of(p), real(p); got != want {
					t.Errorf("%s: %s, want %s", p, got, want)
				}
			}
		}
	}
}
