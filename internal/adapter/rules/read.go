package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// readLimit is how many bytes of one file are read: more than any limit on rules.
const readLimit = 1 << 20

// loader reads files below a few roots.
type loader struct {
	ctx      context.Context
	o        Options
	roots    map[string]*os.Root
	warnings []string
	paths    []string // Set.Read
}

// maxPaths is how many paths are told as read.
const maxPaths = 500

// reads adds paths that were read.
func (l *loader) reads(paths ...string) {
	for _, p := range paths {
		if len(l.paths) < maxPaths && !slices.Contains(l.paths, p) {
			l.paths = append(l.paths, p)
		}
	}
}

func (l *loader) close() {
	for _, r := range l.roots {
		_ = r.Close() // opened to read
	}
}

// root opens a folder, to read below it, once. path is its real path. close closes it.
func (l *loader) root(path string) (*os.Root, error) {
	if r := l.roots[path]; r != nil {
		return r, nil
	}
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if l.roots == nil {
		l.roots = map[string]*os.Root{}
	}
	l.roots[path] = r
	return r, nil
}

// refused explains why a file is not used, as the end of a sentence.
type refused string

func (r refused) Error() string { return string(r) }

// real returns the target of a path, relative to bound, and the real path of bound. A
// target outside bound is refused. own marks a user's own file, which may be in a
// repository of settings.
func (l *loader) real(path, bound string, own bool) (string, string, error) {
	bound, err := filepath.EvalSymlinks(bound)
	if err != nil {
		return "", "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", "", err
	}
	rel, ok := within(bound, real)
	if !ok {
		where := l.show(bound)
		if where == "." {
			where = "the workspace"
		}
		return "", "", refused("it points outside " + where)
	}
	if own {
		return rel, bound, hidden(bound, rel)
	}
	return rel, bound, others(bound, rel)
}

// others returns an error for files of other projects and for those that hidden refuses.
func others(bound, rel string) error {
	dir := bound
	parts := strings.Split(filepath.ToSlash(rel), "/")
	for _, p := range parts[:len(parts)-1] {
		if strings.EqualFold(p, "vendor") || strings.EqualFold(p, "node_modules") {
			return refused("what is in " + p + " belongs to other people")
		}
		if dir = filepath.Join(dir, p); gitrepo.Is(dir) {
			return refused("it is in a submodule or another repository")
		}
	}
	return hidden(bound, rel)
}

// hidden returns an error for files that must not be rules: files of git, and secrets.
func hidden(bound, rel string) error {
	for p := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.EqualFold(p, ".git") {
			return refused("it is git's own")
		}
	}
	if secrets.LooksSecret(rel) || secrets.LooksSecret(filepath.Join(bound, rel)) {
		return refused("it may contain secrets")
	}
	return nil
}

// slurp reads a regular file, at most readLimit bytes. id is the same for the same file.
func (l *loader) slurp(path, bound string, own bool) (data, id string, err error) {
	rel, bound, err := l.real(path, bound, own)
	if err != nil {
		return "", "", err
	}
	root, err := l.root(bound)
	if err != nil {
		return "", "", err
	}
	// The path has no symbolic link left. os.Root follows a link that appears now only if
	// it stays inside.
	info, err := root.Lstat(rel)
	if err != nil {
		return "", "", err
	}
	if !info.Mode().IsRegular() {
		return "", "", notRegular(info.Mode())
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return "", "", refused("it was replaced while it was read")
	}
	raw, err := io.ReadAll(io.LimitReader(f, readLimit))
	if err != nil {
		return "", "", err
	}
	if strings.IndexByte(string(raw[:min(len(raw), 8000)]), 0) >= 0 {
		return "", "", refused("it is not text")
	}
	return string(raw), filepath.Join(bound, rel), nil
}

func notRegular(m fs.FileMode) error {
	switch {
	case m.IsDir():
		return errFolder
	case m&fs.ModeNamedPipe != 0:
		return refused("it is a named pipe")
	case m&fs.ModeDevice != 0:
		return refused("it is a device")
	}
	return refused("it is not a regular file")
}

const errFolder = refused("it is a folder")

