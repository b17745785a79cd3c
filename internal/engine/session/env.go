package session

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/questions"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// abilities makes what calls may use.
type abilities struct {
	*state
	changes   *changes.Recorder
	children  *children.Children
	questions *questions.Questions
	side      *side.Requests
	window    *contextWindow
	rights    *permission.Rights
}

// env returns the abilities of a call. Its writes are recorded here, so that no
// tool can forget undo.
func (s *abilities) env(p *turn.Pending) tool.Env {
	call := p.Call.ID
	e := tool.Env{
		Files: s.changes.Files(s.cfg.Files, p),
		Shell: s.changes.Shell(p), Web: s.cfg.Web, Search: s.searcher(),
		Todo:    planner{s.state},
		Notes:   notes{s.state},
		Cleaner: contextCleaner{s.state},
		Rights:  narrower{s.state},
		Ask:     asker{s.questions},
		Code:    s.cfg.Code,
		GitUses: s.cfg.GitUses, Denied: s.denied, Closed: s.rights.Closed,
		Out: func(out string) {
			s.log.Publish(event.OutputDelta{Call: call, Text: out})
		},
		Limit: window.Bytes(s.window.resultCap()), Correct: s.cfg.AutoCorrect, Nobody: !s.cfg.Person,
	}
	if s.cfg.Agents > 0 {
		e.Agents = s.children.For(call)
	}
	return e
}

// drafts are the files as they are, to try changes on.
func (s *state) drafts() *changes.Drafts {
	d := changes.NewDrafts(s.cfg.Files, s.cfg.AutoCorrect)
	d.Code = s.cfg.Code
	return d
}

// runEnv is env for running the call: its files are only those that were
// judged, even if a path leads elsewhere by now (SPEC 16.8).
func (s *abilities) runEnv(p *turn.Pending) tool.Env {
	e := s.env(p)
	if b, ok := s.cfg.Files.(interface {
		Only(reads, writes []tool.Span) tool.Files
	}); ok {
		only := b.Only(p.Footprint.Reads, p.Footprint.Writes)
		e.Files = s.changes.Files(only, p)
	}
	return e
}

type planner struct{ s *state }

func (p planner) Set(ctx context.Context, items []tool.Item) error {
	return p.s.log.Append(context.WithoutCancel(ctx), event.Draft{Body: event.Planned{Items: items}})
}

type narrower struct{ s *state }

func (n narrower) Narrow(ctx context.Context, by string, rules, not []string, file, of string) error {
	if err := hooks.Kept(n.s.cfg.Hooks, of); err != nil {
		return err
	}
	return n.s.log.Append(context.WithoutCancel(ctx), event.Draft{Body: event.Narrowed{By: by, Rules: rules, Not: not, File: file, Hooks: of}})
}

type notes struct{ s *state }

func (n notes) Remember(ctx context.Context, note string) error {
	if n.s.cfg.Notes != nil {
		if err := n.s.cfg.Notes.Remember(ctx, note); err != nil {
			return err
		}
	}
	return n.s.log.Append(context.WithoutCancel(ctx), event.Draft{Body: event.Remembered{Text: note}})
}

type asker struct{ *questions.Questions }

func (a asker) Question(ctx context.Context, text string, options []string) (string, error) {
	ans, err := a.Ask(ctx, event.Asked{Text: text, Options: options})
	return ans.Text, err
}

// searcher returns who searches the web: the one that is configured, else the
// model's provider; nil if it does not.
func (s *abilities) searcher() tool.Searcher {
	switch {
	case s.cfg.Search != nil && s.cfg.SearchUSD > 0:
		return s.side.Paid(s.cfg.Search, s.cfg.SearchUSD)
	case s.cfg.Search != nil:
		return s.cfg.Search
	case s.info().Search:
		return s.side.Search()
	}
	return nil
}
