//go:build linux && (amd64 || arm64)

package sandbox

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// A new file has the umask of who makes it at that moment.
func TestUmask(t *testing.T) {
	root := folder(t)
	line := `umask 022; : > a; : > b; umask 077; : > c; (umask 0; : > d); : > e; mkdir f
		perl -e 'open F, ">g"; umask 027; open F, ">h"; if (!fork) { umask 0; open F, ">i"; exit } wait; open F, ">j"'
		mkdir -m 2755 k; umask 022; mkdir k/l; umask 0; mkdir k/m
		stat -c %a a b c d e f g h i j k/l k/m | tr '\n' ' '`
	if got, want := bash(t, open(t, confine.Workspace, root), root, line), "644 644 600 666 600 700 600 640 666 640 2755 2777 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
