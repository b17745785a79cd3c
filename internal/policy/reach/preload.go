package reach

import (
	"io/fs"
	"path"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file follows the options by which an interpreter loads a library before
// its script, or searches a folder for libraries.

// searchOption is the option of ruby and perl for a folder to search.
const searchOption = "-I"

// preloading returns how many words such an option at the start of args takes, or 0 if
// args do not begin with one.
func preloading(name string, args []shellsyntax.Word) int {
	for _, o := range append(command.LoadingOf(name).Options(), searchOption) {
		value, ok := strings.CutPrefix(args[0].Text, o)
		long := strings.HasPrefix(o, "--")
		switch {
		case !ok || long && value != "" && value[0] != '=':
		case value != "":
			return 1
		case len(args) > 1:
			return 2
		}
	}
	return 0
}

// preload follows such an option. For a check, a folder to search decides only what the
// tested code imports, which is source code. A library that is named by its path is a
// script. A library of node without a path is an installed package, like the check's
// own tool.
func (r *walk) preload(c shellsyntax.Command, name string, words []shellsyntax.Word) {
	loading := command.LoadingOf(name)
	lib, known := words[len(words)-1].Text, words[len(words)-1].Known
	if len(words) == 1 {
		lib = strings.TrimLeft(lib, "-")
		if _, value, ok := strings.Cut(lib, "="); ok && strings.HasPrefix(words[0].Text, "--") {
			lib = value
		} else {
			lib = lib[1:]
		}
	}
	switch {
	case !r.ask.Deep && (strings.HasPrefix(words[0].Text, searchOption) || loading.Folder != "" && strings.HasPrefix(lib, loading.Folder)):
		return
	case r.ask.Deep || !known:
	case strings.HasPrefix(lib, "./") || strings.HasPrefix(lib, "../") || strings.HasPrefix(lib, "/"):
		if path.Ext(lib) == "" {
			lib += loading.Extension
		}
		if extensions[path.Ext(lib)] != nil { // without an extension, a file that is created later may come first
			for _, dir := range r.folders(c) {
				if !r.isFile(inside(dir, lib)) {
					r.not("a library of " + name + " that its call names")
				}
			}
			r.files(c, shellsyntax.Word{Text: lib, Known: true}, asScript)
			return
		}
	case loading.Packages:
		for _, dir := range r.folders(c) {
			if r.isInstalled(dir, lib) {
				return
			}
		}
	}
	r.not("a library of " + name + " that its call names")
}

// isInstalled reports whether a name, possibly with a path, is that of a package of
// node that is found from a folder.
func (r *walk) isInstalled(dir, name string) bool {
	parts := strings.Split(name, "/")
	pkg := parts[0]
	if strings.HasPrefix(pkg, "@") && len(parts) > 1 {
		pkg += "/" + parts[1]
	}
	if pkg == "" || !fs.ValidPath(pkg) || pkg == "." {
		return false
	}
	for {
		if st, err := fs.Lstat(r.fsys, path.Join(dir, "node_modules", pkg)); err == nil {
			return st.IsDir() // a link is a package of the same repository
		}
		if dir == "." || dir == "/" {
			return false
		}
		dir = path.Dir(dir)
	}
}
