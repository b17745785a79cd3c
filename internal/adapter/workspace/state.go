package workspace

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitobjects"
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
)

// State is what a repository looks like when a session begins. What could not be found
// out in time is missing.
type State struct {
	Branch    string
	Changed   int // changed and untracked files; -1: not known
	Commits   []string
	Languages []string // the most used ones, with the number of their files
}

const (
	stateCommits   = 3
	stateLanguages = 3
	stateSubject   = 72 // runes of a commit's subject
)

func (g *Git) State(ctx context.Context, dir string) State {
	s := State{Changed: -1}
	repo := gitrepo.Above(dir)
	if repo == "" {
		return s
	}
	own, common := gitFolders(repo)
	branch, id := head(own, common)
	s.Branch, s.Commits = oneLine(branch), commits(filepath.Join(common, "objects"), id)
	s.Changed = g.changed(ctx, dir, own, common)
	below := ""
	if rel, err := filepath.Rel(repo, dir); err == nil && rel != "." {
		below = filepath.ToSlash(rel) + "/"
	}
	s.Languages = languages(filepath.Join(own, "index"), below)
	return s
}

// gitFolders returns git's own folder of a repository's tree, and the one that it shares
// with other trees.
func gitFolders(repo string) (own, common string) {
	own = filepath.Join(repo, ".git")
	if st, err := os.Stat(own); err == nil && !st.IsDir() { // a file that names it
		to, _ := strings.CutPrefix(firstLine(own), "gitdir: ")
		if own = to; !filepath.IsAbs(to) {
			own = filepath.Join(repo, to)
		}
	}
	common = own
	if to := firstLine(filepath.Join(own, "commondir")); to != "" {
		if common = to; !filepath.IsAbs(to) {
			common = filepath.Join(own, to)
		}
	}
	return own, common
}

// filters reports whether the repository's own configuration may name a filter, which git
// would run to find out what changed.
func filters(own, common string) bool {
	for _, file := range []string{filepath.Join(common, "config"), filepath.Join(own, "config.worktree"), filepath.Join(common, "config.worktree")} {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		if low := strings.ToLower(string(text)); strings.Contains(low, "filter") || strings.Contains(low, "include") {
			return true
		}
	}
	return false
}

// Branch returns the branch that is checked out in the repository that dir is in, "" for none.
func Branch(dir string) string {
	repo := gitrepo.Above(dir)
	if repo == "" {
		return ""
	}
	own, _ := gitFolders(repo)
	name, on := strings.CutPrefix(firstLine(filepath.Join(own, "HEAD")), "ref: refs/heads/")
	if !on {
		return ""
	}
	return oneLine(name)
}

// head returns the branch of a repository's tree and its last commit, "" for none.
func head(own, common string) (branch, id string) {
	at := firstLine(filepath.Join(own, "HEAD"))
	if isID(at) {
		return "none (detached)", at
	}
	name := strings.TrimPrefix(at, "ref: ")
	if id = firstLine(filepath.Join(common, filepath.FromSlash(name))); !filepath.IsLocal(name) || !isID(id) {
		id = packedRef(filepath.Join(common, "packed-refs"), name)
	}
	return strings.TrimPrefix(name, "refs/heads/"), id
}

// commits returns the newest commits, read without a process, each as a line.
func commits(objects, id string) (out []string) {
	r := gitobjects.New(objects, len(id)/2)
	defer r.Close()
	for isID(id) && len(out) < stateCommits {
		raw, _ := hex.DecodeString(id)
		text, err := r.Commit(raw)
		if err != nil {
			break
		}
		header, message, _ := strings.Cut(string(text), "\n\n")
		subject, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
		out = append(out, oneLine(id[:10]+" "+subject))
		_, parents, _ := strings.Cut(header, "\nparent ")
		id, _, _ = strings.Cut(parents, "\n")
	}
	return out
}

// changed returns how many files are changed or untracked, -1 if they cannot be counted
// without running a program of the repository.
func (g *Git) changed(ctx context.Context, dir, own, common string) int {
	if filters(own, common) {
		return -1
	}
	out, err := g.Run(ctx, dir, nil, nil, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all")
	if err != nil {
		return -1
	}
	return strings.Count(string(out), "\n")
}

// oneLine returns a text of the repository as one short line: anybody may have written it.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == '`' }), " ")
	return cut.Runes(s, stateSubject)
}

// extensions are those of the files of each language.
var extensions = map[string]string{
	".go": "Go", ".py": "Python", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".rb": "Ruby", ".php": "PHP", ".cs": "C#", ".swift": "Swift",
	".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript",
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".scala": "Scala", ".ex": "Elixir", ".exs": "Elixir", ".hs": "Haskell",
	".lua": "Lua", ".sh": "shell", ".zig": "Zig", ".dart": "Dart", ".vue": "Vue", ".svelte": "Svelte",
}

// languages returns the languages of most files below a folder in an index, with their
// number.
func languages(index, below string) (out []string) {
	f, err := os.Open(index)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	count := map[string]int{}
	var names []string
	_, err = gitindex.Read(f, st.Size(), below, sha1.Size, func(e *gitindex.Entry) {
		name := extensions[strings.ToLower(path.Ext(string(e.Path)))]
		if name == "" {
			return
		}
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	})
	if err != nil { // its form is not known here
		return nil
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	for _, n := range names[:min(len(names), stateLanguages)] {
		out = append(out, fmt.Sprintf("%s (%d)", n, count[n]))
	}
	return out
}
