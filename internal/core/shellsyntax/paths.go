package shellsyntax

import (
	"path"
	"slices"
	"strings"
)

// Program is the base name of a command's program; plain is false where it was
// given by a path that is not one of the system's own folders, so that it may
// be any program of that name.
func (c Command) Program() (base string, plain bool) {
	n := c.Name()
	dir, base := path.Split(n)
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/":
		return base, true
	}
	return base, false
}

// Paths puts a word's path behind every folder that the command may run in, as
// it reads: "x/.." is taken away, also where x may be a link. That is enough to
// judge by the words; who can follow links puts the word's own text behind Dir
// and Alt, which keep ".." behind what may be a link, and goes component by
// component as the kernel does. For a glob it is the folder that all of its
// paths are below, and "/*". A process substitution is not a path. ok is false
// where the path cannot be known.
func (c Command) Paths(w Word) (paths []string, ok bool) {
	t := w.Text
	if w.Proc {
		return nil, true
	}
	if !w.Known {
		if !w.Glob {
			return nil, false
		}
		t = w.Prefix[:strings.LastIndexByte(w.Prefix, '/')+1] + "*"
	}
	if path.IsAbs(t) {
		return []string{path.Clean(t)}, true
	}
	if !c.Dir.Known {
		return nil, false
	}
	paths = append(paths, path.Join(c.Dir.Text, t))
	for _, d := range c.Alt {
		if p := path.Join(d, t); !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths, true
}
