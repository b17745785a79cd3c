package confine

import (
	"path"
	"strings"
)

// LeadsFree reports whether a symbolic link in the folder dir of the workspace
// leads, or could be made to lead, into the sandbox's own folders, where any name
// is free: a repository there would be one of the workspace by the link. resolve
// returns where a path leads by now. Refused are
//   - links into such a folder, and to a folder above one, by which a further
//     link would come to it;
//   - links that climb after they went down, whose way changes with what is there;
//   - relative links that would lead there from another folder, to which they can
//     be moved.
func (p Policy) LeadsFree(dir, target string, resolve func(string) string) bool {
	if len(p.Writes) == 0 {
		return false
	}
	parts := strings.FieldsFunc(target, func(r rune) bool { return r == '/' })
	down := path.IsAbs(target)
	for _, n := range parts {
		if n == ".." && down {
			return true
		}
		down = down || n != ".." && n != "."
	}
	ends := []string{target}
	if !path.IsAbs(target) {
		ends = append(p.leadsOutside(target), path.Join(dir, target))
	}
	for _, at := range ends {
		at = resolve(at)
		for _, w := range p.Writes {
			if Within(w, at) || Within(at, w) {
				return true
			}
		}
	}
	return false
}

// leadsOutside returns where outside the folders that can be changed a relative link
// leads from some folder in them.
func (p Policy) leadsOutside(target string) []string {
	tail := path.Clean(target)
	var out []string
	bases := append([]string{p.Root}, p.Granted...)
	for tail == ".." || strings.HasPrefix(tail, "../") {
		tail = strings.TrimPrefix(tail[2:], "/")
		for i, b := range bases {
			bases[i] = path.Dir(b)
		}
		out = append(out, bases...)
	}
	for i, b := range out {
		out[i] = path.Join(b, tail)
	}
	return out
}
