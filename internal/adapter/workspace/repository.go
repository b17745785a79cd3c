package workspace

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
)

// This file knows which files of a repository git ignores, without a git process for
// each question. Git is asked once where its files are and which settings apply. Its
// answer is kept until one of the files that it depends on changes; these are small, so
// they are compared whole. The rules and the index are read here. Anything that may be
// read differently from git is an error, and then git is asked.

// errAskGit means that only git can tell.
var errAskGit = errors.New("only git can tell what it ignores here")

// errNoRepository means that git finds no repository whose files these are.
var errNoRepository = errors.New("no repository of these files")

// repo is a repository whose rules are known.
type repo struct {
	index   string
	idLen   int
	outer   []string // rule files that are not in the tree, weakest first
	sources []source // what git's answers were taken from

	set    *gitindex.Set // of the index, nil before it is needed
	setOf  fs.FileInfo
	setEnd gitindex.End
}

// source is a file as it was, or that there was none.
type source struct {
	path string
	text []byte
	is   bool
}

const sourceMax = IgnoreMax

func readSource(p string) source {
	s := source{path: p}
	text, err := plainfile.Read(p, sourceMax-1)
	s.text, s.is = text, err == nil
	return s
}

func (r *repo) same() bool {
	for _, s := range r.sources {
		if now := readSource(s.path); now.is != s.is || !bytes.Equal(now.text, s.text) {
			return false
		}
	}
	return len(r.sources) > 0
}

// repositoryOf returns what is known of a repository.
func (w *Workspace) repositoryOf(ctx context.Context, git *Git, top string) (*repo, error) {
	w.mu.Lock()
	r := w.repos[top]
	w.mu.Unlock()
	if r != nil && r.same() {
		return r, nil
	}
	r, err := askRepository(ctx, git, top)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.repos == nil || len(w.repos) >= reposMax {
		w.repos = map[string]*repo{}
	}
	w.repos[top] = r
	return r, nil
}

const reposMax = 64

func askRepository(ctx context.Context, git *Git, top string) (*repo, error) {
	out, err := git.Run(ctx, top, nil, nil, "rev-parse", "--show-toplevel", "--show-object-format", "--git-path", "index", "--git-path", "info/exclude", "--git-common-dir", "--absolute-git-dir")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != 6 || filepath.FromSlash(lines[0]) != top {
		return nil, errNoRepository
	}
	abs := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(top, p)
	}
	r := &repo{index: abs(lines[2]), idLen: sha1.Size}
	if lines[1] == "sha256" {
		r.idLen = sha256.Size
	}
	user := os.Getenv("XDG_CONFIG_HOME")
	if user == "" {
		user = filepath.Join(os.Getenv("HOME"), ".config")
	}
	files := []string{
		filepath.Join(top, ".git"), filepath.Join(abs(lines[4]), "config"), filepath.Join(lines[5], "config.worktree"),
		filepath.Join(os.Getenv("HOME"), ".gitconfig"), filepath.Join(user, "git", "config"),
		"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig",
	}
	// They are read before git is asked: a change in between is noticed later.
	for _, p := range files {
		r.sources = append(r.sources, readSource(p))
	}
	exclude := filepath.Join(user, "git", "ignore")
	out, err = git.Run(ctx, top, nil, nil, "config", "-z", "--show-origin", "--type=path", "--get-regexp",
		`^(core\.(excludesfile|ignorecase|sparsecheckout)|include\.path|includeif\..*)$`)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out = nil // exit code 1: none is set
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		origin, isFile := strings.CutPrefix(fields[i], "file:")
		key, value, _ := strings.Cut(fields[i+1], "\n")
		switch {
		case key == "core.excludesfile":
			exclude = value
		case key == "core.ignorecase" || key == "core.sparsecheckout":
			if value != "false" {
				return nil, errAskGit
			}
		case !isFile || key != "include.path":
			return nil, errAskGit // it depends on a branch or a place
		default:
			if !filepath.IsAbs(value) {
				value = filepath.Join(filepath.Dir(abs(origin)), value)
			}
			r.sources = append(r.sources, readSource(value))
		}
		if isFile && !slices.ContainsFunc(r.sources, func(s source) bool { return s.path == abs(origin) }) {
			r.sources = append(r.sources, readSource(abs(origin)))
		}
	}
	r.outer = []string{abs(exclude), abs(lines[3])}
	return r, nil
}

