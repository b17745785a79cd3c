package session

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file finds what a command line destroys that no undo brings back
// (SPEC 11.1): what the journal keeps no copy of, and what it does not look at.

// maxDestroyed is how many such files are looked for and named.
const maxDestroyed = 20

// unrestorable lists files that a command is known to destroy and that could
// not be put back.
func (s *Session) unrestorable(ctx context.Context, p *turn.Pending) []string {
	if s.watch == nil || !p.Footprint.Unknown {
		return nil
	}
	out := s.ignoredOf(ctx, p.Footprint.Commands)
	named := s.words(p.Footprint.Commands)
	if len(named.strict) == 0 || s.watch.glance(ctx, s) != nil {
		return out
	}
	for _, name := range s.watch.Lost(named.strict, maxDestroyed) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ignoredOf lists what commands remove or write over that is there and ignored:
// no copy is ever made of it.
func (s *Session) ignoredOf(ctx context.Context, cmds []shellsyntax.Command) []string {
	var out []string
	for _, c := range cmds {
		e := command.Effects(c)
		program, _ := c.Program()
		gone, over := e.Removes, []shellsyntax.Word(nil)
		if e.Kind != command.Writes || program == "mv" { // what is moved is there still
			gone = nil
		}
		switch program {
		case "mv", "cp", "install", "tee", "truncate", "dd", "shred":
			over = slices.Clone(e.Writes)
		}
		for _, r := range c.Redirects {
			if r.Writes() && r.Op != ">>" && r.Op != "&>>" {
				over = append(over, r.Target)
			}
		}
		for i, w := range append(slices.Clone(gone), over...) {
			for _, name := range s.spelt(ctx, c, w) {
				if len(out) < maxDestroyed && !slices.Contains(out, name) && s.isIgnored(ctx, name, i < len(gone)) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// spelt gives the paths in the workspace that a word names, those that a
// pattern fits included.
func (s *Session) spelt(ctx context.Context, c shellsyntax.Command, w shellsyntax.Word) []string {
	glob := w.Glob && !strings.ContainsAny(w.Text, "\\'\"$")
	if !w.Known && !glob || w.Text == "" {
		return nil
	}
	w.Known = true
	paths, _ := c.Paths(w)
	var out []string
	for _, p := range paths {
		rel, ok := s.inside(path.Clean(p))
		switch {
		case !ok:
		case !glob:
			out = append(out, rel)
		default:
			es, err := s.cfg.Files.List(ctx, path.Dir(rel))
			if err != nil {
				continue // nothing there that it could fit
			}
			for _, e := range es {
				if fits, err := path.Match(path.Base(rel), e.Name); err == nil && fits {
					out = append(out, path.Join(path.Dir(rel), e.Name))
				}
			}
		}
	}
	return out
}

// isIgnored reports whether a path is there and it, or a folder above it, is
// ignored.
func (s *Session) isIgnored(ctx context.Context, name string, folders bool) bool {
	if name == "." {
		return false
	}
	parts, dir, ignored := strings.Split(name, "/"), ".", false
	for i, part := range parts {
		es, err := s.cfg.Files.List(ctx, dir)
		at := -1
		if err == nil {
			for j, e := range es {
				if e.Name == part {
					at = j
				}
			}
		}
		if at < 0 {
			return false
		}
		ignored = ignored || es[at].Ignored
		if last := i == len(parts)-1; last {
			return ignored && (folders || !es[at].Dir)
		}
		dir = path.Join(dir, part)
	}
	return false
}

// destroyed words, for the person and the model, what became of ignored files
// that a command was to destroy.
func (s *Session) destroyed(ctx context.Context, names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.isIgnored(ctx, name, true) })
	if len(names) == 0 {
		return ""
	}
	return "[cannot be undone: " + few(names) + ": ignored files, of which no copy is kept]\n"
}
