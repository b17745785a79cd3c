package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// gitOf returns the git that knows a folder, and the folder's repository; nil
// if there is none.
func (w *Workspace) gitOf(p place) (*Git, string) {
	if w.git == nil {
		return nil, ""
	}
	repo := gitrepo.Above(p.abs)
	for repo != "" && !isRepository(repo) { // as git does, which looks further up
		if up := filepath.Dir(repo); up != repo {
			repo = gitrepo.Above(up)
		} else {
			repo = ""
		}
	}
	switch {
	case repo == "":
		return nil, ""
	case p.inside: // the sandbox permits reading the workspace's own repository
		return w.git, repo
	}
	return w.git.Reading(repo), repo
}

func readDir(root *os.Root, rel string) ([]fs.DirEntry, error) {
	d, err := root.Open(path.Clean("./" + rel))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

func (w *Workspace) searchFolder(dir string) (place, fs.FileInfo, error) {
	p, err := w.resolve(cmp.Or(dir, "."))
	if err != nil {
		return p, nil, err
	}
	if err := w.checkList(p); err != nil {
		return p, nil, err
	}
	info, err := os.Lstat(p.abs)
	if err != nil {
		return p, nil, wrapError("search", p.clean, err)
	}
	return p, info, nil
}

// join returns the span path of a file below a folder.
func (p place) join(rel string) string {
	if p.clean == "." {
		return rel
	}
	return path.Join(p.clean, rel)
}

// Glob lists files below dir that match pattern, newest first, by name if times
// are equal. A pattern without a slash matches names at any depth. Ignored
// files are left out. more reports whether limit (0: none) cut the list.
func (w *Workspace) Glob(ctx context.Context, dir, pattern string, limit int) ([]string, bool, error) {
	match, err := globber(pattern)
	if err != nil {
		return nil, false, err
	}
	p, info, err := w.searchFolder(dir)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, &sentence{p.clean + " is a file, not a folder", fs.ErrInvalid}
	}
	g := &globbing{match: match, limit: limit, parts: make([]part, maxWorkers)}
	t, err := w.treeOf(ctx, p)
	if err != nil {
		return nil, false, err
	}
	defer t.close()
	t.visit = g.visit
	if err := t.all(); err != nil {
		return nil, false, err
	}
	out, more := g.newest()
	for i := range out {
		out[i] = p.join(out[i])
	}
	return out, more, nil
}

// globbing gathers the newest of the files that match. Each thread has a part.
type globbing struct {
	match func(string) bool
	limit int // 0: none
	parts []part
}

type part struct {
	hits []hit
	n    int
}

type hit struct {
	name string
	time time.Time
}

func (g *globbing) visit(worker int, in *folder, at string, names []string) {
	p := &g.parts[worker]
	for _, n := range names {
		if !g.match(at + n) {
			continue
		}
		if when, ok := in.changed(n); ok {
			p.hits = append(p.hits, hit{at + n, when})
			p.n++
		}
	}
	if g.limit > 0 && len(p.hits) > 4*g.limit+1000 {
		p.hits = first(p.hits, g.limit)
	}
}

// newest returns the names, newest first, by name if times are equal.
func (g *globbing) newest() (out []string, more bool) {
	var all part
	for _, p := range g.parts {
		all.hits, all.n = append(all.hits, p.hits...), all.n+p.n
	}
	limit := g.limit
	if limit <= 0 {
		limit = all.n
	}
	for _, h := range first(all.hits, limit) {
		out = append(out, h.name)
	}
	return out, all.n > limit
}

func first(hits []hit, n int) []hit {
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.time.Compare(a.time), strings.Compare(a.name, b.name))
	})
	return hits[:min(n, len(hits))]
}

