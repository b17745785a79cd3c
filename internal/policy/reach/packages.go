package reach

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// This file counts the folders of which every file may run: installed packages of node,
// with what they need, and folders of modules.

// link counts what a link of an installed package leads to.
func (r *walk) link(name string) {
	to, err := fs.ReadLink(r.fsys, name)
	if err != nil || !r.ask.Deep {
		return
	}
	if to = path.Join(path.Dir(name), to); !fs.ValidPath(to) {
		return
	}
	if at := strings.LastIndex("/"+to, "/node_modules/"); at >= 0 {
		r.pkg(to[:at], packageOf(to[at+len("node_modules/"):]))
		return
	}
	r.name(to, word{}) // a program finds files beside it by its real name
	r.base(path.Dir(to))
}

// packageOf returns the package of node that a name, possibly with a path or a version,
// belongs to.
func packageOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	pkg := parts[0]
	if strings.HasPrefix(pkg, "@") && len(parts) > 1 {
		pkg += "/" + parts[1]
	}
	if i := strings.LastIndex(pkg, "@"); i > 0 {
		pkg = pkg[:i]
	}
	return pkg
}

// pkg counts an installed package of node, and those that it needs.
func (r *walk) pkg(from, name string) {
	if !fs.ValidPath(name) || name == "." {
		return
	}
	for dir := from; ; dir = path.Dir(dir) {
		if bin := path.Join(dir, "node_modules/.bin", path.Base(name)); r.spelled(bin) != "" {
			r.add(bin)
		}
		if at := path.Join(dir, "node_modules", name); r.isFolder(at) {
			r.folder(at)
			return
		}
		if dir == "." || dir == "/" {
			return
		}
	}
}

// folder counts every file of a folder.
func (r *walk) folder(at string) {
	if slices.Contains(r.found.Folders, at) {
		return
	}
	if len(r.found.Folders) >= maxReached {
		r.not("it has more packages than are followed")
		return
	}
	r.found.Folders = append(r.found.Folders, at)
	var p struct {
		Dependencies map[string]string `json:"dependencies"`
		Peers        map[string]string `json:"peerDependencies"`
		Optional     map[string]string `json:"optionalDependencies"`
	}
	if json.Unmarshal([]byte(r.text(path.Join(at, "package.json"))), &p) == nil {
		for _, needs := range []map[string]string{p.Dependencies, p.Peers, p.Optional} {
			for _, n := range slices.Sorted(maps.Keys(needs)) {
				r.pkg(at, n)
			}
		}
	}
}

func (r *walk) isFolder(name string) bool {
	st, err := fs.Stat(r.fsys, name)
	return name != "." && fs.ValidPath(name) && err == nil && st.IsDir()
}
