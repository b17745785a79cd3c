package reach

import (
	"errors"
	"io/fs"
	"maps"
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

// has reports whether a name may exist; on some file systems case does not count.
func (r *walk) has(name string) bool {
	return name == "." || r.list(path.Dir(name))[strings.ToLower(path.Base(name))] != nil
}

func (r *walk) list(dir string) map[string][]string {
	if names, ok := r.lists[dir]; ok {
		return names
	}
	names := map[string][]string{}
	if r.has(dir) {
		entries, _ := fs.ReadDir(r.fsys, dir) // no folder has no names
		for _, e := range entries {
			names[strings.ToLower(e.Name())] = append(names[strings.ToLower(e.Name())], e.Name())
		}
	}
	r.lists[dir] = names
	return names
}

// text returns a file's text; ok is false if it cannot be read or is too long.
func (r *walk) text(name string) (text string, ok bool) {
	if text, ok = r.read[name]; ok {
		return text, text != ""
	}
	if st, err := fs.Stat(r.fsys, name); err == nil && st.Mode().IsRegular() && st.Size() <= maxFile {
		b, _ := fs.ReadFile(r.fsys, name) // an unreadable one has no text
		text = unmarked.Replace(string(b))
	}
	r.read[name] = text
	return text, text != ""
}

// all returns every name of the folder, except git's, those of installed packages and
// python's caches.
func (r *walk) all() []string {
	if r.names != nil {
		return r.names
	}
	r.names, r.named = []string{}, map[string][]string{}
	err := fs.WalkDir(r.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && slices.Contains([]string{".git", "node_modules", "__pycache__", ".venv"}, d.Name()) {
			return fs.SkipDir
		}
		if r.names = append(r.names, name); len(r.names) > maxNames {
			return fs.ErrInvalid
		}
		base := strings.ToLower(path.Base(name))
		r.named[base] = append(r.named[base], name)
		return err
	})
	if err != nil {
		r.limit = "the folder is too large to search for the files that a computed name may mean, or cannot be read"
	}
	return r.names
}

// find counts the files that a word may name.
func (r *walk) find(i int) {
	w, bases := r.words[i], append([]string{"."}, r.bases...)
	if n := len(bases); r.tried[i] == n || r.tried[i] < 0 {
		return
	}
	if strings.Contains(w.text, "*") {
		r.pattern(w)
		r.tried[i] = len(bases)
		return
	}
	for _, b := range bases[r.tried[i]:] {
		if name := path.Join(b, w.text); fs.ValidPath(name) {
			r.name(name, w)
		}
		modules := path.Join(b, "node_modules", packageOf(w.text))
		if r.ask.Deep && w.run {
			r.pkg(b, packageOf(w.text))
		} else if w.script && fs.ValidPath(modules) && r.has(modules) {
			if l, err := fs.Lstat(r.fsys, modules); err == nil && l.Mode()&fs.ModeSymlink != 0 {
				r.limit = "it calls " + w.text + ", a package of this folder"
			}
		}
	}
	r.tried[i] = len(bases)
	if r.wide {
		r.tried[i] = -1
		end := "/" + strings.ToLower(strings.TrimLeft(path.Clean(w.text), "./"))
		r.all()
		for _, name := range r.named[path.Base(end)] {
			if strings.HasSuffix("/"+strings.ToLower(name), end) {
				r.name(name, w)
			}
		}
	}
}

// pattern counts the files that a word with computed parts may name.
func (r *walk) pattern(w word) {
	t := path.Clean(w.text)
	if i := strings.LastIndex(t, "../"); i > strings.Index(t, "*") {
		t = "*" + t[i+2:]
	}
	var names []string
	switch {
	case strings.HasPrefix(t, "*") || r.wide:
		names = []string{t, "*/" + t, strings.TrimPrefix(t, "*/")}
	default:
		for _, b := range append(slices.Clone(r.bases), ".") {
			names = append(names, path.Join(b, t))
		}
	}
	for i, n := range names {
		names[i] = strings.ReplaceAll(regexp.QuoteMeta(n), `\*`, `.*`)
	}
	matches := regexp.MustCompile(`(?i)^(?:` + strings.Join(names, "|") + `)$`)
	end := strings.ToLower(t[strings.LastIndexAny(t, "*/")+1:])
	for _, name := range r.all() {
		if strings.HasSuffix(strings.ToLower(name), end) && matches.MatchString(name) {
			r.name(name, w)
		}
	}
}

// name counts a name of the folder, if it exists.
func (r *walk) name(name string, w word) {
	if !r.has(name) {
		if w.script {
			r.stem(name, w)
		}
		return
	}
	st, err := fs.Stat(r.fsys, name)
	if err != nil {
		if l, lerr := fs.Lstat(r.fsys, name); lerr == nil && !l.IsDir() && !errors.Is(err, fs.ErrNotExist) {
			r.add(name) // a link to outside: it cannot be read, so nothing that runs it is trusted
		}
		return
	}
	switch {
	case st.IsDir():
		if !strings.Contains(w.text, "*") {
			r.base(name)
			if r.ask.Deep && name != "." && (w.script || w.value) {
				r.folder(name)
			}
			if w.script {
				r.stem(name, w)
			}
			for _, lower := range slices.Sorted(maps.Keys(r.list(name))) { // it may run each program there
				if name != "." {
					r.each(name, r.list(name)[lower], word{text: "*", at: w.at})
				}
			}
		}
	case st.Mode().IsRegular() && r.counts(name, st, w):
		r.add(name)
		r.follow(name, w)
	}
}

// stem counts the files that an interpreter finds by a name without an extension: beside
// it, and in a folder of that name.
func (r *walk) stem(name string, w word) {
	w.text, w.run = "", true
	dotted := path.Join(path.Dir(name), strings.ReplaceAll(path.Base(name), ".", "/"))
	for _, at := range slices.Compact([]string{name, dotted}) {
		for _, lower := range slices.Sorted(maps.Keys(r.list(path.Dir(at)))) {
			if stem, _, ok := strings.Cut(lower, "."); ok && stem == strings.ToLower(path.Base(at)) {
				r.each(path.Dir(at), r.list(path.Dir(at))[lower], w)
			}
		}
		for _, lower := range slices.Sorted(maps.Keys(r.list(at))) {
			switch stem, _, _ := strings.Cut(strings.TrimPrefix(lower, "."), "."); stem {
			case "__init__", "__main__", "index", "main", "mod", "package", "justfile":
				r.each(at, r.list(at)[lower], w)
			}
		}
		for p := path.Dir(at); p != path.Dir(name); p = path.Dir(p) { // the packages that a module is in
			r.each(p, r.list(p)["__init__.py"], w)
		}
		if st, err := fs.Stat(r.fsys, at); r.ask.Deep && err == nil && st.IsDir() && at != "." {
			r.folder(at)
		}
	}
}

func (r *walk) each(dir string, names []string, w word) {
	for _, n := range names {
		if st, err := fs.Stat(r.fsys, path.Join(dir, n)); err == nil && st.Mode().IsRegular() {
			r.name(path.Join(dir, n), w)
		}
	}
}

// add counts a file, and what a link leads to.
func (r *walk) add(name string) {
	switch {
	case slices.Contains(r.found.Files, name):
	case len(r.found.Files) >= maxReached:
		r.limit = "it has more files than are followed"
	default:
		r.found.Files = append(r.found.Files, name)
		r.link(name)
	}
}