// globber compiles a glob for paths relative to the searched folder. An empty
// pattern matches every file.
func globber(pattern string) (func(string) bool, error) {
	pattern = strings.TrimPrefix(pattern, "./")
	if pattern == "" {
		return func(string) bool { return true }, nil
	}
	if rest, ok := strings.CutPrefix(pattern, "!"); ok {
		match, err := globber(rest)
		return func(s string) bool { return !match(s) }, err
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, &sentence{fmt.Sprintf("the glob %q is malformed: use * ? ** [a-z] {a,b}", pattern), doublestar.ErrBadPattern}
	}
	if strings.Contains(pattern, "/") {
		return func(s string) bool { return doublestar.MatchUnvalidated(pattern, s) }, nil
	}
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok && !strings.ContainsAny(suffix, `*?[]{}\`) {
		return func(s string) bool { return strings.HasSuffix(s, suffix) }, nil
	}
	return func(s string) bool { return doublestar.MatchUnvalidated(pattern, path.Base(s)) }, nil
}

// List lists a folder, sorted by name, folders and files mixed. Ignored entries
// are marked.
func (w *Workspace) List(ctx context.Context, dir string) ([]tool.Entry, error) {
	p, info, err := w.searchFolder(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &sentence{p.clean + " is a file, not a folder", fs.ErrInvalid}
	}
	root, err := w.folder(p)
	if err != nil {
		return nil, wrapError("list", p.clean, err)
	}
	defer root.Close()
	entries, err := readDir(root, "")
	if err != nil {
		return nil, wrapError("list", p.clean, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	skip, err := w.ignoredIn(ctx, p, entries)
	if err != nil {
		return nil, err
	}
	out := make([]tool.Entry, 0, len(entries))
	for _, e := range entries {
		t := tool.Entry{Name: e.Name(), Dir: e.IsDir(), Ignored: skip(e)}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			t.Size = info.Size()
		}
		if e.Type()&fs.ModeSymlink != 0 {
			t.Link, _ = root.Readlink(e.Name())
		}
		out = append(out, t)
	}
	return out, nil
}

func (w *Workspace) ignoredIn(ctx context.Context, p place, entries []fs.DirEntry) (func(fs.DirEntry) bool, error) {
	git, top := w.gitOf(p)
	if git != nil {
		j, err := w.judgeOf(ctx, git, top, p.abs)
		set := map[string]bool{".git": true}
		for _, e := range entries {
			if err != nil {
				break
			}
			set[e.Name()], err = j.ignores(e.Name(), e.IsDir())
		}
		if errors.Is(err, errAskGit) {
			names := make([]string, len(entries))
			for i, e := range entries {
				names[i] = e.Name()
			}
			set, err = git.ignored(ctx, p.abs, names)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			return func(e fs.DirEntry) bool { return set[e.Name()] || e.Name() == ".git" }, nil
		}
	}
	var ups []place
	for up := p; up.inside; up = w.parent(up) {
		if ups = append(ups, up); up.abs == w.root {
			break
		}
	}
	j := &judge{}
	for i, up := range slices.Backward(ups) {
		if text, err := ruleFile(filepath.Join(up.abs, ignoreName)); err == nil {
			j.rules = j.rules.With(j.prefix, "", text)
		}
		if i > 0 {
			j = j.child(ups[i-1].base(), false)
		}
	}
	return func(e fs.DirEntry) bool {
		ignored, _ := j.ignores(e.Name(), e.IsDir()) // nothing is tracked, so nothing can fail
		return ignored
	}, nil
}

// Entry returns List's entry for a path. It does not follow a link. A file in an ignored
// folder is ignored, unless git tracks it.
func (w *Workspace) Entry(ctx context.Context, name string) (tool.Entry, error) {
	p, err := w.resolveTo(name, true)
	if err != nil {
		return tool.Entry{}, err
	}
	if err := w.checkList(p); err != nil {
		return tool.Entry{}, err
	}
	info, err := os.Lstat(p.abs)
	if err != nil {
		return tool.Entry{}, wrapError("look at", p.clean, err)
	}
	e := tool.Entry{Name: p.base(), Dir: info.IsDir()}
	if info.Mode().IsRegular() {
		e.Size = info.Size()
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		e.Link, _ = os.Readlink(p.abs)
	}
	entry := fs.FileInfoToDirEntry(info)
	for p.abs != w.root && !e.Ignored {
		up := w.parent(p)
		if up.abs == p.abs {
			break
		}
		ignored, err := w.ignoredIn(ctx, up, []fs.DirEntry{entry})
		if err != nil {
			return tool.Entry{}, err
		}
		e.Ignored = ignored(entry)
		// The content of an ignored folder is ignored, too. If git knows the folder, its
		// answer covers this already, except for a repository in an ignored folder.
		if git, top := w.gitOf(up); git != nil {
			if top == w.root || !strings.HasPrefix(top, w.root+string(filepath.Separator)) {
				break
			}
			up = w.placeOf(top)
		}
		if info, err = os.Lstat(up.abs); err != nil {
			break
		}
		p, entry = up, fs.FileInfoToDirEntry(info)
	}
	return e, nil
}
