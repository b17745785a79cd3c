package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 12.1: rustup's link for a component that is not installed is no language server.
func TestServerBehindRustup(t *testing.T) {
	home := t.TempDir()
	link := filepath.Join(home, "rust-analyzer")
	must.WriteMode(t, filepath.Join(home, "rustup"), "", 0o700)
	must.Do(t, os.Symlink("rustup", link))
	e := Environment{
		Env:     func(name string) string { return map[string]string{"HOME": home}[name] },
		Program: func(string) (string, error) { return link, nil },
	}
	if got, err := e.serverProgram("rust-analyzer"); err == nil {
		t.Errorf("found %s, which is not installed", got)
	}
	bin := filepath.Join(home, ".rustup/toolchains/stable/bin")
	must.Do(t, os.MkdirAll(bin, 0o700))
	must.WriteMode(t, filepath.Join(bin, "rust-analyzer"), "", 0o700)
	if got, err := e.serverProgram("rust-analyzer"); err != nil || got != link {
		t.Errorf("%s, %v", got, err)
	}
}
