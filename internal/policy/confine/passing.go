package confine

import (
	"slices"
	"strings"
)

// Passing reports whether a change is one that git makes on its way and makes again when
// its command is begun again: its locks, objects, index and the message of a commit.
func Passing(file string) bool {
	in := inGit(file)
	if in == nil {
		return false
	}
	last := in[len(in)-1]
	return in[0] == "objects" || strings.HasSuffix(last, ".lock") || slices.Contains([]string{"index", "COMMIT_EDITMSG", "TAG_EDITMSG"}, last)
}

// OfRemote reports whether a change is of what a repository knows of another one: the
// branches that it saw there, and the objects that it got.
func OfRemote(file string) bool {
	in := inGit(file)
	if len(in) > 1 && in[0] == "logs" {
		in = in[1:]
	}
	return len(in) > 1 && in[0] == "refs" && in[1] == "remotes" || len(in) > 0 && in[0] == "objects" || len(in) == 1 && in[0] == "FETCH_HEAD"
}

// inGit returns the parts of a path below the first .git in it, nil for none.
func inGit(file string) []string {
	parts := strings.Split(file, "/")
	i := slices.Index(parts, ".git")
	if i < 0 || i+1 == len(parts) {
		return nil
	}
	return parts[i+1:]
}
