package session_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func read(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "error: " + err.Error()
	}
	return string(b)
}

// The part of the corpus that is about files. SPEC 4.10, 16.8.
func TestCorpusFiles(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	must.Write(t, filepath.Join(outside, "o"), "a\n")
	link := func(to, name string) func(string) error {
		return func(dir string) error { return os.Symlink(to, filepath.Join(dir, name)) }
	}
	chmod := func(name string, mode fs.FileMode) func(string) error {
		return func(dir string) error { return os.Chmod(filepath.Join(dir, name), mode) }
	}
	for _, c := range []struct {
		name  string
		setup func(dir string) error
		tool  string
		in    j
		says  string
		fails bool
		then  map[string]string // file: content; "-" gone, "link x", "mode 0644"
	}{
		{"read-only file", chmod("f", 0o444), "edit", edit("a", "b"), "f is read-only (mode 0444)", true, map[string]string{"f": "a\n", "f mode": "0444"}},
		{"read-only file, patched", chmod("f", 0o444), "apply_patch", blocks("*** Update File: f", "@@", "-a", "+b"), "read-only", true, map[string]string{"f": "a\n"}},
		{"read-only file may be deleted", chmod("f", 0o444), "apply_patch", blocks("*** Delete File: f"), "deleted f", false, map[string]string{"f": "-"}},
		{"odd mode is kept", chmod("f", fs.ModeSetuid|0o751), "edit", edit("a", "b"), "edited", false, map[string]string{"f": "b\n", "f mode": "4751"}},
		{"executable is kept in a move", chmod("f", 0o755), "apply_patch", blocks("*** Update File: f", "*** Move to: d/g", "@@", "-a", "+b"), "moved f to d/g", false, map[string]string{"f": "-", "d/g": "b\n", "d/g mode": "0755"}},
		{"a patch makes executable", nil, "apply_patch", j{"patch": "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"}, "its mode was 0644 and is 0755", false, map[string]string{"f": "a\n", "f mode": "0755"}},
		{"a patch creates an executable", nil, "apply_patch", j{"patch": "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+#!/bin/sh\n"}, "created x", false, map[string]string{"x": "#!/bin/sh\n", "x mode": "0755"}},
		{"a patch makes no symlinks", nil, "apply_patch", j{"patch": "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"}, "symlink x", true, map[string]string{"x": "-"}},
		{"symlink inside", link("f", "l"), "edit", j{"path": "l", "old": "a", "new": "b"}, "edited f", false, map[string]string{"f": "b\n", "l": "link f"}},
		{"symlink to a folder", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o755), link("d", "l")(dir))
		}, "write", j{"path": "l/x", "content": "x\n"}, "created d/x", false, map[string]string{"d/x": "x\n"}},
		{"symlink out", link(filepath.Join(outside, "o"), "l"), "edit", j{"path": "l", "old": "a", "new": "b"}, "outside the workspace", true, nil},
		{"dangling symlink", link("new", "l"), "write", j{"path": "l", "content": "x\n"}, "created new", false, map[string]string{"new": "x\n", "l": "link new"}},
		{"symlink loop", link("l", "l"), "write", j{"path": "l", "content": "x\n"}, "loop", true, nil},
		{"deleting a symlink is said", link("f", "l"), "apply_patch", blocks("*** Delete File: l"), "l is a symlink to f", true, map[string]string{"f": "a\n", "l": "link f"}},
		{"moving a symlink is said", link("f", "l"), "apply_patch", blocks("*** Update File: l", "*** Move to: m"), "l is a symlink to f", true, map[string]string{"f": "a\n", "l": "link f"}},
		{"a folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, "d"), 0o755) }, "write", j{"path": "d", "content": "x"}, "d is a folder", true, nil},
		{"below a file", nil, "write", j{"path": "f/x", "content": "x"}, "a part of the path is a file", true, map[string]string{"f": "a\n"}},
		{"FIFO", func(dir string) error { return mkfifo(filepath.Join(dir, "p")) }, "edit", j{"path": "p", "old": "a", "new": "b"}, "named pipe", true, nil},
		{"NFC for NFD", func(dir string) error { return os.WriteFile(filepath.Join(dir, "cafe\u0301"), []byte("a\n"), 0o600) }, "edit", j{"path": "caf\u00e9", "old": "a", "new": "b"}, "edited cafe\u0301", false, map[string]string{"cafe\u0301": "b\n", "caf\u00e9": "-"}},
		{"NFD for NFC", func(dir string) error { return os.WriteFile(filepath.Join(dir, "caf\u00e9"), []byte("a\n"), 0o600) }, "edit", j{"path": "cafe\u0301", "old": "a", "new": "b"}, "edited caf\u00e9", false, map[string]string{"caf\u00e9": "b\n", "cafe\u0301": "-"}},
		{"move over a file", func(dir string) error { return os.WriteFile(filepath.Join(dir, "g"), []byte("g\n"), 0o600) }, "apply_patch", blocks("*** Update File: f", "*** Move to: g"), "exists already", true, map[string]string{"f": "a\n", "g": "g\n"}},
		{"everything at once", func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "gone"), []byte("g\n"), 0o600), os.WriteFile(filepath.Join(dir, "from"), []byte("m\n"), 0o600))
		}, "apply_patch", blocks("*** Add File: new/x", "+x", "*** Update File: f", "@@", "-a", "+b", "*** Delete File: gone", "*** Update File: from", "*** Move to: to", "@@", "-m", "+M"), "created new/x", false, map[string]string{"new/x": "x\n", "f": "b\n", "gone": "-", "from": "-", "to": "M\n"}},
		{"nothing at all", func(dir string) error { return os.WriteFile(filepath.Join(dir, "ro"), []byte("r\n"), 0o400) }, "apply_patch", blocks("*** Add File: new/x", "+x", "*** Update File: f", "@@", "-a", "+b", "*** Update File: ro", "@@", "-r", "+R"), "ro is read-only", true, map[string]string{"new": "-", "f": "a\n", "ro": "r\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ws, dir := folder(t, map[string]string{"f": "a\n"})
			if c.setup != nil {
				if err := c.setup(dir); errors.Is(err, errors.ErrUnsupported) {
					return // this system has no such file
				} else if err != nil {
					t.Fatal(err)
				}
			}
			r := change(t, ws, c.tool, c.in)
			if r.Error != c.fails || !strings.Contains(r.Text, c.says) {
				t.Errorf("error %v, want %q:\n%s", r.Error, c.says, r.Text)
			}
			for name, want := range c.then {
				if p, ok := strings.CutSuffix(name, " mode"); ok {
					info := must.Get(os.Lstat(filepath.Join(dir, p)))(t)
					mode := uint32(info.Mode().Perm())
					if info.Mode()&fs.ModeSetuid != 0 {
						mode |= 0o4000
					}
					if got := fmt.Sprintf("%04o", mode); got != want {
						t.Errorf("the mode of %s is %s, want %s", p, got, want)
					}
					continue
				}
				got := read(t, dir, name)
				if to, err := os.Readlink(filepath.Join(dir, name)); err == nil {
					got = "link " + to
				} else if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
					got = "-"
				}
				if got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
	if read(t, outside, "o") != "a\n" {
		t.Error("a file outside was changed")
	}
}

// A folder that is not writable: the error says so, and nothing is left behind.
// Root may write everywhere, so the folder is made not to be one.
func TestCorpusReadOnlyFolder(t *testing.T) {
	t.Parallel()
	ws, dir := folder(t, map[string]string{"d/f": "a\n"})
	must.Do(t, os.Chmod(filepath.Join(dir, "d"), 0o555))
	defer os.Chmod(filepath.Join(dir, "d"), 0o755) //nolint:errcheck // so that it can be removed
	r := change(t, ws, "edit", j{"path": "d/f", "old": "a", "new": "b"})
	if os.Geteuid() == 0 {
		if r.Error || read(t, dir, "d/f") != "b\n" {
			t.Errorf("%+v", r)
		}
	} else if !r.Error || !strings.Contains(r.Text, "permission denied; nothing was changed") || read(t, dir, "d/f") != "a\n" {
		t.Errorf("%+v", r)
	}
	if es, _ := os.ReadDir(filepath.Join(dir, "d")); len(es) != 1 {
		t.Errorf("left behind: %v", es)
	}
}

// SPEC 16.8: hard links part only after it was said.
func TestCorpusHardLinks(t *testing.T) {
	t.Parallel()
	ws, dir := folder(t, map[string]string{"f": "a\n"})
	must.Do(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
	if r := change(t, ws, "edit", edit("a", "b")); !r.Error || !strings.Contains(r.Text, "2 names (hard links)") || read(t, dir, "f") != "a\n" {
		t.Errorf("%+v", r)
	}
	if r := change(t, ws, "edit", edit("a", "b")); r.Error || read(t, dir, "f") != "b\n" || read(t, dir, "g") != "a\n" {
		t.Errorf("%+v", r)
	}
}

// meddled is a workspace in which something happens just before each write.
type meddled struct {
	tool.Files
	before func()
}

func (m *meddled) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	m.before()
	return m.Files.WriteAll(ctx, ws)
}

func (m *meddled) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	m.before()
	return m.Files.Write(ctx, path, data, expect)
}