// top reads a rules file with its imports. The user's own file may be a link within the
// home folder, as many people organize their settings.
func (l *loader) top(c candidate) (File, string, bool) {
	f := File{Path: l.show(c.path), Scope: c.scope}
	bound := c.bound
	if _, ok := within(l.o.Home, c.path); ok && c.scope == User {
		bound = l.o.Home
	}
	raw, id, err := l.slurp(c.path, bound, c.scope == User)
	l.reads(c.path)
	if err != nil {
		l.warn("%s was not read: %s", f.Path, reason(err))
		return f, "", false
	}
	l.reads(id)
	if c.rule {
		if raw = l.applies(c, f.Path, raw); raw == "" {
			return f, "", false
		}
	}
	im := &importer{l: l, file: &f, bound: c.bound, left: ImportLimit, seen: map[string]bool{id: true}}
	text := im.expand(im.clean(raw, f.Path), c.path, 0)
	return f, strings.Trim(text, "\n"), true
}

// importer expands the imports of one rules file.
type importer struct {
	l     *loader
	file  *File
	bound string
	left  int             // bytes that may still be imported
	seen  map[string]bool // files that are in the text already; they end cycles
}

// clean returns a text with its invisible characters shown, and warns about them.
func (im *importer) clean(raw, name string) string {
	text, hidden := visible(raw)
	if hidden > 0 {
		im.l.warn("%s holds invisible characters (%d): they are shown as \\u{…}", name, hidden)
	}
	return text
}

// expand returns the text with each imported text after the line that imports it. path is
// the text's file; depth is 0 for a rules file itself.
func (im *importer) expand(text, path string, depth int) string {
	refs := imports(text)
	if len(refs) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, r := range refs {
		block := im.one(r.path, path, depth+1)
		if block == "" {
			continue
		}
		if line := text[r.from:r.to]; strings.TrimSpace(line) == "@"+r.path { // nothing else on the line: the content replaces it
			b.WriteString(text[at:r.from])
		} else if at < r.to {
			b.WriteString(text[at:r.to])
			b.WriteString("\n")
		}
		b.WriteString(block)
		at = r.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// one returns the text of one import, "" if it is not used.
func (im *importer) one(ref, from string, depth int) string {
	path := im.locate(ref, from)
	info, err := os.Lstat(path)
	if _, there := os.Lstat(filepath.Dir(path)); there == nil || likely(ref) { // @types/node is no file that will be
		im.l.reads(path)
	}
	if err != nil {
		if likely(ref) {
			im.l.warn("%s imports %s, which was not read: %s", im.l.show(from), shown(ref), reason(err))
		}
		return ""
	}
	if info.IsDir() {
		return ""
	}
	no := func(err error) string {
		im.l.warn("%s imports %s, which was not read: %s", im.l.show(from), shown(ref), reason(err))
		return ""
	}
	if im.l.ctx.Err() != nil {
		return ""
	}
	if depth > ImportDepth {
		return no(refused(fmt.Sprintf("imports go %d deep at most", ImportDepth)))
	}
	raw, id, err := im.l.slurp(path, im.bound, im.file.Scope == User)
	if errors.Is(err, errFolder) {
		return ""
	}
	if err != nil {
		return no(err)
	}
	im.l.reads(id)
	if im.seen[id] {
		return ""
	}
	name := im.l.show(path)
	text := strings.Trim(im.clean(raw, name), "\n")
	if len(text) > im.left {
		return no(refused("a file may import " + kilobytes(ImportLimit) + " in all"))
	}
	im.seen[id] = true
	im.left -= len(text)
	im.file.Imports = append(im.file.Imports, name)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "(from " + name + ")\n" + strings.TrimRight(im.expand(text, path, depth), "\n") + "\n(end of " + name + ")"
}

// locate returns the path of an imported file.
func (im *importer) locate(ref, from string) string {
	if rest, ok := strings.CutPrefix(ref, "~/"); ok && im.l.o.Home != "" {
		return filepath.Join(im.l.o.Home, filepath.FromSlash(rest))
	}
	p := filepath.FromSlash(ref)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(filepath.Dir(from), p)
}

func shown(ref string) string {
	if len(ref) > 200 {
		ref = cut(ref, 200) + "…"
	}
	return ref
}
