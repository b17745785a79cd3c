package undo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file has what is recorded of an undo or a redo.

// Record returns the intent, which is recorded before the files are written,
// and the events that are recorded after their changes.
func (p Plan) Record(do []File) (event.Writing, []event.Draft) {
	paths, kept := []string{}, []string(nil)
	var changes []int64
	for _, f := range do {
		changes = append(changes, f.Changes...)
		if f.Action != Same {
			paths = append(paths, f.Path)
		}
		if f.Action == Beside {
			kept = append(kept, f.Path)
		}
	}
	slices.Sort(changes)
	if p.Kind == ByRedo {
		b := event.Redone{Undone: p.Undone, Paths: paths}
		for _, f := range do { // a redo covers files that already were as wanted, too
			if f.Action == Same {
				b.Paths = append(b.Paths, f.Path)
			}
		}
		return event.Writing{Tool: RedoTool, Redone: &b}, []event.Draft{{Body: b}, note("made again", paths)}
	}
	b := event.Undone{What: string(p.Kind), Prompt: p.Prompt, Changes: changes, Paths: paths, Kept: kept}
	return event.Writing{Tool: Tool, Undone: &b}, []event.Draft{{Body: b}, note("put back", paths)}
}

// note tells the model, which would otherwise assume that its changes are in effect.
func note(what string, paths []string) event.Draft {
	const most = 20
	names := strings.Join(paths[:min(len(paths), most)], ", ")
	if more := len(paths) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	names = cmp.Or(names, "no file: all was already so")
	return event.Draft{Body: event.Noted{Why: event.NotedUndo, Text: "[The user has " + what + " changes with pawl's undo, in " + names + ". Read a file again before you change it.]"}}
}

// PartialUndo returns what is recorded when an undo or a redo was interrupted after these
// changes; nil if there are none, or if w is another write.
func (f *Fold) PartialUndo(w event.Writing, done []event.FileChanged) []event.Draft {
	paths := pathsOf(done)
	switch {
	case len(paths) == 0:
	case w.Undone != nil:
		b, did, meant := *w.Undone, setOf(paths), setOf(pathsOf(w.Files))
		b.Paths = paths
		// Files that already were as wanted count as done.
		b.Changes = f.Filter(b.Changes, func(path string) bool { return did[path] || !meant[path] })
		return []event.Draft{{Body: b}}
	case w.Redone != nil:
		return []event.Draft{{Body: event.Redone{Undone: w.Redone.Undone, Paths: paths}}}
	}
	return nil
}

func setOf(paths []string) map[string]bool {
	set := make(map[string]bool, len(paths))
	for _, p := range paths {
		set[p] = true
	}
	return set
}

func pathsOf(cs []event.FileChanged) []string {
	paths := []string{}
	for _, c := range cs {
		paths = append(paths, c.Path)
	}
	return paths
}

// SortWrites sorts the writes of a plan: restored contents first, removals last, so that a
// content that moves is on the disk at every moment.
func SortWrites(ws []tool.Write) {
	order := func(w tool.Write) int {
		switch {
		case w.Remove:
			return 2
		case w.Expect != "":
			return 1
		}
		return 0
	}
	sorting.By(ws, func(a, b tool.Write) int { return order(a) - order(b) })
}
