// Package rules finds and reads instructions for agents: of each folder AGENTS.md,
// CLAUDE.md, .claude/CLAUDE.md or GEMINI.md, the files of .claude/rules and .cursor/rules
// (scoped.go), CLAUDE.local.md and .pawl/rules.md; .agent/rules.md if a project has none of
// these; and of the user ~/.claude/CLAUDE.md, ~/.claude/rules and pawl's rules.md.
//
// It decides which files count, in which order, and what a file may import. It promises
// that reading is limited in bytes and depth, never blocks on a FIFO and never leaves the
// repository; that invisible characters are shown, except in emoji; and that an unusable
// file is a warning and not an error. The user's own file may link into the home folder,
// but imports only from its own folder. Refused are files that look like secrets, .git,
// vendor, node_modules and submodules: instructions in other people's code are not the
// project's. Rules are text and grant no rights.
package rules

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// Separator separates the texts of two files.
const Separator = "\n\n---\n\n"

const (
	// TotalLimit is the most bytes of rules in a prompt.
	TotalLimit = 96 << 10
	// NestedLimit is the most bytes of the rules of one folder below the workspace.
	NestedLimit = 32 << 10
	// ImportLimit is the most bytes that one rules file may import in all.
	ImportLimit = 64 << 10
	// ImportDepth is the most levels of imports.
	ImportDepth = 5
)

// Scope is the origin of a file's rules.
type Scope string

// The scopes, lowest priority first.
const (
	Legacy  Scope = "legacy"
	User    Scope = "user"
	Project Scope = "project"
	Nested  Scope = "nested" // of a folder below the workspace
)

// Options configures which folders are searched.
type Options struct {
	Root   string // the workspace's real path
	Home   string // the user's home, "" if not known
	Config string // the user's configuration folder, "" for none
	Limit  int    // bytes of text in all; 0: TotalLimit
}

// File is one file that was read.
type File struct {
	Path    string // for display: relative to the workspace, or with ~; made safe
	Bytes   int    // of its text with imports, as in the prompt
	Scope   Scope
	Imports []string // for display, in the order of the text
	Cut     bool     // a part was cut off
}

// Set holds the rules in effect.
type Set struct {
	Text     string // of all files, highest priority last; "" for none
	Files    []File // in the order of the text
	Warnings []string
	// Read are the absolute paths, and the real ones, of all files that were read or that an
	// import names, also where none is there yet: who writes one changes the rules.
	Read []string
}

// Load reads the rules of a workspace. It fails only if ctx ends or the
// workspace does not exist.
func Load(ctx context.Context, o Options) (Set, error) {
	top, err := topOf(o.Root)
	if err != nil {
		return Set{}, err
	}
	l := &loader{ctx: ctx, o: o}
	defer l.close()
	dirs := l.chain(top)
	var project []candidate
	for _, name := range [...][]string{guidance.Rules, {guidance.LocalRules}, {guidance.OwnRules}} {
		for _, dir := range dirs {
			if c, ok := firstOf(dir, name...); ok {
				c.bound, c.scope = top, Project
				project = append(project, c)
			}
			if name[0] == guidance.Rules[0] {
				project = append(project, l.ruleFiles(dir, top, Project, "")...)
			}
		}
	}
	all := l.home()
	if len(project) == 0 {
		if c, ok := firstOf(o.Root, guidance.LegacyRules); ok {
			c.bound, c.scope = top, Legacy
			all = append(all, c)
		}
	}
	if o.Config != "" {
		if c, ok := firstOf(o.Config, "rules.md"); ok {
			c.bound, c.scope = o.Config, User
			all = append(all, c)
		}
	}
	return l.read(append(all, project...))
}

// candidate is a file that exists and may be rules.
type candidate struct {
	path  string // absolute
	bound string // the folder that must contain it and its imports
	scope Scope
	// rule: it is one of a folder of rules, and its front matter says when it applies.
	// file is the file of the workspace that it must be about, "" for any.
	rule bool
	file string
}

// blankLimit is the size up to which a file is read to see whether it is empty.
const blankLimit = 4 << 10

// blank reports whether a file has nothing in it, so that it hides no other.
func blank(path string, i fs.FileInfo) bool {
	if !i.Mode().IsRegular() || i.Size() > blankLimit {
		return false
	}
	text, err := plainfile.Read(path, blankLimit)
	return err == nil && len(bytes.TrimSpace(text)) == 0
}

