package confine

import (
	"fmt"
	"slices"
	"strings"
)

// Grant adds what a person granted, by real paths: paths that can be read,
// folders that can be changed except for their protected names, and files that
// can be changed or created. A grant that would open a secret, the whole
// workspace or git's own files is left out: it stays refused.
func (p Policy) Grant(reads, folders, files []string) Policy {
	p.Reads, p.Granted, p.Opened = slices.Clone(p.Reads), slices.Clone(p.Granted), slices.Clone(p.Opened)
	for _, r := range reads {
		if p.grantable(r) {
			p.Reads = append(p.Reads, r)
		}
	}
	for _, w := range folders {
		if p.MayGrant(w) == nil {
			p.Granted = append(p.Granted, w)
		}
	}
	for _, f := range files {
		if p.grantable(f) && !gitInside(f) {
			p.Opened, p.Reads = append(p.Opened, f), append(p.Reads, f)
		}
	}
	return p
}

// MayGrant returns why a folder cannot be granted for changes, nil if it can.
func (p Policy) MayGrant(folder string) error {
	if err := p.opensRoot(folder); err != nil {
		return err
	}
	switch {
	case gitInside(folder):
		return fmt.Errorf("%w: %s is git's own, which holds hooks and configuration; grant the folder that holds the .git, in which git add, commit, merge and the like work", ErrPolicy, folder)
	case !p.grantable(folder):
		return fmt.Errorf("%w: %s holds or is what no command may read; grant a folder beside it", ErrPolicy, folder)
	}
	return nil
}

// opensRoot returns an error if a folder that may be changed as a whole holds the workspace.
func (p Policy) opensRoot(folder string) error {
	if Within(folder, p.Root) {
		return fmt.Errorf("%w: a grant to write %s would open the protected files of %s; grant a folder inside or beside it", ErrPolicy, folder, p.Root)
	}
	return nil
}

func (p Policy) grantable(file string) bool {
	return strings.HasPrefix(file, "/") && !slices.ContainsFunc(p.Secrets, func(s string) bool { return Within(file, s) || Within(s, file) })
}

// gitInside reports whether a path is a .git or below one.
func gitInside(file string) bool {
	return slices.ContainsFunc(strings.Split(file, "/"), func(s string) bool { return strings.EqualFold(s, ".git") })
}
