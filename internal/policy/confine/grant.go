package confine

import (
	"slices"
	"strings"
)

// Grant adds what a person granted, by real paths: paths that can be read,
// folders that can be changed, and files that can be changed or created. A
// grant that would open a secret, the whole workspace or git's own files is
// left out: it stays refused.
func (p Policy) Grant(reads, folders, files []string) Policy {
	p.Reads, p.Writes, p.Opened = slices.Clone(p.Reads), slices.Clone(p.Writes), slices.Clone(p.Opened)
	for _, r := range reads {
		if p.grantable(r) {
			p.Reads = append(p.Reads, r)
		}
	}
	for _, w := range folders {
		switch {
		case !p.grantable(w) || slices.ContainsFunc(p.Guards, func(g string) bool { return Within(w, g) }):
		case p.Root != "" && Within(p.Root, w): // Landlock's rules would also open protected names below it
			p.Opened = append(p.Opened, w)
		default:
			p.Writes = append(p.Writes, w)
		}
	}
	for _, f := range files {
		if p.grantable(f) && !gitInside(f) {
			p.Opened, p.Reads = append(p.Opened, f), append(p.Reads, f)
		}
	}
	return p
}

func (p Policy) grantable(file string) bool {
	return strings.HasPrefix(file, "/") && !slices.ContainsFunc(p.Secrets, func(s string) bool { return Within(file, s) || Within(s, file) })
}

// gitInside reports whether a path is a .git or below one.
func gitInside(file string) bool {
	return slices.ContainsFunc(strings.Split(file, "/"), func(s string) bool { return strings.EqualFold(s, ".git") })
}