// firstOf returns the first of the names that exists in a folder and is not empty;
// false if none is.
func firstOf(dir string, names ...string) (candidate, bool) {
	for _, n := range names {
		p := filepath.Join(dir, filepath.FromSlash(n))
		if i, err := os.Lstat(p); err == nil && !blank(p, i) {
			return candidate{path: p}, true
		}
	}
	return candidate{}, false
}

// topOf returns the root of the repository that contains a folder, or else the folder.
func topOf(root string) (string, error) {
	if !filepath.IsAbs(root) {
		return "", fmt.Errorf("read rules: the workspace %q is not an absolute path", root)
	}
	if _, err := os.Stat(root); err != nil {
		return "", fmt.Errorf("read rules: %w", err)
	}
	root = filepath.Clean(root)
	return cmp.Or(gitrepo.Above(root), root), nil
}

// chain returns the folders from the repository's root down to the workspace. Above the
// workspace, folders of other users are ignored: otherwise, after /tmp/.git,
// /tmp/AGENTS.md would be everybody's rules.
func (l *loader) chain(top string) []string {
	root := filepath.Clean(l.o.Root)
	home, err := os.Stat(root)
	if err != nil {
		return nil
	}
	dirs := []string{root}
	for dir := root; dir != top; {
		dir = filepath.Dir(dir)
		if info, err := os.Stat(dir); err != nil || foreign(info, home) {
			if _, ok := firstOf(dir, append(slices.Clone(guidance.Rules), guidance.LocalRules, guidance.OwnRules)...); ok {
				l.warn("rules in %s were not read: the folder belongs to another user", l.show(dir))
			}
			continue
		}
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// read reads candidates and fits them into the limit; those with the lowest priority are
// cut first.
func (l *loader) read(cs []candidate) (Set, error) {
	limit := l.o.Limit
	if limit <= 0 {
		limit = TotalLimit
	}
	var texts []string
	var set Set
	left := limit
	for _, c := range slices.Backward(cs) {
		if err := l.ctx.Err(); err != nil {
			return Set{}, err
		}
		f, text, ok := l.top(c)
		if !ok || strings.TrimSpace(text) == "" {
			continue
		}
		head := "(from " + f.Path + ")\n\n"
		if room := max(left-len(head), 0); len(text) > room {
			f.Cut = true
			l.warn("%s was cut: rules may have %s in all, and %d of its %d bytes fit", f.Path, kilobytes(limit), len(cut(text, room)), len(text))
			text = cut(text, room)
			if text != "" {
				text += "\n[the rest of this file was cut]"
			}
		}
		f.Bytes = len(text)
		set.Files = append(set.Files, f)
		if text != "" {
			texts = append(texts, head+text)
		}
		left = max(left-len(head)-len(text), 0)
	}
	slices.Reverse(texts)
	slices.Reverse(set.Files)
	set.Text, set.Warnings = strings.Join(texts, Separator), l.warnings
	set.Read = l.paths
	return set, l.ctx.Err()
}

// cut returns the complete lines in the first n bytes, or the complete characters if
// there is only one line.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i]
	}
	return strings.TrimRight(s, "\n")
}

func kilobytes(n int) string {
	if n%1024 == 0 {
		return fmt.Sprintf("%d KB", n/1024)
	}
	return fmt.Sprintf("%d bytes", n)
}

// show returns a path for display to people and models.
func (l *loader) show(path string) string {
	s := path
	if rel, ok := within(l.o.Root, path); ok {
		s = rel
	} else if rel, ok := within(l.o.Home, path); ok {
		s = filepath.Join("~", rel)
	} else if rel, err := filepath.Rel(l.o.Root, path); err == nil && strings.Count(rel, "..") <= 8 {
		s = rel
	}
	s, _ = visible(filepath.ToSlash(s))
	return strings.ReplaceAll(s, "\n", `\u{A}`)
}

// within returns path relative to dir; false if it is outside.
func within(dir, path string) (string, bool) {
	if dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// warn adds a warning, unless it is there already.
func (l *loader) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(l.warnings, w) {
		l.warnings = append(l.warnings, w)
	}
}

// reason returns an error's text without the path, which the warning already names.
func reason(err error) string {
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return err.Error()
}
