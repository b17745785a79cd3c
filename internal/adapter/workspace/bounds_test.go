//go:build unix

package workspace

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// relink puts a symlink where a folder or a file is.
func relink(t *testing.T, path, target string) {
	t.Helper()
	must.Do(t, errors.Join(os.Rename(path, path+".was"), os.Symlink(target, path)))
}

// SPEC 16.8: a folder that is swapped for a link, at whatever moment, leads
// neither out of the workspace nor to another folder of it.
func TestSwappedFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, target string }{
		{"out", "../sib"}, {"to the hooks", ".git/hooks"}, {"by an absolute path", "/nonexistent/never"},
	} {
		for _, moment := range []string{"before the call", "between look and opening"} {
			t.Run(c.name+" "+moment, func(t *testing.T) {
				t.Parallel()
				w, root := open(t, map[string]string{"flip/a.txt": "old", ".git/hooks/a.txt": "hook", ".git/hooks/b": "hook"})
				sib := filepath.Join(filepath.Dir(root), "sib")
				must.Do(t, errors.Join(os.MkdirAll(sib, 0o755), os.WriteFile(filepath.Join(sib, "a.txt"), []byte("theirs"), 0o644)))
				all := w.WithOutside(true)
				spans := []tool.Span{{Path: "flip/a.txt"}, {Path: "flip/n.txt"}, {Path: "flip/deep/n.txt"}}
				view := all.Only(nil, spans)
				flip := filepath.Join(root, "flip")
				if moment == "before the call" {
					relink(t, flip, c.target)
				} else {
					w.between = func(p string) {
						if _, err := os.Lstat(flip + ".was"); err != nil && p == flip {
							relink(t, flip, c.target)
						}
					}
				}
				if f, err := view.Read(t.Context(), "flip/a.txt", 0); err == nil {
					t.Errorf("read %q", f.Data)
				}
				for _, p := range []string{"flip/n.txt", "flip/deep/n.txt"} {
					if _, err := view.Write(t.Context(), p, []byte("x"), ""); err == nil {
						t.Errorf("%s was written", p)
					}
				}
				if _, err := view.Write(t.Context(), "flip/a.txt", []byte("x"), HashOf([]byte("hook"))); err == nil {
					t.Error("a.txt was written")
				}
				if _, err := view.WriteAll(t.Context(), []tool.Write{{Path: "flip/a.txt", Expect: HashOf([]byte("theirs")), Remove: true}}); err == nil {
					t.Error("a.txt was removed")
				}
				for p, want := range map[string]string{filepath.Join(sib, "a.txt"): "theirs", filepath.Join(root, ".git/hooks/a.txt"): "hook", flip + ".was/a.txt": "old"} {
					if get(t, p) != want {
						t.Errorf("%s: %q", p, get(t, p))
					}
				}
				for _, dir := range []string{sib, filepath.Join(root, ".git/hooks")} {
					if _, err := os.Lstat(filepath.Join(dir, "n.txt")); err == nil {
						t.Errorf("n.txt is in %s", dir)
					}
				}
			})
		}
	}
}

// SPEC 16.8: a view that is bound to what was judged touches nothing else.
func TestOnly(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a": "a", "b": "b", "d/e": "e", ".env": "s"})
	all := w.WithOutside(true)
	outside := filepath.Join(t.TempDir(), "o")
	must.WriteMode(t, outside, "o", 0o644)
	outside, _ = filepath.EvalSymlinks(outside)
	view := all.Only([]tool.Span{{Path: "a"}, {Path: "d", Dir: true}, {Path: outside}}, []tool.Span{{Path: "b"}})
	for p, ok := range map[string]bool{"a": true, "b": true, "d/e": true, outside: true, ".env": false, filepath.Join(root, ".env"): false, "/etc/hostname": false} {
		if _, err := view.Read(t.Context(), p, 0); (err == nil) != ok {
			t.Errorf("read %s: %v", p, err)
		}
		if _, err := view.ReadNoFollow(t.Context(), p, 10); (err == nil) != ok {
			t.Errorf("itself %s: %v", p, err)
		}
	}
	for p, ok := range map[string]bool{"b": true, "a": false, "c": false, "d/n": false, outside + "2": false} {
		_, err := view.Write(t.Context(), p, []byte("x"), HashOf([]byte(map[string]string{"a": "a", "b": "b"}[p])))
		if p != "a" && p != "b" {
			_, err = view.Write(t.Context(), p, []byte("x"), "")
		}
		if (err == nil) != ok || !ok && !errors.Is(err, errMoved) {
			t.Errorf("write %s: %v", p, err)
		}
	}
	if _, err := view.Grep(t.Context(), tool.Query{Dir: "/etc", Pattern: "x"}); !errors.Is(err, errMoved) {
		t.Errorf("grep outside: %v", err)
	}
}

