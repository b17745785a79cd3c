package sandbox

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// This file finds the toolchains that a person's PATH names, wherever they are
// installed: below another home, in /srv, in a version manager's folder. A
// program needs the folder that it was installed into, which follows from where
// it really lies: PREFIX/bin/program. Nothing in the workspace counts, since the
// folder decides what is there, and no folder that holds or could hold keys.

// Limits of what is looked at in a folder of PATH.
const (
	maxPrograms = 1000
	maxScripts  = 60 // whose first line is read
)

// ofPrograms are the names of folders that programs are run from.
var ofPrograms = []string{"bin", "sbin", "libexec", "condabin", "Scripts"}

// ofInstallation are the folders and files of an installation beside its
// programs: those that the standard layout has, and those of what is unpacked as
// a whole (jmods, pkg/tool). What else lies there may be a person's own.
var ofInstallation = []string{
	"bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "etc/ssl", "ssl", "conf", "jmods", "legal", "Frameworks", "Cellar", "Caskroom", "opt", "Homebrew",
	"condabin", "conda-meta", "envs", "pkgs", "versions", "installs", "candidates", "plugins", "toolchains", "tools", "pkg", "pyvenv.cfg", "VERSION", "version", "release", "go.env", "Lib", "DLLs",
}

// toolchains finds what of PATH's toolchains is readable.
type toolchains struct {
	facts  confine.Facts
	policy confine.Policy
	seen   map[string]bool
	reads  []string
}

// installed returns the folders that the programs of PATH are installed in, as
// far as the system's and the person's usual ones do not have them.
func installed(f confine.Facts, folders []string) []string {
	t := &toolchains{facts: f, policy: confine.New(confine.ReadOnly, f), seen: map[string]bool{}}
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			continue
		}
		if at := real(dir); at != "/usr/bin" && at != "/usr/sbin" { // packages are installed there, thousands of files
			t.folder(at)
		}
	}
	return t.reads
}

func (t *toolchains) readable(path string) bool {
	return t.policy.MayRead(path) || slices.ContainsFunc(t.reads, func(r string) bool { return confine.Within(r, path) })
}

// folder adds a folder of PATH, what its programs are installed in, and what
// those are that it only links to.
func (t *toolchains) folder(dir string) {
	if t.seen[dir] || confine.Within(t.facts.Root, dir) {
		return
	}
	t.seen[dir] = true
	t.add(dir)
	t.prefix(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	scripts := 0
	for _, e := range entries[:min(len(entries), maxPrograms)] {
		name := filepath.Join(dir, e.Name())
		if e.Type()&os.ModeSymlink != 0 {
			if to, err := filepath.EvalSymlinks(name); err == nil {
				t.program(to)
			}
			continue
		}
		if scripts < maxScripts && e.Type().IsRegular() && !t.readable(filepath.Dir(dir)) {
			scripts++
			if by := interpreter(name); by != "" {
				t.program(real(by))
			}
		}
	}
}

// program adds a program that something in PATH leads to.
func (t *toolchains) program(file string) {
	if t.readable(file) && t.readable(filepath.Dir(filepath.Dir(file))) || confine.Within(t.facts.Root, file) {
		return
	}
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
		return
	}
	if dir := filepath.Dir(file); !t.seen[dir] && slices.Contains(ofPrograms, filepath.Base(dir)) {
		t.seen[dir] = true
		t.add(dir)
		t.prefix(dir)
		return
	}
	t.add(file)
}

// prefix adds what is installed beside a folder of programs.
func (t *toolchains) prefix(dir string) {
	at, base := filepath.Dir(dir), filepath.Base(dir)
	switch {
	case base == "shims": // of a version manager: the programs that they start lie in it
		t.add(at)
	case slices.Contains(ofPrograms, base):
		for _, name := range ofInstallation {
			t.add(filepath.Join(at, name))
		}
		if _, err := os.Stat(filepath.Join(at, "pkg", "tool")); err == nil { // go's own
			t.add(filepath.Join(at, "src"))
		}
		for _, python := range []string{"python", "python3"} { // of a virtual environment
			if to, err := filepath.EvalSymlinks(filepath.Join(dir, python)); err == nil {
				t.program(to)
			}
		}
	default: // volta, deno, a program's own folder
		t.add(dir)
	}
}

// add lets a path be read if it is there, outside the workspace, and no home's
// keys or other data are in it.
func (t *toolchains) add(path string) {
	if !exists(path) {
		return
	}
	path = real(path)
	switch {
	case t.readable(path), confine.Within(path, t.facts.Root), confine.Within(t.facts.Root, path):
	case slices.ContainsFunc(t.policy.Secrets, func(s string) bool { return confine.Within(path, s) || confine.Within(s, path) }):
	case homeLike(path), confine.MayHoldKeys(path, exists):
	default:
		t.reads = append(t.reads, path)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// homeLike reports whether a folder is a person's, not a program's: a home, or
// one that holds homes, or a folder of all programs' data.
func homeLike(dir string) bool {
	if dir == "/" || filepath.Dir(dir) == "/" || filepath.Dir(dir) == "/home" || filepath.Dir(dir) == "/Users" {
		return true
	}
	switch filepath.Base(dir) {
	case ".local", ".config", ".cache", ".local/share":
		return true
	}
	return slices.ContainsFunc([]string{".bashrc", ".profile", ".bash_profile", ".zshrc", ".bash_history", ".config", ".ssh", ".local"}, func(name string) bool {
		return exists(filepath.Join(dir, name))
	})
}

// interpreter returns the program that a script's first line names, "" for none.
func interpreter(file string) string {
	f, err := plainfile.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	if err != nil || !strings.HasPrefix(string(line), "#!") {
		return ""
	}
	words := strings.Fields(string(line[2:]))
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}
