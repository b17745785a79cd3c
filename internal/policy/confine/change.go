package confine

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// Act is an operation on a name.
type Act int

const (
	Write  Act = iota // content or attributes of an existing file
	Create            // a new name, or one that replaces another file
	Remove            // the name is removed
	Point             // as Create, and the name becomes a symbolic link
	Arrive            // as Create, and the name becomes a folder that brings what is in it
)

// ChangeRight is the decision about a change.
type ChangeRight int

const (
	Refused ChangeRight = iota
	// Made: in the workspace. The sandbox makes each change itself, since the
	// system's rules cannot except the protected names.
	Made
	// Free: in a folder of Writes, where only the system's rules decide.
	Free
)

// installed are folders of other people's packages, which contain files of any name: no
// tool is configured by those. Git is: it takes a .git there for a repository, too.
var installed = [...]string{"node_modules", "vendor"}

// What ordinary use of git writes in a .git. Everything else is protected:
// hooks, config, info, modules, worktrees, and the steps of a rebase, which may
// name commands.
var (
	gitFolders = [...]string{"objects", "refs", "logs", "lfs"}
	gitFiles   = [...]string{
		"index", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH",
		"CHERRY_PICK_HEAD", "REVERT_HEAD", "COMMIT_EDITMSG", "SQUASH_MSG", "TAG_EDITMSG", "AUTO_MERGE", "packed-refs", "packed-refs.new",
		"shallow", "gc.pid", "gc.log", "info/refs", "info/rev-cache",
	}
	gitShared    = [...]string{"packed-refs", "packed-refs.new", "shallow", "gc.pid", "gc.log", "info/refs"}
	gitTemporary = lazyregexp.New(`^(index\.stash\.\d+(\.lock)?|info/refs_\w+)$`)
)

// Change judges a change of a file. The path is real except for its last name,
// which is not followed.
func (p Policy) Change(file string, act Act) ChangeRight {
	switch {
	case p.Level < Workspace:
		return Refused
	case within(p.Writes, file):
		return Free
	case !gitInside(file) && slices.ContainsFunc(p.Opened, func(o string) bool {
		return Within(o, file) && (file == o || !isProtected(names(o, file), act) && !p.kept(o, file, act))
	}):
		return Made // what was no folder yet may have become one
	case slices.ContainsFunc(p.Granted, func(g string) bool {
		return Within(g, file) && file != g && !isProtected(names(g, file), act) && !p.kept(g, file, act)
	}):
		return Made
	case within(p.Git, file) || within(p.Common, file):
		return p.gitChange(file, act)
	case p.Root == "" || !Within(p.Root, file) || file == p.Root, isProtected(names(p.Root, file), act), p.kept("", file, act):
		return Refused
	}
	return Made
}

// kept reports whether a change is one of what git's configuration runs or reads,
// or of a folder above it, which would take it along. What a person opened (in, ""
// for nothing) holds for what is kept there or above, which they named.
func (p Policy) kept(in, file string, act Act) bool { return keeps(p.Kept, in, file, act) }

// Keeps reports whether a change is one of kept paths, or of a folder above one.
func Keeps(kept []string, file string, act Act) bool { return keeps(kept, "", file, act) }

func keeps(kept []string, in, file string, act Act) bool {
	return slices.ContainsFunc(kept, func(k string) bool {
		if in != "" && withinFolded(k, in) {
			return false
		}
		return withinFolded(k, file) || act != Write && withinFolded(file, k)
	})
}

// withinFolded is Within for names in any case, which some file systems take for the same.
func withinFolded(folder, p string) bool {
	return len(p) >= len(folder) && strings.EqualFold(folder, p[:len(folder)]) && (len(p) == len(folder) || p[len(folder)] == '/')
}

// gitChange judges a change in a git folder outside the workspace.
func (p Policy) gitChange(file string, act Act) ChangeRight {
	for _, g := range p.Git {
		if Within(g, file) {
			if isProtectedGit(names(g, file), act) {
				return Refused
			}
			return Made
		}
	}
	for _, c := range p.Common {
		parts := names(c, file)
		if len(parts) == 0 || isProtectedGit(parts, act) {
			continue
		}
		// HEAD and index there belong to another worktree.
		if slices.Contains(gitFolders[:], parts[0]) || slices.Contains(gitShared[:], strings.TrimSuffix(path.Join(parts...), ".lock")) {
			return Made
		}
	}
	return Refused
}

