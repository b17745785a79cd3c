package session

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Outside provides tools from outside the program, such as those of MCP
// servers, which join Config.Tools. They may change while a session runs; the
// model's list of tools changes only at a rebase, since a request is a prefix
// of the next.
type Outside interface {
	// Offer returns the tools for a model that are known now, and notes about
	// them, each once. wait: it may take a limited time, since the next request
	// has no prefix to keep.
	Offer(ctx context.Context, m llm.Info, wait bool) (set tool.Set, notes []string)
	// Late returns a tool that Offer did not know yet, by its name. It may take a
	// limited time. why is the reason why such a tool cannot be called, "" if there is
	// none of this name.
	Late(ctx context.Context, name string) (t tool.Tool, why string, ok bool)
}

// outside is what the head has of the tools that join.
type outside struct {
	set  atomic.Pointer[tool.Set]
	kept atomic.Bool // requests have a prefix to keep
}

// Apply implements event.Fold: a compacted conversation has a new prefix, so new
// tools can join.
func (o *outside) Apply(e event.Event) {
	if _, ok := e.Body.(event.Compacted); ok {
		o.kept.Store(false)
	}
}

// Root implements eventlog.Rooted: what has joined is the process's.
func (o *outside) Root() any { return nil }

// joinable reports whether there may be tools that join.
func (s *state) joinable() bool { return s.cfg.Outside != nil || s.cfg.FolderTools != nil }

// tools are those of the session as the head has them.
func (s *state) tools() tool.Set {
	if more := s.outside.set.Load(); more != nil {
		return slices.Concat(s.cfg.Tools, *more)
	}
	return s.cfg.Tools
}

// offered asks for the tools that join.
func (s *state) offered(ctx context.Context, wait bool) []event.Draft {
	if !s.joinable() {
		return nil
	}
	var set tool.Set
	var notes []string
	if s.cfg.FolderTools != nil {
		set = s.cfg.FolderTools()
	}
	if s.cfg.Outside != nil {
		var more tool.Set
		more, notes = s.cfg.Outside.Offer(ctx, s.model.Info(), wait)
		set = append(set, more...)
	}
	s.outside.set.Store(&set)
	var ds []event.Draft
	for _, n := range notes {
		ds = append(ds, event.Draft{Body: event.Noted{Why: event.NotedTools, Text: n}})
	}
	return ds
}

// lateTool returns a tool from outside that is not among the listed ones yet.
func (s *Session) lateTool(ctx context.Context, name string) (t tool.Tool, why string, ok bool) {
	if s.cfg.Outside == nil {
		return t, "", false
	}
	return s.cfg.Outside.Late(ctx, name)
}

// RefreshTools adds new tools from outside, and removes those that are gone, before
// the next turn, whose first request is then not cached.
type RefreshTools struct{}

func (RefreshTools) submit(_ context.Context, s *Session) (int64, error) {
	s.outside.kept.Store(false)
	return 0, nil
}

// refreshTools adds tools from outside before a turn's first request if that loses no prefix.
func (s *Session) refreshTools(ctx context.Context) error {
	if !s.joinable() || s.outside.kept.Swap(true) {
		return nil
	}
	notes := s.offered(ctx, true)
	if ctx.Err() != nil {
		s.outside.kept.Store(false)
		return context.Cause(ctx)
	}
	var drafts []event.Draft
	s.log.View(func() { drafts = s.head(event.RebasedTools) })
	if err := s.log.Append(ctx, append(drafts, notes...)...); err != nil || len(drafts) == 0 {
		return err
	}
	s.log.View(s.setBuilder)
	return nil
}
