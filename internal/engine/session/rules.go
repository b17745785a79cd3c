package session

import (
	"context"
	"path"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Guidance is what a session knows when it asks what the project's rules add
// to the conversation (SPEC 9.4, 11.3).
type Guidance struct {
	System string   // the system prompt the conversation began with
	Notes  []string // the notes on rules since then, oldest first
	Seen   []string // one file of each folder met since the last time
}

// guidance folds what Guidance needs.
type guidance struct {
	notes []string
	met   map[string]bool // folders
	seen  []string
	all   []string // one file of each folder met, oldest first
}

// manyFolders is how many folders' rules are told again after a compaction, of
// those met last.
const manyFolders = 20

func (g *guidance) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Noted:
		if b.Why == event.NotedRules {
			g.notes = append(g.notes, b.Text)
		}
	case event.FileSeen:
		for _, sp := range b.Spans {
			g.meet(sp.Path)
		}
	case event.FileChanged:
		if base := path.Base(b.Path); base == "AGENTS.md" || base == "CLAUDE.md" {
			delete(g.met, path.Dir(b.Path)) // these rules are met anew
		}
		if !undo.OfCommand(b) && b.Child == nil { // what a command or an agent wrote the model did not meet
			g.meet(b.Path)
		}
	case event.Compacted:
		if b.Older == 0 {
			return // only results were dropped
		}
		// The notes left the conversation with what was compacted: those in
		// force are told again (SPEC 9.6).
		*g = guidance{met: g.met, all: g.all, seen: slices.Clone(g.all[max(0, len(g.all)-manyFolders):])}
	}
}

func (g *guidance) meet(file string) {
	dir := path.Dir(file)
	if dir == "." || g.met[dir] {
		return
	}
	if g.met == nil {
		g.met = map[string]bool{}
	}
	g.met[dir] = true
	g.seen = append(g.seen, file)
	g.all = append(slices.DeleteFunc(g.all, func(f string) bool { return path.Dir(f) == dir }), file)
}

// recordRuleNotes appends what the rules add since the last request.
func (s *Session) recordRuleNotes(ctx context.Context) error {
	if s.cfg.Rules == nil {
		return nil
	}
	var g Guidance
	s.log.View(func() {
		g = Guidance{System: s.conv.Head().System, Notes: slices.Clone(s.guidance.notes), Seen: s.guidance.seen}
		s.guidance.seen = nil
	})
	var ds []event.Draft
	for _, text := range s.cfg.Rules(ctx, g) {
		ds = append(ds, event.Draft{Body: event.Noted{Why: event.NotedRules, Text: text}})
	}
	return s.log.Append(ctx, ds...)
}
