package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// ignoreMax is the size limit of an ignore file, in bytes.
const ignoreMax = 1 << 20

// files lists the files below a folder that are not ignored, relative to it and
// sorted. In a repository git decides. A folder that git ignores as a whole was
// named explicitly, so it is walked.
func (w *Workspace) files(ctx context.Context, p place) ([]string, error) {
	if git, repo := w.gitOf(p); git != nil {
		names, err := git.files(ctx, p.abs, repo)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && len(names) > 0:
			return w.nested(ctx, p, names)
		}
		// git is missing, refuses the repository, or ignores the folder.
	}
	k := walk{ctx: ctx}
	dir, err := w.folder(p)
	if err != nil {
		return nil, wrapError("list", p.clean, err)
	}
	defer dir.Close()
	k.root = dir
	if err := k.into("", nil); err != nil {
		return nil, err
	}
	slices.Sort(k.out)
	return k.out, nil
}

// gitOf returns the git that knows a folder, and the folder's repository; nil
// if there is none.
func (w *Workspace) gitOf(p place) (*Git, string) {
	if w.git == nil {
		return nil, ""
	}
	repo := repository(p.abs)
	switch {
	case repo == "":
		return nil, ""
	case p.inside: // the sandbox permits reading the workspace's own repository
		return w.git, repo
	}
	return w.git.Reading(repo), repo
}

// nested replaces the folders of nested repositories by their files.
func (w *Workspace) nested(ctx context.Context, p place, names []string) ([]string, error) {
	out := make([]string, 0, len(names))
	for _, n := range names {
		dir, ok := strings.CutSuffix(n, "/")
		switch {
		case isTemp(path.Base(n)):
		case !ok:
			out = append(out, n)
		default:
			q, err := w.resolve(path.Join(p.clean, dir))
			if err != nil || w.allowed(q) != nil || repository(q.abs) != q.abs {
				continue // an empty submodule, or one that is gone
			}
			inner, err := w.files(ctx, q)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				continue
			}
			for _, f := range inner {
				out = append(out, n+f)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// walk lists files without git. It lists symlinks and does not follow them, so it ends.
type walk struct {
	ctx  context.Context
	root *os.Root
	out  []string
}

func (k *walk) into(rel string, chain []rules) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	entries, err := readDir(k.root, rel)
	if err != nil {
		if rel == "" {
			return wrapError("list", k.root.Name(), err)
		}
		return nil // unreadable or gone: the rest still counts
	}
	for _, e := range entries {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			if text, err := readSmall(k.root, rel+e.Name()); err == nil {
				chain = append(slices.Clip(chain), parseIgnore(rel, text))
			}
		}
	}
	for _, e := range entries {
		name := rel + e.Name()
		if e.Name() == ".git" || ignored(chain, name, e.IsDir()) || isTemp(e.Name()) {
			continue
		}
		if !e.IsDir() {
			k.out = append(k.out, name)
		} else if err := k.into(name+"/", chain); err != nil {
			return err
		}
	}
	return nil
}

func readDir(root *os.Root, rel string) ([]fs.DirEntry, error) {
	d, err := root.Open(path.Clean("./" + rel))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

func readSmall(root *os.Root, rel string) (string, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, ignoreMax))
	return string(b), err
}

// base resolves the folder of a search.
func (w *Workspace) base(dir string) (place, fs.FileInfo, error) {
	p, err := w.resolve(cmp.Or(dir, "."))
	if err != nil {
		return p, nil, err
	}
	if err := w.lists(p); err != nil {
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
	p, info, err := w.base(dir)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, &sentence{p.clean + " is a file, not a folder", fs.ErrInvalid}
	}
	names, err := w.files(ctx, p)
	if err != nil {
		return nil, false, err
	}
	type hit struct {
		name string
		time time.Time
	}
	var hits []hit
	root, err := w.folder(p)
	if err != nil {
		return nil, false, wrapError("list", p.clean, err)
	}
	defer root.Close()
	for i, n := range names {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if !match(n) {
			continue
		}
		// git also lists deleted files; those are left out.
		if info, err := root.Lstat(n); err == nil && !info.IsDir() {
			hits = append(hits, hit{n, info.ModTime()})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.time.Compare(a.time) })
	more := limit > 0 && len(hits) > limit
	if more {
		hits = hits[:limit]
	}
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = p.join(h.name)
	}
	return out, more, nil
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
	p, info, err := w.base(dir)
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
	skip, err := w.ignoredIn(ctx, p, root, entries)
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

// ignoredIn returns which entries of a folder are ignored.
func (w *Workspace) ignoredIn(ctx context.Context, p place, root *os.Root, entries []fs.DirEntry) (func(fs.DirEntry) bool, error) {
	if git, _ := w.gitOf(p); git != nil {
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name()
		}
		set, err := git.ignored(ctx, p.abs, names)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			return func(e fs.DirEntry) bool { return set[e.Name()] || e.Name() == ".git" }, nil
		}
	}
	var chain []rules
	for up, rel := p, ""; up.inside; up = w.parent(up) {
		dir, err := w.folder(up)
		if err != nil {
			break
		}
		if text, err := readSmall(dir, ".gitignore"); err == nil {
			r := parseIgnore("", text)
			r.down = rel
			chain = append(chain, r)
		}
		dir.Close()
		if up.abs == w.root {
			break
		}
		rel = up.base() + "/" + rel
	}
	slices.Reverse(chain)
	return func(e fs.DirEntry) bool { return e.Name() == ".git" || ignored(chain, e.Name(), e.IsDir()) }, nil
}
