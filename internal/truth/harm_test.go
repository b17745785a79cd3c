//go:build truth && linux

package truth

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// cageFiles are the files of the cage, with the state they had when they were made.
type cageFiles struct {
	before  map[string]stamp
	watch   int // an inotify descriptor on the secret files
	watched map[int32]string
	plain   bool
}

func (w *cageFiles) again(plain bool) (*cageFiles, error) {
	_ = syscall.Close(w.watch)
	return makeCageFiles(plain)
}

// set writes a file that belongs to the world from now on.
func (w *cageFiles) set(p, text string) error {
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		return err
	}
	var err error
	w.before, err = stamps()
	return err
}

// change is something that is not as it was: made, changed, removed, or a
// secret that was read.
type change struct {
	what, path string
	dir        bool // only a folder's time differs
}

type stamp struct {
	mode   fs.FileMode
	size   int64
	ctime  syscall.Timespec
	ino    uint64
	target string
}

var roots = []string{"/w", "/sib", "/home/u", "/tmp"}

func makeCageFiles(plain bool) (*cageFiles, error) {
	for _, r := range roots {
		es, err := os.ReadDir(r)
		if err != nil {
			return nil, err
		}
		for _, e := range es {
			p := filepath.Join(r, e.Name())
			// A line that did harm may have taken the rights away.
			_ = filepath.WalkDir(p, func(p string, d fs.DirEntry, err error) error {
				if d != nil && d.IsDir() {
					_ = os.Chmod(p, 0o700)
				}
				return nil
			})
			if err := os.RemoveAll(p); err != nil {
				return nil, err
			}
		}
	}
	for _, set := range []map[string]string{seeded, files, secret} {
		for p, text := range set {
			if plain && trap(p) {
				continue
			}
			link, exec := strings.HasSuffix(p, "->"), strings.HasSuffix(p, "!")
			p = strings.TrimSuffix(strings.TrimSuffix(p, "->"), "!")
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return nil, err
			}
			if link {
				if err := os.Symlink(text, p); err != nil {
					return nil, err
				}
				continue
			}
			mode := os.FileMode(0o644)
			if exec {
				mode = 0o755
			}
			if err := os.WriteFile(p, []byte(text), mode); err != nil {
				return nil, err
			}
		}
	}
	w := &cageFiles{watched: map[int32]string{}, plain: plain}
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w.watch = fd
	for p := range secret {
		if plain && trap(p) {
			continue
		}
		wd, err := syscall.InotifyAddWatch(fd, p, syscall.IN_ACCESS|syscall.IN_OPEN)
		if err != nil {
			return nil, err
		}
		w.watched[int32(wd)] = p
	}
	w.before, err = stamps()
	return w, err
}

func stamps() (map[string]stamp, error) {
	out := map[string]stamp{}
	for _, r := range roots {
		err := filepath.WalkDir(r, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				out[p] = stamp{}
				return nil // a folder that was closed differs from before
			}
			i, err := d.Info()
			if err != nil {
				return nil
			}
			st := i.Sys().(*syscall.Stat_t)
			s := stamp{mode: i.Mode(), size: i.Size(), ctime: st.Ctim, ino: st.Ino}
			if i.Mode()&fs.ModeSymlink != 0 {
				s.target, _ = os.Readlink(p)
			}
			out[p] = s
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changes lists what is not as it was, and the secrets that were read.
func (w *cageFiles) changes() []change {
	var out []change
	after, err := stamps()
	if err != nil {
		return []change{{what: "lost", path: err.Error()}}
	}
	for p, s := range after {
		old, ok := w.before[p]
		switch {
		case !ok:
			out = append(out, change{what: "made", path: p})
		case old != s:
			same := old
			same.size, same.ctime = s.size, s.ctime
			out = append(out, change{what: "changed", path: p, dir: s.mode.IsDir() && same == s})
		}
	}
	for p := range w.before {
		if _, ok := after[p]; !ok {
			out = append(out, change{what: "removed", path: p})
		}
	}
	for _, p := range w.drain() {
		out = append(out, change{what: "read", path: p})
	}
	return out
}

// drain returns the secret files that were opened since the last time.
func (w *cageFiles) drain() (read []string) {
	buf := make([]byte, 4096)
	for {
		n, err := syscall.Read(w.watch, buf)
		if n <= 0 || err != nil {
			return read
		}
		for at := 0; at+syscall.SizeofInotifyEvent <= n; {
			e := (*syscall.InotifyEvent)(unsafe.Pointer(&buf[at]))
			if p := w.watched[e.Wd]; e.Mask&(syscall.IN_ACCESS|syscall.IN_OPEN) != 0 && !slices.Contains(read, p) {
				read = append(read, p)
			}
			at += syscall.SizeofInotifyEvent + int(e.Len)
		}
	}
}

// harms words the changes that a mode does not let a line make.
func harms(mode permission.Mode, changes []change, cmds []shellsyntax.Command, output string) []string {
	var out []string
	let := map[string]bool{} // folders of which something may have changed
	for _, c := range changes {
		if may(mode, c, cmds, output) {
			let[path.Dir(c.path)] = true
		}
	}
	for _, c := range changes {
		if !may(mode, c, cmds, output) && !(c.dir && let[c.path]) {
			out = append(out, c.what+" "+c.path)
		}
	}
	slices.Sort(out)
	return out
}

// may reports whether a mode lets a line of these commands, which printed that,
// change or read something unasked.
func may(mode permission.Mode, c change, cmds []shellsyntax.Command, output string) bool {
	switch {
	case c.what == "read":
		return slices.ContainsFunc(cmds, opens) && !strings.Contains(output, "CANARY")
	case path.Base(c.path) == "RAN":
		return false
	case c.path == "/tmp" && c.dir, c.what == "made" && (strings.HasPrefix(c.path, "/tmp/go-build") || strings.HasPrefix(c.path, "/tmp/hsperfdata_")):
		return true // a file of a program's own, gone again, and java's counters
	case bookkeeping(c.path):
		return true
	case !strings.HasPrefix(c.path+"/", "/w/") || protected(c.path):
		return false
	}
	switch mode {
	case permission.AcceptEdits:
		return c.what != "removed"
	case permission.Auto, permission.Yolo:
		return true
	}
	return false
}

// opens reports whether a command opens files without showing what they hold.
// How large a file is, or what its sum is, is not a secret; nor is a copy of a
// folder, in which the names stay; "go version" looks whether it is a program.
func opens(c shellsyntax.Command) bool {
	switch name, _ := c.Program(); name {
	case "cp":
		return slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool {
			return strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "rRa")
		})
	case "go":
		return len(c.Words) > 1 && c.Words[1].Text == "version"
	case "wc", "file", "cksum", "sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "shasum":
		return true
	}
	return false
}

// bookkeeping: caches that Go keeps for itself in the home, whatever it is
// asked. Nobody reads them but Go, which checks what it finds there.
func bookkeeping(p string) bool {
	for _, dir := range []string{"/home/u/.cache/go-build", "/home/u/.config/go/telemetry", "/home/u/go/pkg/mod/cache"} {
		if strings.HasPrefix(p+"/", dir+"/") || strings.HasPrefix(dir, p+"/") && p != "/home/u" {
			return true
		}
	}
	return false
}

// protected are the names that ask in every mode (SPEC 16.3).
func protected(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case ".git", ".pawl", ".claude", ".mcp.json", "AGENTS.md", "CLAUDE.md", ".envrc", ".vscode":
			return true
		}
	}
	return false
}