// A file that changes, vanishes or becomes a folder between look and write: an
// edit by its text is made in the present content, others are refused with the
// lines as they are. SPEC 4.6, 4.10.
func TestCorpusMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool  string
		in    j
		now   string // what someone makes of the file; "-" removes it, "/" makes it a folder
		want  string
		says  string
		fails bool
		seen  bool
	}{
		"edit":                {"edit", edit("a", "A"), "x\na\nb\n", "x\nA\nb\n", "made in its present content", false, true},
		"edit, target gone":   {"edit", edit("a", "A"), "x\nb\n", "x\nb\n", "not found", true, true},
		"edit, made by other": {"edit", edit("a old line", "a new line"), "a new line\nb\n", "a new line\nb\n", "already applied", false, true},
		"multi_edit":          {"multi_edit", multi("a", "A", "b", "B"), "b\na\n", "B\nA\n", "present content", false, true},
		"apply_patch":         {"apply_patch", blocks("*** Update File: f", "@@", "-a", "+A"), "x\na\nb\n", "x\nA\nb\n", "present content", false, true},
		"edit by line":        {"edit", j{"path": "f", "from": 1, "new": "A"}, "x\na\nb\n", "x\na\nb\n", "1\tx\n2\ta\n3\tb\nThese lines now count as read", true, true},
		"write":               {"write", j{"path": "f", "content": "A\n"}, "x\na\nb\n", "x\na\nb\n", "1\tx\n2\ta\n3\tb\nThese lines now count as read", true, true},
		"edit, vanished":      {"edit", edit("a", "A"), "-", "", "f does not exist", true, false},
		"write, vanished":     {"write", j{"path": "f", "content": "A\n"}, "-", "", "nothing was written", true, false},
		"edit, now a folder":  {"edit", edit("a", "A"), "/", "", "f is a folder", true, false},
		"write, now a folder": {"write", j{"path": "f", "content": "A\n"}, "/", "", "f is a folder", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := "a\nb\n"
			if name == "edit, made by other" {
				before = "a old line\nb\n"
			}
			ws, dir := folder(t, map[string]string{"f": before})
			p := filepath.Join(dir, "f")
			var once sync.Once
			m := &meddled{ws, func() {
				once.Do(func() {
					err := os.Remove(p)
					switch c.now {
					case "-":
					case "/":
						err = errors.Join(err, os.Mkdir(p, 0o755))
					default:
						err = errors.Join(err, os.WriteFile(p, []byte(c.now), 0o600))
					}
					if err != nil {
						t.Error(err)
					}
				})
			}}
			r := change(t, m, c.tool, c.in)
			if r.Error != c.fails || !strings.Contains(r.Text, c.says) || (len(r.Seen) > 0) != c.seen {
				t.Errorf("error %v, seen %v, want %q:\n%s", r.Error, r.Seen, c.says, r.Text)
			}
			if got := read(t, dir, "f"); c.want != "" && got != c.want {
				t.Errorf("f is %q, want %q", got, c.want)
			}
		})
	}
}

