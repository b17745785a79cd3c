package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file decides how the findings of a snapshot are recorded, and reported
// to the model and the person.

// Limits of what is kept of one command, in bytes.
const (
	keptPerCommand  = 256 << 20 // of old contents; more is not restorable
	afterPerCommand = 64 << 20  // of new contents; of more only the hashes
)

// storeEffects stores the contents that a snapshot found and makes its events. named
// are the paths that the command's own words cover; nil: none.
func (r *Recorder) storeEffects(ctx context.Context, call string, es []tool.Effect, named *undo.NamedPaths) []event.Draft {
	before, after := int64(keptPerCommand), int64(afterPerCommand)
	by := r.toolOf(call)
	out := make([]event.Draft, 0, len(es))
	gone := contentsGone(es, func(e tool.Effect) (before, after tool.Hash) { return e.Before, e.After })
	for _, e := range es {
		b := event.FileChanged{
			Call: call, Tool: by, Path: e.Path, Before: e.Before, After: e.After, Mode: e.Mode, ModeBefore: e.ModeBefore,
			Added: e.Added, Removed: e.Removed, Unattributed: named == nil || !named.Covers(e, gone), Does: tool.Exec,
		}
		if call == personCall {
			b.Call, b.Tool = "", undo.Person
		}
		b.Kept = e.Before == "" || e.Kept && r.store(ctx, e.Before, &before)
		if !b.Kept { // one of pawl's own edits may have stored it; a change of the mode needs none
			_, err := r.cfg.Store.Get(ctx, string(e.Before))
			b.Kept = err == nil || e.Before == e.After
		}
		if e.HasAfter && e.After != "" && e.After != e.Before {
			r.store(ctx, e.After, &after) // the hash is recorded in any case
		}
		if clean := strings.ToValidUTF8(e.Path, "\uFFFD"); clean != e.Path {
			b.Path, b.Kept = clean, false // the log stores text: the name could not be found again
		}
		out = append(out, event.Draft{Body: b})
	}
	return out
}

// contentsGone returns the contents of the files that changes removed.
func contentsGone[T any](changes []T, of func(T) (before, after tool.Hash)) map[tool.Hash]bool {
	gone := map[tool.Hash]bool{}
	for _, c := range changes {
		if before, after := of(c); after == "" && before != "" {
			gone[before] = true
		}
	}
	return gone
}

// toolOf returns the name of the tool whose call runs. A background command's
// call is done: what outlives its call is a shell's.
func (r *Recorder) toolOf(call string) string {
	return eventlog.Query(r.log, func() string {
		if i := slices.IndexFunc(r.fold.open, func(a event.CallAsked) bool { return a.ID == call && a.Tool != "" }); i >= 0 {
			return r.fold.open[i].Tool
		}
		return undo.Shell
	})
}

// store copies a content from the journal to the session's store.
func (r *Recorder) store(ctx context.Context, h tool.Hash, room *int64) bool {
	data, err := r.tracker.Content(ctx, h)
	if err != nil || int64(len(data)) > *room {
		return false
	}
	*room -= int64(len(data))
	got, err := r.cfg.Store.Put(ctx, data)
	return err == nil && got == string(h)
}

// changeNotes tell the model which files a command changed that it had changed itself or
// that the command's words do not name, and which cannot be restored: at most a line
// each.
func (r *Recorder) changeNotes(cs []event.FileChanged, named undo.NamedPaths) (told, lost string) {
	own := eventlog.Query(r.log, func() map[string]string { return r.fold.undo.Overwritten(cs) })
	var mine, unnamed, gone []string
	away := contentsGone(cs, func(c event.FileChanged) (before, after tool.Hash) { return c.Before, c.After })
	for _, c := range cs {
		if c.Before == c.After {
			continue // only its mode changed
		}
		if _, had := own[c.Path]; had {
			mine = append(mine, c.Path)
		} else if !named.Names(tool.Effect{Path: c.Path, Before: c.Before, After: c.After}, away) {
			unnamed = append(unnamed, c.Path)
		}
		if !c.Kept && !c.Stored {
			gone = append(gone, c.Path)
		}
	}
	if all := append(mine, unnamed...); len(all) > 0 {
		told = "[changed while this ran: " + listAbout(all, own) + "]\n"
	}
	if len(gone) > 0 {
		files := "1 file"
		if len(gone) > 1 {
			files = fmt.Sprintf("%d files", len(gone))
		}
		lost = "[" + files + " that this command changed cannot be restored: " + listPaths(gone) + "]\n"
	}
	return told, lost
}

// listPaths lists some paths in a line.
func listPaths(paths []string) string { return listAbout(paths, nil) }

// listAbout is listPaths with what is to be said of each.
func listAbout(paths []string, about map[string]string) string {
	const most, width = 6, 300
	var b strings.Builder
	for i, p := range paths {
		if i == most || i > 0 && b.Len()+len(p) > width {
			fmt.Fprintf(&b, " (+%d more)", len(paths)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if strings.ContainsAny(p, " ,()[]\n\t") {
			p = shellsyntax.Quote(strings.Map(func(r rune) rune {
				if r < ' ' {
					return '?'
				}
				return r
			}, p))
		}
		b.WriteString(p)
		if why := about[paths[i]]; why != "" {
			b.WriteString(" (" + why + ")")
		}
	}
	return b.String()
}