// tracked returns the paths in the index. They are read again when it changed.
func (w *Workspace) tracked(r *repo) (*gitindex.Set, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := os.Open(r.index)
	if errors.Is(err, fs.ErrNotExist) {
		return &gitindex.Set{}, nil
	}
	if err != nil {
		return nil, errAskGit
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, errAskGit
	}
	end, err := gitindex.EndOf(f, st.Size(), r.idLen)
	if err != nil {
		return nil, errAskGit
	}
	if r.set != nil && end == r.setEnd && end != (gitindex.End{}) && os.SameFile(st, r.setOf) && st.Size() == r.setOf.Size() && st.ModTime().Equal(r.setOf.ModTime()) {
		return r.set, nil
	}
	set, err := gitindex.NewSet(f, st.Size(), "", r.idLen)
	if err != nil {
		return nil, errAskGit
	}
	r.set, r.setOf, r.setEnd = set, st, end
	return set, nil
}

// judge knows what is ignored in one folder and, for a search, below it. Paths
// are relative to its repository, or to the folder where there is none.
type judge struct {
	rules  Ignore
	prefix string // of the folder, "" or with a slash
	// ignored: the folder is ignored, or one above it: only what is tracked is not.
	ignored bool
	tracked func() (*gitindex.Set, error) // nil: git is missing
	// ownRules: the rules are those of the folder's own ignore file, too.
	ownRules bool
	// modules: the repository may have submodules.
	modules bool
}

// judgeOf returns what is ignored in a folder. An error is errNoRepository or errAskGit.
func (w *Workspace) judgeOf(ctx context.Context, git *Git, top, dir string) (*judge, error) {
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return nil, errNoRepository
	}
	r, err := w.repositoryOf(ctx, git, top)
	if err != nil {
		return nil, err
	}
	_, noModules := os.Lstat(filepath.Join(top, ".gitmodules"))
	j := &judge{tracked: sync.OnceValues(func() (*gitindex.Set, error) { return w.tracked(r) }), ownRules: true, modules: noModules == nil}
	for _, p := range r.outer {
		if _, err := os.Stat(p); err != nil {
			continue
		}
		s := readSource(p)
		if !s.is {
			return nil, errAskGit
		}
		j.rules = j.rules.With("", "", string(s.text))
	}
	at := top
	if rel = filepath.ToSlash(rel); rel == "." {
		rel = ""
	}
	for {
		text, err := ruleFile(filepath.Join(at, ignoreName))
		if err != nil {
			return nil, errAskGit
		}
		j.rules = j.rules.With(j.prefix, "", text)
		if rel == "" {
			break
		}
		name, rest, _ := strings.Cut(rel, "/")
		if name == ".git" {
			return nil, errNoRepository
		}
		j.ignored = j.ignored || j.rules.Match(j.prefix+name, true)
		at, rel, j.prefix = filepath.Join(at, name), rest, j.prefix+name+"/"
	}
	if j.rules.differsFromGit() {
		return nil, errAskGit
	}
	return j, nil
}

const ignoreName = ".gitignore"

// ruleFile reads an ignore file in a tree; git follows no link there.
func ruleFile(p string) (string, error) {
	if st, err := os.Lstat(p); err != nil || !st.Mode().IsRegular() {
		return "", nil
	}
	s := readSource(p)
	if !s.is {
		return "", errAskGit
	}
	return string(s.text), nil
}

// ignores reports whether something in the folder is ignored.
func (j *judge) ignores(name string, dir bool) (bool, error) {
	if name == ".git" {
		return true, nil
	}
	if !j.ignored && !j.rules.Match(j.prefix+name, dir) {
		return false, nil
	}
	in, err := j.isTracked(name, dir)
	return !in, err
}

// isTracked reports whether a name in the folder, or something below it, is in git's index.
func (j *judge) isTracked(name string, dir bool) (bool, error) {
	if j.tracked == nil {
		return false, nil
	}
	set, err := j.tracked()
	if err != nil {
		return false, err
	}
	return set.Tracks(j.prefix+name, dir), nil
}

// anyTracked reports whether anything in the folder is in git's index.
func (j *judge) anyTracked() (bool, error) {
	set, err := j.tracked()
	if err != nil {
		return false, err
	}
	return set.Len() > 0 && (j.prefix == "" || set.Below(strings.TrimSuffix(j.prefix, "/"))), nil
}

// child returns the judge of a folder in this one, whose ignore file is not read yet.
func (j *judge) child(name string, closed bool) *judge {
	in := *j
	in.prefix, in.ignored, in.ownRules = j.prefix+name+"/", closed, false
	return &in
}
