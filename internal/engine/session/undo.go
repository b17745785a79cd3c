package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Undo puts back the files that the newest turn with standing changes changed,
// all of them or none. A file that is not as the agent left it is never
// touched: the error names it. Changes made by shell commands are not in the
// log and so out of its reach.
func (s *Session) Undo(ctx context.Context) (undo.Turn, error) {
	if s.Busy() {
		return undo.Turn{}, fault.NewConfiguration("interrupt it first, or wait", "nothing can be undone while a turn runs")
	}
	s.mu.Lock()
	t, ok := s.undo.Last()
	s.mu.Unlock()
	if !ok {
		return undo.Turn{}, fault.NewConfiguration("", "there is nothing to undo: no change of an edit tool stands in this session")
	}
	var ws []tool.Write
	var changed []string
	for _, r := range t.Files {
		now, _, err := s.cfg.Files.Stat(r.Path)
		switch {
		case err != nil:
			return t, fmt.Errorf("undo %s: %w", r.Path, err)
		case now != r.Now:
			changed = append(changed, r.Path)
			continue
		case !r.Kept:
			return t, fault.NewConfiguration("", "%s can not be restored: its content before was not kept", r.Path)
		}
		w := tool.Write{Path: r.Path, Expect: r.Now, Remove: r.Before == ""}
		if !w.Remove {
			if w.Data, err = s.cfg.Store.Get(ctx, string(r.Before)); err != nil {
				return t, fmt.Errorf("undo %s: %w", r.Path, err)
			}
		}
		ws = append(ws, w)
	}
	if len(changed) > 0 {
		return t, fault.NewConfiguration("look at it with `pawl diff`, then put it back by hand", "nothing was undone: %s changed since the agent wrote it", strings.Join(changed, ", "))
	}
	cs, err := s.cfg.Files.WriteAll(ctx, ws)
	var ds []event.Draft
	paths := []string{}
	for _, c := range cs {
		paths = append(paths, c.Path)
		ds = append(ds, event.Draft{Body: event.FileChanged{
			Tool: undo.Tool, Path: c.Path, Before: c.Before, After: c.After, Kept: true, Added: c.Added, Removed: c.Removed,
		}})
	}
	if err == nil {
		ds = append(ds, event.Draft{Body: event.Undone{Prompt: t.Prompt, Paths: paths}})
	}
	return t, errors.Join(err, s.record(context.WithoutCancel(ctx), ds...))
}

// Diff shows what the newest turn with standing changes changed, as a unified
// diff against the files as they are now.
func (s *Session) Diff(ctx context.Context) (string, error) {
	t, ok := s.Standing()
	if !ok {
		return "", nil
	}
	var out strings.Builder
	for _, r := range t.Files {
		var before, now []byte
		var err error
		if r.Before != "" {
			if !r.Kept {
				fmt.Fprintf(&out, "%s: its content before was not kept\n", r.Path)
				continue
			}
			if before, err = s.cfg.Store.Get(ctx, string(r.Before)); err != nil {
				return "", fmt.Errorf("diff %s: %w", r.Path, err)
			}
		}
		if h, _, err := s.cfg.Files.Stat(r.Path); err == nil && h != "" {
			f, err := s.cfg.Files.Read(ctx, r.Path, 0)
			if err != nil {
				return "", fmt.Errorf("diff %s: %w", r.Path, err)
			}
			now = f.Data
		}
		if !utf8.Valid(before) || !utf8.Valid(now) {
			fmt.Fprintf(&out, "%s: not text\n", r.Path)
			continue
		}
		out.Write(diff.Diff("a/"+r.Path, before, "b/"+r.Path, now))
	}
	return out.String(), nil
}

// Standing is the newest turn whose changes stand.
func (s *Session) Standing() (undo.Turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.undo.Last()
}