// names returns the parts of a path below a folder.
func names(folder, file string) []string {
	rel := strings.TrimPrefix(strings.TrimPrefix(file, folder), "/")
	if rel == "" {
		return nil
	}
	return strings.Split(rel, "/")
}

func isProtected(parts []string, act Act) bool {
	theirs := false
	for i, name := range parts {
		if strings.EqualFold(name, ".git") {
			return isProtectedGit(parts[i+1:], act)
		}
		theirs = theirs || foreign(name)
		if !theirs && slices.ContainsFunc(Protected, func(n string) bool { return strings.EqualFold(n, name) }) {
			return true
		}
	}
	return !theirs && len(parts) > 0 && parts[len(parts)-1] == "HEAD"
}

// isProtectedGit judges a path below a .git, nil for the .git itself.
func isProtectedGit(parts []string, act Act) bool {
	if len(parts) == 0 || act == Point {
		return true // the person's git would write through the link
	}
	if slices.Contains(gitFolders[:], parts[0]) {
		switch path.Join(parts[1:]...) {
		case "": // without objects or refs it is no repository: git would look for another one
			return act == Remove || act == Arrive
		case "info":
			return act == Arrive && parts[0] == "objects" // it may hold alternates
		case "info/alternates", "info/http-alternates": // folders that git reads
			return parts[0] == "objects"
		}
		return false
	}
	name := path.Join(parts...)
	if name == "HEAD" {
		return act != Create // git replaces it by HEAD.lock
	}
	return !slices.Contains(gitFiles[:], strings.TrimSuffix(name, ".lock")) && !gitTemporary().MatchString(name)
}

func foreign(name string) bool { return slices.Contains(installed[:], name) }

// Zone names the rules that hold below a path. A folder must not be moved from
// one zone to another: it could contain names that were free in its old place.
func (p Policy) Zone(file string) string {
	if within(p.Writes, file) {
		return "free"
	}
	z := ""
	if within(p.Git, file) || within(p.Common, file) {
		return "git outside"
	}
	for _, g := range slices.Concat([]string{p.Root}, p.Granted) {
		if !Within(g, file) {
			continue
		}
		parts := names(g, file)
		switch {
		case gitInside(file):
			z += " git"
		case slices.ContainsFunc(parts, foreign):
			z += " installed"
		default:
			z += " guarded"
		}
	}
	return z
}

// IsRepository reports whether a folder of any name is one that git would use, such as a
// bare repository, a submodule's or a worktree's. has tells which names are in it.
func IsRepository(has func(name string) bool) bool {
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// Completes reports whether a new name would make the folder a repository, in whichever
// order its parts come. A .git is none of these: it cannot be made at all.
func Completes(file string, has func(name string) bool) bool {
	switch name := path.Base(file); name {
	case "HEAD", "objects", "refs", "commondir":
		return !strings.EqualFold(path.Base(path.Dir(file)), ".git") && !IsRepository(has) && IsRepository(func(n string) bool { return n == name || has(n) })
	}
	return false
}

// gitOwn are the folders that git keeps in a repository.
var gitOwn = [...]string{"hooks", "info", "objects", "refs", "logs", "modules", "worktrees", "branches", "lfs", "rr-cache"}

// GitChange reports whether a change is one of git's own files in a repository
// of any name, such as a bare one, that ordinary use of git does not make. Other
// folders in a repository (worktrees may be there) are not git's.
func GitChange(repository, file string, act Act) bool {
	parts := names(repository, file)
	return OwnedByGit(repository, file, false) && isProtectedGit(parts, act)
}

// OwnedByGit reports whether a path is a repository, a file directly in it, or inside
// one of the folders that git keeps there. Other folders may be worktrees.
func OwnedByGit(repository, file string, folder bool) bool {
	parts := names(repository, file)
	return len(parts) == 0 || len(parts) == 1 && !folder || slices.ContainsFunc(gitOwn[:], func(n string) bool { return strings.EqualFold(n, parts[0]) })
}
