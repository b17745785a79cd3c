package rules

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// This file reads folders of rules, in the forms of Claude Code (paths) and Cursor (globs,
// alwaysApply, description). A rule without paths is read at the start, one with paths when
// the model sees a file that matches. A rule that has only a description is told by that.

// Limits of a folder of rules: its files, and the depth of its subfolders.
const (
	maxRuleFiles = 100
	maxRuleDepth = 3
)

// ownClaude is the folder of the person's own rules, below the home.
const ownClaude = ".claude"

// home returns the person's own rules in Claude Code's places.
func (l *loader) home() []candidate {
	if l.o.Home == "" || filepath.Clean(l.o.Home) == filepath.Clean(l.o.Root) { // then they are the project's
		return nil
	}
	bound := filepath.Join(l.o.Home, ownClaude)
	out := l.ruleFiles(l.o.Home, bound, User, "")
	if c, ok := firstOf(bound, "CLAUDE.md"); ok {
		c.bound, c.scope = bound, User
		out = append(out, c)
	}
	return out
}

// ruleFiles returns the files in the folders of rules of a folder. Those of the person are
// only in Claude Code's.
func (l *loader) ruleFiles(dir, bound string, scope Scope, file string) (out []candidate) {
	if dir == "" || scope == User && filepath.Clean(dir) == filepath.Clean(l.o.Root) {
		return nil
	}
	for _, name := range guidance.RuleFolders {
		if scope == User && !strings.HasPrefix(name, ownClaude+"/") {
			continue
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		n := 0
		_ = filepath.WalkDir(at, func(p string, d fs.DirEntry, err error) error { // what cannot be listed has no rules
			switch {
			case err != nil:
				return fs.SkipDir
			case d.IsDir() && strings.Count(strings.TrimPrefix(p, at), string(filepath.Separator)) > maxRuleDepth:
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(p) != ".md" && filepath.Ext(p) != ".mdc":
				return nil
			}
			if n++; n > maxRuleFiles {
				l.warn("%s has more than %d files: the others were not read", l.show(at), maxRuleFiles)
				return fs.SkipAll
			}
			out = append(out, candidate{path: p, bound: bound, scope: scope, rule: true, file: file})
			return nil
		})
	}
	return out
}

// applies returns the text of a rule without its front matter, "" if it does not apply
// now.
func (l *loader) applies(c candidate, shown, raw string) string {
	fields, body, err := frontmatter.Parse(raw)
	if err != nil {
		l.warn("%s was not read: %v", shown, err)
		return ""
	}
	var globs []string
	for _, key := range [...]string{"paths", "globs"} {
		for _, g := range textsOf(fields[key]) {
			if !doublestar.ValidatePattern(g) {
				l.warn("%s: the pattern %q of %s cannot be read, and matches nothing", shown, g, key)
			}
			globs = append(globs, g)
		}
	}
	if fields.Text("alwaysapply") == "true" {
		globs = nil
	}
	about := fields.Text("description")
	switch {
	case len(globs) > 0:
		if c.file == "" || !matchesAny(globs, filepath.ToSlash(c.file)) {
			return ""
		}
	case c.file != "": // it was read at the start
		return ""
	case filepath.Ext(c.path) == ".mdc" && fields.Text("alwaysapply") != "true": // Cursor's are otherwise for requests
		if about == "" {
			return ""
		}
		return fmt.Sprintf("Read this file before a task about: %s", about)
	}
	return body
}

// textsOf returns the patterns of a key: a list, or a text with commas outside of braces.
func textsOf(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			out = append(out, textsOf(one)...)
		}
	case string:
		deep, from := 0, 0
		for i, r := range v + "," {
			switch {
			case r == '{':
				deep++
			case r == '}':
				deep--
			case r == ',' && deep <= 0:
				if p := strings.Trim(v[from:i], " \t\n\"'"); p != "" {
					out = append(out, p)
				}
				from = i + 1
			}
		}
	}
	return out
}

// matchesAny reports whether a pattern matches a path of the workspace; one without a
// slash matches a name in any folder.
func matchesAny(globs []string, file string) bool {
	for _, g := range globs {
		if g = strings.TrimPrefix(strings.TrimPrefix(g, "./"), "/"); !strings.Contains(g, "/") {
			g = "**/" + g
		}
		if ok, err := doublestar.Match(g, file); err == nil && ok {
			return true
		}
	}
	return false
}
