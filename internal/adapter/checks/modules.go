package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
)

// This file finds out whether a Python interpreter has a module, from the folders in which
// it searches: to ask the interpreter itself would start it.

// HasModule is Finder.HasModule. An interpreter whose folders are not where they usually are,
// or that searches further ones, is not known.
func HasModule(python, module string) (has, known bool) {
	prefix, ok := prefixOf(python)
	if !ok {
		return false, false
	}
	libs, _ := filepath.Glob(filepath.Join(escaped(prefix), "lib*", "python3*")) // the pattern is right
	// Debian's python3 is for its packages only.
	known = slices.ContainsFunc(libs, func(l string) bool { return strings.HasPrefix(filepath.Base(l), "python3.") })
	sites := append(filepath.SplitList(os.Getenv("PYTHONPATH")), libs...)
	for _, home := range []string{prefix, filepath.Join(prefix, "local"), filepath.Join(os.Getenv("HOME"), ".local")} {
		more, _ := filepath.Glob(filepath.Join(escaped(home), "lib*", "python3*", "*-packages")) // as above
		sites = append(sites, more...)
	}
	for _, s := range sites {
		entries, _ := os.ReadDir(s) // what it gives until an error counts
		for _, e := range entries {
			name := e.Name()
			installed := strings.HasSuffix(s, "-packages")
			switch {
			case name == module, name == module+".py", installed && strings.Contains(name, module): // the last in a way of its own
				return true, true
			case installed && strings.HasSuffix(name, ".pth") && namesFolders(filepath.Join(s, name)):
				known = false
			}
		}
	}
	settings, err := plainfile.Read(filepath.Join(prefix, "pyvenv.cfg"), maxFile)
	shares := err == nil && strings.Contains(strings.ReplaceAll(string(settings), " ", ""), "include-system-site-packages=true")
	return false, known && !shares
}

// namesFolders reports whether a .pth file may name further folders.
func namesFolders(file string) bool {
	text, err := plainfile.Read(file, maxFile)
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' && !strings.HasPrefix(l, "import ") {
			return true
		}
	}
	return err != nil
}

// prefixOf returns the folder in which an interpreter is installed.
func prefixOf(python string) (prefix string, ok bool) {
	if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(python)), "pyvenv.cfg")); err != nil {
		if python, err = filepath.EvalSymlinks(python); err != nil {
			return "", false
		}
	}
	bin := filepath.Dir(python)
	return filepath.Dir(bin), filepath.Base(bin) == "bin"
}
