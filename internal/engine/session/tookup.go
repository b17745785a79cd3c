package session

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
)

// What a look finds that comes after the death of an earlier process.

// recent is what is recorded of a file since the last command ended, oldest
// first: what a look after a death finds is not recorded twice.
type recent []event.FileChanged

// begins says that what is recorded goes on from where an effect begins.
func (r recent) begins(e tool.Effect) bool {
	return slices.ContainsFunc(r, func(c event.FileChanged) bool { return c.Before == e.Before })
}

// has says that an effect is recorded: it ends where the record does, or the
// file is as the record says, and has been as the effect says on the way.
func (r recent) has(e tool.Effect, now tool.Hash) bool {
	last := r[len(r)-1]
	if e.After == last.After {
		const link = uint32(fs.ModeSymlink)
		return e.Mode == last.Mode || e.Mode&last.Mode&link != 0 || last.Mode == 0 && e.Before != e.After
	}
	return now == last.After && slices.ContainsFunc(r, func(c event.FileChanged) bool { return c.After == e.After })
}

// unrecorded leaves out what is recorded already of what a look after a death
// found.
func (s *Session) unrecorded(ctx context.Context, es []tool.Effect) []tool.Effect {
	known := eventlog.Look(s.log, func() map[string]recent { return maps.Clone(s.recent) })
	var out []tool.Effect
	for _, e := range es {
		if r := known[e.Path]; r.begins(e) {
			now, _, err := s.itself(ctx, e.Path)
			if err == nil && r.has(e, now.Hash) {
				continue
			}
			last := r[len(r)-1]
			e.Before, e.ModeBefore = last.After, cmp.Or(last.Mode, e.ModeBefore) // the rest came behind it
		}
		out = append(out, e)
	}
	return out
}

// tookUp gives what the command that was running when pawl died changed, or
// somebody else meanwhile.
func (s *Session) tookUp(ctx context.Context) []event.Draft {
	runs := func(name, args string) bool {
		return strings.EqualFold(name, bashTool) || strings.Contains(args, `"command"`)
	}
	if s.watch == nil || len(s.open) == 0 || !runs(s.open[0].Name, string(s.open[0].Args)) && len(s.open) == 1 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, takeUpLook)
	defer cancel()
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	l, err := s.watch.Look(ctx, nil)
	if err != nil {
		return nil // it can not be told: the call is closed as outcome unknown
	}
	s.watch.began, s.took = true, true
	// It is not always an open call's: a background command's may be over.
	if id, call, ok := strings.Cut(l.Tag, "/"); ok && id == s.cfg.ID {
		return s.changed(ctx, call, s.unrecorded(ctx, l.Effects), nil)
	}
	return nil
}

// tookAll settles what was found when the session was taken up.
func (s *Session) tookAll() error {
	if !s.took {
		return nil
	}
	s.took = false
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	return s.watch.settle(s, "")
}