// Several agents edit one file at once, each through a workspace of its own as
// in a process of its own: every edit that was said to be made is in the file.
func TestNoLostUpdate(t *testing.T) {
	t.Parallel()
	_, dir := folder(t, map[string]string{"f": "// begin\n// end\n"})
	const agents, edits = 4, 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := map[string]bool{}
	for a := range agents {
		ws := must.Get(workspace.Open(dir, workspace.Options{}))(t)
		t.Cleanup(func() { _ = ws.Close() })
		wg.Go(func() {
			for n := range edits {
				line := fmt.Sprintf("agent %d line %d\n", a, n)
				calls := []func() tool.Result{
					func() tool.Result { return change(t, ws, "edit", edit("// end\n", line+"// end\n")) },
					func() tool.Result {
						return change(t, ws, "apply_patch", blocks("*** Update File: f", "@@ // begin", "+"+strings.TrimSuffix(line, "\n")))
					},
				}
				if r := calls[n%2](); !r.Error {
					mu.Lock()
					made[line] = true
					mu.Unlock()
				} else if !strings.Contains(r.Text, "changed while it was being edited") {
					t.Errorf("%s", r.Text)
				}
			}
		})
	}
	wg.Wait()
	text := read(t, dir, "f")
	for line := range made {
		if strings.Count(text, line) != 1 {
			t.Errorf("%q is %d times in\n%s", line, strings.Count(text, line), text)
		}
	}
	if strings.Count(text, "\n") != len(made)+2 || len(made) == 0 {
		t.Errorf("%d edits were made, and the file is\n%s", len(made), text)
	}
	if es, _ := os.ReadDir(dir); len(es) != 1 {
		t.Errorf("left behind: %v", es)
	}
}

// A large file is edited as any other. SPEC 4.10; BenchmarkEdit has 100 MB.
func TestCorpusLargeFile(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("some line of text\r\n", 20<<20/19)
	ws, dir := folder(t, map[string]string{"f": half + "value = 0\r\n" + half})
	r := change(t, ws, "edit", edit("value = 0\n", "value = 1\nmore\n"))
	if r.Error || !strings.Contains(r.Text, "edited f (+2 -1)") || !strings.Contains(r.Text, "\tmore\n") {
		t.Fatalf("%s", r.Text)
	}
	if got := read(t, dir, "f"); got != half+"value = 1\r\nmore\r\n"+half {
		t.Error("the rest of the file changed")
	}
}
