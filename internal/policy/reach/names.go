package reach

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// This file looks names up in the folder.

// base adds a folder that names may be relative to.
func (r *walk) base(dir string) {
	if !slices.Contains(r.bases, dir) {
		r.bases = append(r.bases, dir)
	}
}

// list returns the names of a folder.
func (r *walk) list(dir string) []string {
	entries, _ := fs.ReadDir(r.fsys, dir) // no folder has no names
	var out []string
	for _, e := range entries {
		out = append(out, path.Join(dir, e.Name()))
	}
	return out
}

// spelled returns a path as the folder spells it, "" if there is none; on some file systems
// case does not count.
func (r *walk) spelled(name string) string {
	if name == "." {
		return name
	}
	dir := path.Dir(name)
	if _, ok := r.lists[strings.ToLower(dir)+"/"]; !ok {
		r.lists[strings.ToLower(dir)+"/"] = ""
		if in := r.spelled(dir); in != "" {
			for _, n := range r.list(in) {
				r.lists[strings.ToLower(n)] = n
			}
		}
	}
	return r.lists[strings.ToLower(path.Clean(name))]
}

// text returns a file's text, "" if it cannot be read or is too long.
func (r *walk) text(name string) string {
	text, ok := r.read[name]
	if st, err := fs.Stat(r.fsys, name); !ok && err == nil && st.Mode().IsRegular() && st.Size() <= maxFile {
		b, _ := fs.ReadFile(r.fsys, name) // an unreadable one has no text
		text = string(b)
	}
	r.read[name] = text
	return text
}

// all returns every name of the folder, except git's, those of installed packages and
// python's caches.
func (r *walk) all() []string {
	if r.names != nil {
		return r.names
	}
	r.names = []string{}
	err := fs.WalkDir(r.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && slices.Contains([]string{".git", "node_modules", "__pycache__", ".venv"}, d.Name()) {
			return fs.SkipDir
		}
		if r.names = append(r.names, name); len(r.names) > maxNames {
			return fs.ErrInvalid
		}
		return err
	})
	if err != nil {
		r.not("the folder is too large to search for the files that a computed name may mean, or cannot be read")
	}
	return r.names
}

// find counts the files that a word may name.
func (r *walk) find(i int) {
	w := r.words[i]
	if strings.Contains(w.text, "*") || r.wide && strings.ContainsAny(w.text, "/.") {
		if r.tried[i] == 0 || strings.IndexByte(w.text, '*') > 0 && r.tried[i] <= len(r.bases) {
			r.anywhere(w)
		}
	}
	for ; r.tried[i] <= len(r.bases); r.tried[i]++ {
		b := "."
		if r.tried[i] > 0 {
			b = r.bases[r.tried[i]-1]
		}
		if at := path.Join(b, w.text); fs.ValidPath(at) && !strings.Contains(w.text, "*") {
			r.name(at, w)
		}
		switch l, err := fs.Lstat(r.fsys, path.Join(b, "node_modules", packageOf(w.text))); {
		case !w.stem:
		case r.ask.Deep:
			r.pkg(b, packageOf(w.text))
		case err == nil && l.Mode()&fs.ModeSymlink != 0:
			r.not("it calls " + w.text + ", a package of this folder")
		}
	}
}

// anywhere counts the files that a word with computed parts may name.
func (r *walk) anywhere(w word) {
	t := path.Clean(w.text)
	if i := strings.LastIndex(t, "../"); i >= 0 {
		t = "*" + t[i+2:]
	}
	t = strings.TrimPrefix(t, "*/")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(t), `\*`, `.*`)
	matches := regexp.MustCompile(`(?i)^(?:.*/)?` + pattern + `$`)
	end := strings.ToLower(t[strings.LastIndexAny(t, "*/")+1:])
	for _, at := range r.all() {
		if strings.HasSuffix(strings.ToLower(at), end) && matches.MatchString(at) {
			r.name(at, w)
		}
	}
}

// name counts a name of the folder, if it exists.
func (r *walk) name(name string, w word) {
	if w.stem {
		r.stem(name)
	}
	at := r.spelled(name)
	if at == "" {
		return
	}
	st, err := fs.Stat(r.fsys, at)
	switch {
	case err != nil: // a link to outside: it cannot be read, so nothing that runs it is trusted
		if l, lerr := fs.Lstat(r.fsys, at); lerr == nil && !l.IsDir() {
			r.add(at)
		}
	case st.IsDir():
		if at != "." && !strings.Contains(w.text, "*") {
			r.base(at)
			if w.stem && r.ask.Deep {
				r.folder(at)
			}
			for _, n := range r.list(at) { // it may run each program there
				r.file(n, word{text: "*"})
			}
		}
	default:
		r.file(at, w)
	}
}

// file counts a file and reads it.
func (r *walk) file(name string, w word) {
	if st, err := fs.Stat(r.fsys, name); err == nil && st.Mode().IsRegular() && r.counts(name, w) {
		r.add(name)
		r.follow(name)
	}
}

// stem counts the files that an interpreter finds by a name without an extension: beside
// it, and in a folder of that name.
func (r *walk) stem(name string) {
	w := word{}
	for _, at := range slices.Compact([]string{name, path.Join(path.Dir(name), strings.ReplaceAll(path.Base(name), ".", "/"))}) {
		base := strings.ToLower(path.Base(at))
		for _, n := range r.list(path.Dir(at)) {
			if s, ext, ok := strings.Cut(strings.ToLower(path.Base(n)), "."); ok && s == base && (languages["."+ext] || slices.Contains([]string{"sh", "just", "mk"}, ext) || strings.HasSuffix(ext, "so") || ext == "json") {
				r.file(n, w)
			}
		}
		for _, n := range r.list(at) {
			switch s, _, _ := strings.Cut(path.Base(n), "."); s {
			case "__init__", "__main__", "index", "main", "mod", "package":
				r.file(n, w)
			}
		}
		for p := path.Dir(at); p != path.Dir(name) && p != "."; p = path.Dir(p) { // the packages that a module is in
			r.file(path.Join(p, "__init__.py"), w)
		}
		if r.ask.Deep && at != "." && r.isFolder(at) {
			r.folder(at)
		}
	}
}

// add counts a file, and what a link leads to.
func (r *walk) add(name string) {
	switch {
	case slices.Contains(r.found.Files, name):
	case len(r.found.Files) >= maxReached:
		r.not("it has more files than are followed")
	default:
		r.found.Files = append(r.found.Files, name)
		r.link(name)
	}
}
