//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

func init() {
	modes["nested"] = nested
	modes["domain"] = domain
}

// nested confines a command at the level that its argument names, as a pawl in
// the sandbox would. The command changes what it can.
func nested() int {
	here, _ := os.Getwd() // of the test, which is there
	level := confine.Workspace
	if os.Args[1] == "read-only" {
		level = confine.ReadOnly
	}
	b := NewBoxes(func(string) string { return "" }, here, filepath.Join(here, "spill"))
	readOnly, workspace := b.Try()
	fmt.Println("read-only:", readOnly)
	fmt.Println("workspace:", workspace)
	box, err := Open(confine.New(level, confine.Facts{Root: here}))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer box.Close()
	cmd := exec.Command("sh", "-c", changing)
	cmd.Dir = here
	c, err := box.start(cmd, holding{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_ = c.Wait() // what came of it is seen in the folder
	return 0
}

// changing is a command that makes, changes, moves, links and removes.
const changing = "touch q; mkdir d; echo x >> file; mv file moved; ln old linked; ln -s old pointed; chmod 700 old; rm gone; truncate -s 0 file"

// domain restricts itself as a program other than pawl does: it may change
// nothing. Where it is told that this holds, it makes the changes.
func domain() int {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // it is set already
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(minVersion) &^ (unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR)}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno == 0 {
		_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	}
	if errno != 0 {
		fmt.Println("no restriction:", errno)
		return 1
	}
	for name, err := range map[string]error{
		"touch": unix.Mknod("q", unix.S_IFREG|0o600, 0), "mkdir": unix.Mkdir("d", 0o700), "rename": unix.Rename("file", "moved"),
		"remove": unix.Unlink("gone"), "truncate": unix.Truncate("file", 0), "link": unix.Link("old", "linked"), "symlink": unix.Symlink("old", "pointed"),
	} {
		if err == nil {
			fmt.Println("changed in spite of the restriction:", name)
		}
	}
	return 0
}

// SPEC 16.12: inside a sandbox no other one is claimed. pawl makes the changes
// of its commands with its own rights, so what restricts itself further must be
// told that it cannot, and then nothing runs that was to be restricted.
func TestNested(t *testing.T) {
	self := must.Get(os.Executable())(t)
	text := must.Get(os.ReadFile(self))(t)
	for _, c := range []struct {
		outer      confine.Level
		lists      bool
		mode, args string
		want       []string
	}{
		{confine.Workspace, false, "nested", "workspace", []string{"read-only: " + ErrMissing.Error(), "workspace: " + ErrMissing.Error(), "inside which nothing can be confined further"}},
		{confine.Workspace, false, "nested", "read-only", []string{"read-only: " + ErrMissing.Error(), "inside which nothing can be confined further"}},
		{confine.ReadOnly, false, "nested", "read-only", []string{"read-only: " + ErrMissing.Error(), "whose calls another one answers"}},
		{confine.ReadOnly, true, "nested", "read-only", []string{"read-only: " + ErrMissing.Error(), "inside which nothing can be confined further"}},
		{confine.Workspace, false, "domain", "", []string{"no restriction: function not implemented"}},
		{confine.ReadOnly, true, "domain", "", []string{"no restriction: function not implemented"}},
		{confine.ReadOnly, false, "domain", "", nil}, // pawl changes nothing there: it holds
	} {
		t.Run(fmt.Sprint(c.outer, c.lists, c.mode, c.args), func(t *testing.T) {
			root := folder(t)
			for name, content := range map[string][]byte{"helper": text, "file": []byte("text\n"), "old": nil, "gone": nil} {
				must.WriteMode(t, filepath.Join(root, name), string(content), 0o755)
			}
			before := bash(t, nil, root, "stat -c '%n %s %a %h' *")
			box := open(t, c.outer, root)
			if c.lists {
				policy := confine.New(confine.ReadOnly, confine.Facts{Root: root, Lists: []string{root}, Parts: []string{filepath.Join(root, "helper")}})
				box = must.Get(Open(policy))(t)
				defer box.Close()
			}
			got := bash(t, box, root, modeVar+"="+c.mode+" ./helper "+c.args)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is not in:\n%s", w, got)
				}
			}
			if strings.Contains(got, "in spite") || c.want == nil && got != "" {
				t.Error(got)
			}
			if after := bash(t, nil, root, "stat -c '%n %s %a %h' *"); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}
