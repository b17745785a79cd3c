package checks

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
)

// This file finds out whether a Python interpreter has a module, from the folders in which
// it searches: to ask the interpreter itself would start it.

// HasModule is Finder.HasModule. An interpreter whose folders are not where they usually are
// is not known.
func HasModule(python, dir, module string) (has, known bool) {
	prefix, ok := prefixOf(python, dir)
	if !ok {
		return false, false
	}
	libs, _ := filepath.Glob(filepath.Join(escaped(prefix), "lib*", "python3*")) // the pattern is right
	whole := false
	sites := filepath.SplitList(os.Getenv("PYTHONPATH"))
	for _, l := range libs {
		whole = whole || strings.HasPrefix(filepath.Base(l), "python3.") // Debian's python3 is for its packages only
		sites = append(sites, l, filepath.Join(l, "site-packages"), filepath.Join(l, "dist-packages"))
	}
	for _, shared := range []string{filepath.Join(prefix, "local"), filepath.Join(os.Getenv("HOME"), ".local")} {
		more, _ := filepath.Glob(filepath.Join(escaped(shared), "lib", "python3*", "*-packages")) // as above
		sites = append(sites, more...)
	}
	for _, s := range sites {
		if holdsModule(s, module) {
			return true, true
		}
	}
	for _, s := range sites {
		if !strings.HasSuffix(s, "-packages") {
			continue
		}
		entries, _ := os.ReadDir(s) // what it gives until an error counts
		for _, e := range entries {
			name := e.Name()
			if strings.Contains(name, module) { // installed in a way of its own
				return true, true
			}
			if !strings.HasSuffix(name, ".pth") { // one that names more folders
				continue
			}
			text, err := plainfile.Read(filepath.Join(s, name), maxFile)
			if err != nil {
				return false, false
			}
			for l := range strings.Lines(string(text)) {
				if l = strings.TrimSpace(l); l == "" || l[0] == '#' || strings.HasPrefix(l, "import ") {
					continue
				}
				if !filepath.IsAbs(l) {
					l = filepath.Join(s, l)
				}
				if holdsModule(l, module) {
					return true, true
				}
			}
		}
	}
	settings, err := plainfile.Read(filepath.Join(prefix, "pyvenv.cfg"), maxFile)
	shares := err == nil && strings.Contains(strings.ReplaceAll(string(settings), " ", ""), "include-system-site-packages=true")
	return false, whole && !shares
}

func holdsModule(dir, module string) bool {
	for _, name := range []string{module, module + ".py"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// prefixOf returns the folder in which an interpreter is installed.
func prefixOf(python, dir string) (prefix string, ok bool) {
	bin := filepath.Dir(python)
	switch filepath.Base(bin) {
	case "shims":
		return pyenv(filepath.Dir(bin), dir)
	case "bin":
	default:
		return "", false
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(bin), "pyvenv.cfg")); err == nil {
		return filepath.Dir(bin), true
	}
	program, err := filepath.EvalSymlinks(python)
	return filepath.Dir(filepath.Dir(program)), err == nil && filepath.Base(filepath.Dir(program)) == "bin"
}

// pyenv returns the folder of the version that pyenv chooses for a folder.
func pyenv(root, dir string) (prefix string, ok bool) {
	version := os.Getenv("PYENV_VERSION")
	read := func(name string) string {
		text, err := plainfile.Read(name, maxFile)
		if fields := strings.Fields(string(text)); err == nil && len(fields) > 0 {
			return fields[0]
		}
		return ""
	}
	for at := dir; version == "" && at != filepath.Dir(at); at = filepath.Dir(at) {
		version = read(filepath.Join(at, ".python-version"))
	}
	version = cmp.Or(version, read(filepath.Join(root, "version")))
	prefix = filepath.Join(root, "versions", version)
	_, err := os.Stat(prefix)
	return prefix, version != "" && err == nil
}