// SPEC 16.8: a file that is swapped for a FIFO, or for a link to another file
// of its folder, between the look and the opening neither hangs nor is read.
func TestSwappedFile(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"FIFO":             func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"link":             func(p string) error { return os.Symlink(".env", p) },
		"link to a device": func(p string) error { return os.Symlink("/dev/zero", p) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, root := open(t, map[string]string{"a.txt": "old", ".env": "TOKEN"})
			a := filepath.Join(root, "a.txt")
			w.between = func(p string) {
				if p != a {
					return
				}
				if err := errors.Join(os.Remove(a), put(a)); err != nil {
					t.Error(err)
				}
			}
			done := make(chan error, 1)
			go func() {
				f, err := w.Read(t.Context(), "a.txt", 0)
				if err == nil {
					err = errors.New("read " + string(f.Data))
				} else {
					err = nil
				}
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(2 * time.Minute):
				// Whoever opens it for writing lets the reader go on.
				if f, err := os.OpenFile(a, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
					f.Close()
				}
				t.Error("it hangs")
			}
		})
	}
}

// SPEC 16.8: a file that is saved anew meanwhile is read as it is then.
func TestReplacedWhileOpened(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a.txt": "old", "new": "new"})
	w.between = func(p string) {
		if filepath.Base(p) == "a.txt" {
			w.between = nil
			if err := os.Rename(filepath.Join(root, "new"), filepath.Join(root, "a.txt")); err != nil {
				t.Error(err)
			}
		}
	}
	if f, err := w.Read(t.Context(), "a.txt", 0); err != nil || string(f.Data) != "new" {
		t.Errorf("%q %v", f.Data, err)
	}
}

// SPEC 16.8: until a file has its own rights, nobody else can read what is written to it.
func TestUnfinishedIsPrivate(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a": "a0"})
	must.Do(t, os.Chmod(filepath.Join(root, "a"), 0o600))
	looked := 0
	w.hook = func(step, _ string) error {
		if step != "chmod" {
			return nil
		}
		for _, e := range must.Get(os.ReadDir(root))(t) {
			looked++
			if info := must.Get(e.Info())(t); info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v", e.Name(), info.Mode())
			}
		}
		return nil
	}
	if _, err, _ := attempt(w, []tool.Write{{Path: "a", Data: []byte("a1"), Expect: hashText("a0")}}); err != nil || looked != 2 {
		t.Errorf("%v, %d files", err, looked)
	}
}

// looking is a context that is asked while a file is read.
type looking struct {
	context.Context
	asked func()
}

func (l looking) Err() error { l.asked(); return l.Context.Err() }

// SPEC 4.10: a file that is written in the middle of reading it is read again.
func TestReadWhileWritten(t *testing.T) {
	t.Parallel()
	size := 5 << 20 // it is read in two pieces
	w, root := open(t, map[string]string{"a": strings.Repeat("o", size)})
	name := filepath.Join(root, "a")
	must.Do(t, os.Chtimes(name, time.Time{}, time.Unix(1, 0)))
	asked := 0
	f, err := w.Read(looking{t.Context(), func() {
		if asked++; asked == 2 {
			must.Do(t, os.WriteFile(name, bytes.Repeat([]byte("n"), size), 0o600))
		}
	}}, "a", 0)
	if err != nil || len(f.Data) != size || bytes.IndexByte(f.Data, 'o') >= 0 {
		t.Errorf("%v, %d bytes, the old ones until %d", err, len(f.Data), bytes.LastIndexByte(f.Data, 'o'))
	}
}
