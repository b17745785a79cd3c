// Package gitnext decides what a person's next git command would write that they have not
// seen: files that somebody runs or obeys, which a turn left in git's index or commits and
// not in the workspace. The sandbox keeps such files as they are in the workspace; git's
// own store it must leave open, since every commit writes there (SPEC 16.16).
package gitnext

import (
	"path"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Modes of what is no file, as git has them.
const (
	Link       = 0o120000
	Repository = 0o160000
)

// Entry is a file of the index or a commit that the last commit before the turn did not
// have in this form.
type Entry struct {
	Path string // below the repository's folder
	Mode uint32
	// Target returns where a link leads.
	Target func() string
	// Lies reports whether it is in the workspace in the same form; of a repository, whether
	// one is there.
	Lies func() bool
}

// Side is what has such entries: the index, a commit.
type Side struct {
	In      string // words for people
	Entries []Entry
	Why     string // why they are not known, "" where they are
}

// most is how many files are told.
const most = 20

// Found returns the files to tell, each once. who returns who runs or obeys a file, "" for
// others.
func Found(sides []Side, who func(file string) string) []event.GitFile {
	var out []event.GitFile
	told := map[string]bool{}
	add := func(f event.GitFile) {
		if told[f.Path] && f.Path != "" {
			return
		}
		told[f.Path] = true
		if len(out) < most {
			out = append(out, f)
		} else {
			out[most-1].More++
		}
	}
	for _, s := range sides {
		if s.Why != "" {
			add(event.GitFile{In: s.In, By: s.Why})
		}
		for _, e := range s.Entries {
			by := who(e.Path)
			switch {
			case e.Mode == Repository:
				if e.Lies() { // without a repository there git looks into nothing
					add(event.GitFile{Path: e.Path, In: s.In, By: "git, as a repository of its own"})
				}
				continue
			case e.Mode == Link && by == "":
				if to := e.Target(); leaves(e.Path, to) {
					by = "a link to " + to
				}
			}
			if by != "" && !e.Lies() {
				add(event.GitFile{Path: e.Path, In: s.In, By: by})
			}
		}
	}
	return out
}

// leaves reports whether a link leads out of the repository.
func leaves(file, target string) bool {
	to := path.Join(path.Dir(file), target)
	return path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../")
}
