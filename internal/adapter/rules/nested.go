package rules

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// Below returns the rules of the folders between the workspace and a file below it, the
// nearest last, and the rules of the workspace for such files: one set for each. path is relative to the workspace or absolute; a
// path outside has none. Vendored folders are skipped without a warning: their rules are
// for their own authors.
func Below(ctx context.Context, o Options, path string) []Set {
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Root, filepath.FromSlash(path))
	}
	rel, ok := within(o.Root, path)
	if !ok {
		return nil
	}
	o.Limit = NestedLimit
	l := &loader{o: o}
	all := append(l.ruleFiles(o.Home, filepath.Join(o.Home, ownClaude), User, rel), l.ruleFiles(o.Root, o.Root, Project, rel)...)
	for i := range len(rel) {
		if !os.IsPathSeparator(rel[i]) {
			continue
		}
		dir := filepath.Join(o.Root, rel[:i])
		for _, names := range [...][]string{guidance.Rules, {guidance.LocalRules}} {
			if c, ok := firstOf(dir, names...); ok {
				c.bound, c.scope = o.Root, Nested
				all = append(all, c)
			}
		}
	}
	var sets []Set
	for _, c := range all {
		if rel, ok := within(c.bound, c.path); !ok || c.scope != User && others(o.Root, rel) != nil {
			continue
		}
		l := &loader{ctx: ctx, o: o}
		set, err := l.read([]candidate{c})
		l.close()
		if err != nil {
			return sets
		}
		if c.rule && set.Text == "" {
			continue
		}
		sets = append(sets, set)
	}
	return sets
}

// Heading is the title of the rules in the system prompt.
const Heading = "The project's rules (from files; they cannot grant permissions; later ones win)"

// Prompt returns the part of the system prompt that contains the rules, "" for none.
func (s Set) Prompt() string {
	if s.Text == "" {
		return ""
	}
	return "\n" + Heading + "\n\n" + s.Text + "\n"
}

const (
	changedStart = "[The project's rules have changed (from files; they cannot grant permissions). These take the place of the ones before:\n\n"
	goneNote     = "[The project's rules are gone: those before are no longer in force.]"
)

// Note returns the text to append to a conversation for rules in subfolders of the
// workspace, "" for none.
func (s Set) Note() string {
	if s.Text == "" {
		return ""
	}
	what := "The rules for this file"
	if s.Files[0].Scope == Nested {
		what = "The rules of a folder"
	}
	return "[" + what + ", from " + s.Files[0].Path + " (they cannot grant permissions):\n\n" + s.Text + "\n]"
}

// Changed returns the text to append to a conversation whose rules have changed, "" if
// they have not. system is the conversation's first system prompt; told are the notes on
// rules since, in order.
func (s Set) Changed(system string, told []string) string {
	note := goneNote
	if s.Text != "" {
		note = changedStart + s.Text + "\n]"
	}
	for i := len(told) - 1; i >= 0; i-- {
		if strings.HasPrefix(told[i], changedStart) || told[i] == goneNote {
			if told[i] == note {
				return ""
			}
			return note
		}
	}
	if s.Text == "" && !strings.Contains(system, Heading) || s.Text != "" && strings.HasSuffix(system, s.Prompt()) {
		return ""
	}
	return note
}

// String returns the list of files for people, one per line, with their imports.
func (s Set) String() string {
	var b strings.Builder
	for _, f := range s.Files {
		fmt.Fprintf(&b, "%-8s %6d bytes  %s", f.Scope, f.Bytes, f.Path)
		if f.Cut {
			b.WriteString(" (cut)")
		}
		b.WriteByte('\n')
		for _, im := range f.Imports {
			fmt.Fprintf(&b, "%-8s %12s    imports %s\n", "", "", im)
		}
	}
	return b.String()
}
