package session

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// env gives a call its abilities. What it writes is recorded here, so that no
// tool can forget undo.
func (s *Session) env(p *turn.Pending) tool.Env {
	call := p.Call.ID
	return tool.Env{
		Files: &recordedFiles{Files: s.cfg.Files, s: s, call: call, tool: p.Tool.Spec.Name},
		Shell: s.cfg.Shell, Web: s.cfg.Web,
		Todo:  planner{s},
		Notes: notes{s},
		Room:  room{s},
		Ask:   asker{s},
		Out: func(out string) {
			s.live(event.OutputDelta{Call: call, Text: out})
		},
		Limit: window.Bytes(s.resultCap()),
	}
}

// recordedFiles is the workspace with every write of a call recorded.
type recordedFiles struct {
	tool.Files
	s          *Session
	call, tool string
}

// Write is part of tool.Files.
func (f *recordedFiles) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := f.WriteAll(ctx, []tool.Write{{Path: path, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

// WriteAll is part of tool.Files. Both contents are kept before the files are
// touched: there is no moment at which a change exists and undo does not.
func (f *recordedFiles) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	kept := map[tool.Hash]bool{}
	for _, w := range ws {
		if err := f.keep(ctx, w, kept); err != nil {
			return nil, err
		}
	}
	cs, err := f.Files.WriteAll(ctx, ws)
	drafts := make([]event.Draft, len(cs))
	for i, c := range cs {
		drafts[i] = event.Draft{Body: event.FileChanged{
			Call: f.call, Tool: f.tool, Path: c.Path, Before: c.Before, After: c.After,
			Kept: c.Before == "" || kept[c.Before], Added: c.Added, Removed: c.Removed,
		}}
	}
	if rerr := f.s.record(context.WithoutCancel(ctx), drafts...); rerr != nil {
		return cs, errors.Join(err, rerr)
	}
	return cs, err
}

// keep stores what a write replaces and what it brings.
func (f *recordedFiles) keep(ctx context.Context, w tool.Write, kept map[tool.Hash]bool) error {
	if w.Expect != "" {
		before, err := f.Files.Read(ctx, w.Path, 0)
		if err == nil {
			h, err := f.s.cfg.Store.Put(ctx, before.Data)
			if err != nil {
				return err
			}
			kept[tool.Hash(h)] = true
		}
	}
	if !w.Remove {
		if _, err := f.s.cfg.Store.Put(ctx, w.Data); err != nil {
			return err
		}
	}
	return nil
}

type planner struct{ s *Session }

// Set is part of tool.Todo.
func (p planner) Set(ctx context.Context, items []tool.Item) error {
	return p.s.record(context.WithoutCancel(ctx), event.Draft{Body: event.Planned{Items: items}})
}

type notes struct{ s *Session }

// Remember is part of tool.Notes.
func (n notes) Remember(ctx context.Context, note string) error {
	note = n.s.cfg.Mask(note)
	if n.s.cfg.Notes != nil {
		if err := n.s.cfg.Notes.Remember(ctx, note); err != nil {
			return err
		}
	}
	return n.s.record(context.WithoutCancel(ctx), event.Draft{Body: event.Remembered{Text: note}})
}

type asker struct{ s *Session }

// Question is part of tool.Asker.
func (a asker) Question(ctx context.Context, text string, options []string) (string, error) {
	ans, err := a.s.ask(ctx, event.Asked{Text: text, Options: options})
	return ans.Text, err
}
