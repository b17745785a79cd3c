package changes

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file finds files that a command line destroys and that no undo can
// restore (SPEC 11.1): those without a copy in the journal, and those that it
// does not watch.

// maxDestroyed is the largest number of such files that are searched and named.
const maxDestroyed = 20

// Unrestorable names files that a call's command is known to destroy and that
// could not be restored, "" if there are none.
func (r *Recorder) Unrestorable(ctx context.Context, p *turn.Pending, c process.Confine) string {
	if r.keeps(c) { // what it removes is kept, or asked about when it does
		return ""
	}
	return listPaths(r.unrestorable(ctx, p))
}

func (r *Recorder) unrestorable(ctx context.Context, p *turn.Pending) []string {
	if r.tracker == nil || !p.Footprint.Unknown {
		return nil
	}
	out := r.ignored(ctx, p.Footprint.Commands)
	var named []string
	for _, c := range p.Footprint.Commands {
		for _, d := range r.workspace().Destroys(c) {
			named = append(named, r.expand(ctx, d)...)
		}
	}
	if len(named) == 0 || r.tracker.ensure(ctx, r) != nil {
		return out
	}
	for _, name := range r.tracker.Lost(named, maxDestroyed) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ignored lists existing ignored files that commands remove or overwrite: they
// are never copied.
func (r *Recorder) ignored(ctx context.Context, cmds []shellsyntax.Command) []string {
	var out []string
	for _, c := range cmds {
		for _, d := range r.workspace().Destroys(c) {
			for _, name := range r.expand(ctx, d) {
				found := []string{name}
				if !r.isIgnored(ctx, name, d.Folders) {
					found = nil
					if d.Folders {
						found = r.ignoredBelow(ctx, name)
					}
				}
				for _, name := range found {
					if len(out) < maxDestroyed && !slices.Contains(out, name) {
						out = append(out, name)
					}
				}
			}
		}
	}
	return out
}

// expand returns the paths in the workspace that d means, including matches of
// a pattern.
func (r *Recorder) expand(ctx context.Context, d undo.DestroyedPath) []string {
	if !d.Glob {
		return []string{d.Path}
	}
	es, err := r.cfg.Files.List(ctx, path.Dir(d.Path))
	if err != nil {
		return nil // nothing there can match
	}
	var out []string
	for _, e := range es {
		if fits, err := path.Match(path.Base(d.Path), e.Name); err == nil && fits {
			out = append(out, path.Join(path.Dir(d.Path), e.Name))
		}
	}
	return out
}

// isIgnored reports whether a path exists and it, or a folder above it, is
// ignored.
func (r *Recorder) isIgnored(ctx context.Context, name string, folders bool) bool {
	if name == "." {
		return false
	}
	e, err := r.cfg.Files.Entry(ctx, name)
	return err == nil && e.Ignored && (folders || !e.Dir)
}

// maxFolders is how many folders are searched for ignored files. If there are
// more, the command asks because of what the others may contain.
const maxFolders = 2000

// notSearched is the end of the name of a folder that was not searched completely.
const notSearched = "/"

// ignoredBelow lists the ignored files in a folder that is removed with everything in it.
func (r *Recorder) ignoredBelow(ctx context.Context, name string) (out []string) {
	if !r.isFolder(ctx, name) {
		return nil
	}
	folders := []string{name}
	for n := 0; n < len(folders); n++ {
		if n == maxFolders {
			return append(out, name+notSearched)
		}
		es, err := r.cfg.Files.List(ctx, folders[n])
		if err != nil {
			return append(out, name+notSearched)
		}
		for _, e := range es {
			switch at := path.Join(folders[n], e.Name); {
			case e.Name == ".git" || len(out) == maxDestroyed:
			case e.Ignored:
				out = append(out, at)
			case e.Dir && e.Link == "":
				folders = append(folders, at)
			}
		}
	}
	return out
}

// isFolder reports whether a path is a folder itself, not a link to one.
func (r *Recorder) isFolder(ctx context.Context, name string) bool {
	if name == "." {
		return true
	}
	e, err := r.cfg.Files.Entry(ctx, name)
	return err == nil && e.Dir
}

// destroyedNote returns a note for the person and the model about the ignored files that a
// command destroyed, "" for none.
func (r *Recorder) destroyedNote(ctx context.Context, names []string) string {
	if names = r.removedOf(ctx, names); len(names) == 0 {
		return ""
	}
	return "[cannot be undone: " + listPaths(names) + ": ignored files, of which no copy is kept]\n"
}

// removedOf returns the ignored files that no longer exist.
func (r *Recorder) removedOf(ctx context.Context, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return strings.HasSuffix(name, notSearched) || r.isIgnored(ctx, name, true)
	})
}

// notRestorable records, for the end of the turn and for an undo, what a
// command destroyed: ignored files, and changed files whose content could not
// be kept.
func notRestorable(ignored []string, cs []event.FileChanged) []event.Draft {
	var parts, lost []string
	for _, c := range cs {
		if !c.Kept && !c.Stored && c.Before != "" && !slices.Contains(lost, c.Path) {
			lost = append(lost, c.Path)
		}
	}
	if len(ignored) > 0 {
		parts = append(parts, listPaths(ignored)+" (ignored by git)")
	}
	if len(lost) > 0 {
		parts = append(parts, listPaths(lost)+" (no copy could be kept)")
	}
	if len(parts) == 0 {
		return nil
	}
	return []event.Draft{{Body: event.Warned{What: event.WarnedLost, Text: "cannot be undone: " + strings.Join(parts, ", ")}}}
}
