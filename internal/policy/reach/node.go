package reach

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file knows the installed packages of node: of one, every file may run, and what it
// needs says its package.json.

// installed counts a package of node, whose package.json names what it needs.
func (r *walk) installed(base, n string) {
	pkg := packageOf(strings.TrimPrefix(path.Clean(n), "node_modules/"))
	if at := strings.LastIndexByte(pkg, '@'); at > 0 { // a version
		pkg = pkg[:at]
	}
	at := path.Join(base, "node_modules", pkg)
	if strings.HasPrefix(pkg, ".") || !fs.ValidPath(at) || r.spelled(at) == "" || slices.Contains(r.found.Packages, at) || len(r.found.Packages) >= maxReached {
		return
	}
	if st, err := fs.Stat(r.fsys, at); err == nil && st.IsDir() {
		r.found.Packages = append(r.found.Packages, at)
		if needs := path.Join(at, "package.json"); r.spelled(needs) == needs {
			r.file(needs)
		}
	}
}

// shim matches what the scripts run that pnpm, and npm on Windows, write in place of links.
var shim = lazyregexp.New(`"\$basedir/(\.\./[^"$]+)"`)

// Installed returns what a program of an installed package of node loads: its package, and
// those that the packages need. also are packages that it loads beside them, if they are
// installed where it is. ok is false if the program, relative to the folder, is none of such a
// package.
func Installed(fsys fs.FS, program string, also ...string) (f Found, ok bool) {
	at := program
	if to, err := fs.ReadLink(fsys, at); err == nil {
		at = path.Join(path.Dir(at), to)
	} else if b, err := fs.ReadFile(fsys, at); err == nil {
		all := shim().FindAllStringSubmatch(string(b), -1)
		if len(all) > 0 && len(all) == strings.Count(string(b), "../") && !slices.ContainsFunc(all, func(m []string) bool { return m[1] != all[0][1] }) {
			at = path.Join(path.Dir(at), all[0][1])
		}
	}
	_, below, ok := strings.Cut("/"+at, "/node_modules/")
	if !ok {
		return f, false
	}
	f.Files = []string{program}
	wanted := []string{path.Join(strings.TrimSuffix(at, below), packageOf(below))}
	for _, n := range also {
		pkg := path.Join(strings.TrimSuffix(at, below), n)
		if st, err := fs.Stat(fsys, pkg); err == nil && st.IsDir() && !slices.Contains(wanted, pkg) {
			wanted = append(wanted, pkg)
		}
	}
	for i := 0; i < len(wanted) && len(wanted) < maxReached; i++ {
		b, err := fs.ReadFile(fsys, path.Join(wanted[i], "package.json"))
		if err != nil {
			return f, false
		}
		f.Packages = append(f.Packages, wanted[i])
		for n := range strings.FieldsSeq(needs(b)) {
			for dir := wanted[i]; ; dir = path.Dir(dir) { // as node looks for it
				pkg := path.Join(dir, "node_modules", n)
				if st, err := fs.Stat(fsys, pkg); err == nil && st.IsDir() {
					if !slices.Contains(wanted, pkg) {
						wanted = append(wanted, pkg)
					}
					break
				}
				if dir == "." {
					break
				}
			}
		}
	}
	slices.Sort(f.Packages)
	return f, len(wanted) < maxReached
}

// packageOf returns the package in a path below node_modules.
func packageOf(below string) string {
	parts := strings.SplitN(below, "/", 3)
	if strings.HasPrefix(below, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// needs returns the packages that an installed package loads, by its package.json.
func needs(definition []byte) string {
	var p struct{ Dependencies, OptionalDependencies, PeerDependencies map[string]any }
	if json.Unmarshal(definition, &p) != nil {
		return string(definition)
	}
	return strings.Join(slices.Concat(slices.Sorted(maps.Keys(p.Dependencies)), slices.Sorted(maps.Keys(p.OptionalDependencies)), slices.Sorted(maps.Keys(p.PeerDependencies))), "\n")
}
