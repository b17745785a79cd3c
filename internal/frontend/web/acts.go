package web

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// What a browser may do to a session. The session itself decides what is valid.

var (
	errAnswered  = fault.NewConfiguration("", "this question is no longer open: somebody answered it, or it was withdrawn")
	errNotOpen   = fault.NewConfiguration("send a prompt: it opens the session here", "no pawl has this session open")
	errElsewhere = fault.NewConfiguration("end it in its terminal", "the session is open in another pawl, which only that one can end")
)

// opened returns an open session; one that no pawl has open is opened here.
func (s *sessions) opened(ctx context.Context, id string) (*live, error) {
	if l := s.of(id); l != nil {
		return l, nil
	}
	row, err := s.row(ctx, id)
	if err != nil {
		return nil, err
	}
	o, err := s.cfg.Open(s.ctx, Start{Dir: row.Dir, ID: id})
	if err != nil {
		if l := s.of(id); l != nil { // two at once
			return l, nil
		}
		return nil, err
	}
	return s.add(o, row), nil
}

// tell records in the log of an open session who acts on it.
func (s *sessions) tell(r *request, l *live, what string) error {
	if l == nil {
		return nil
	}
	_, err := l.Session.Submit(r.Context(), session.Remote{Device: r.device.Name, What: what})
	return err
}

// begin opens a new session in a known folder.
func (s *sessions) begin(ctx context.Context, w Want) (*live, error) {
	known, err := s.folders(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(known, func(f string) bool { return plain.Line(f) == w.Folder })
	if i < 0 {
		return nil, fault.NewConfiguration("choose a folder that has a session", "no session is of this folder: %s", plain.Line(w.Folder))
	}
	o, err := s.cfg.Open(s.ctx, Start{Dir: known[i], Worktree: w.Worktree})
	if err != nil {
		return nil, err
	}
	return s.add(o, event.Row{Dir: known[i]}), nil
}

// fork opens a copy of a session up to an event, 0 for all of it.
func (s *sessions) fork(ctx context.Context, id string, at int64) (*live, error) {
	row, err := s.row(ctx, id)
	if err != nil {
		return nil, err
	}
	start := Start{Dir: row.Dir, ID: id, Fork: true, At: at}
	if l := s.of(id); l != nil {
		v := l.Session.View()
		start.Model, start.Mode = v.Info().Ref(), string(v.Mode())
	}
	o, err := s.cfg.Open(s.ctx, start)
	if err != nil {
		return nil, err
	}
	return s.add(o, row), nil
}

const mostImages = 20

// prompt sends a prompt; the same id counts once.
func (l *live) prompt(ctx context.Context, p Prompt) error {
	op := session.Prompt{ID: p.ID, Source: event.Person, Text: p.Text}
	switch {
	case len(p.ID) < 8 || len(p.ID) > 64 || plain.Line(p.ID) != p.ID:
		return fault.NewConfiguration("", "the prompt needs an id of 8 to 64 characters")
	case p.Text == "" && len(p.Images) == 0:
		return fault.NewConfiguration("", "the prompt is empty")
	case len(p.Images) > mostImages:
		return fault.NewConfiguration("", "at most %d images fit into a prompt", mostImages)
	}
	for _, i := range p.Images {
		m, err := llm.NewMedia(i.Type, i.Data)
		if err != nil {
			return fault.NewConfiguration("", "%v", err)
		}
		op.Images = append(op.Images, m)
	}
	l.mu.Lock()
	if l.prompts[p.ID] {
		l.mu.Unlock()
		return nil
	}
	l.prompts[p.ID] = true
	l.waiting = append(l.waiting, Waiting{p.ID, cmp.Or(plain.Text(p.Text), "(images)")})
	l.mu.Unlock()
	cause, err := l.Session.Submit(ctx, op)
	l.mu.Lock()
	if err != nil {
		delete(l.prompts, p.ID)
	}
	if err != nil || cause != 0 { // it waits for nothing
		l.dropWaiting(p.ID)
	}
	l.mu.Unlock()
	l.publishState()
	return err
}

// dropWaiting forgets a waiting prompt. Callers hold mu.
func (l *live) dropWaiting(id string) {
	l.waiting = slices.DeleteFunc(l.waiting, func(w Waiting) bool { return w.ID == id })
}

func (l *live) withdraw(ctx context.Context, id string) error {
	if _, err := l.Session.Submit(ctx, session.Withdraw{ID: id}); err != nil {
		return err
	}
	l.mu.Lock()
	l.dropWaiting(id)
	l.mu.Unlock()
	l.publishState()
	return nil
}

// interrupt cancels what runs. What waits is taken back first, as in a terminal: it must
// not begin the next turn.
func (l *live) interrupt(ctx context.Context) error {
	l.mu.Lock()
	waiting := slices.Clone(l.waiting)
	l.mu.Unlock()
	for _, w := range waiting {
		if l.withdraw(ctx, w.ID) == nil { // else it is being delivered
			l.hub.publish("takenback", TakenBack{l.id, w.Text})
		}
	}
	_, err := l.Session.Submit(ctx, session.Interrupt{By: "person"})
	return err
}

// answer answers an open question. Of several answers the session takes the first one.
func (s *server) answer(r *request, l *live, a Reply) error {
	for _, v := range a.Verdicts {
		r.detail += v.Scope + " "
	}
	l.mu.Lock()
	i := slices.IndexFunc(l.questions, func(q chat.Question) bool { return q.ID == a.Question })
	var q chat.Question
	if i >= 0 {
		q = l.questions[i]
	}
	l.mu.Unlock()
	if i < 0 {
		return errAnswered
	}
	op := session.Answer{ID: q.ID, Text: a.Text}
	if len(q.Calls) > 0 {
		op.Text = ""
	} else if a.Text == "" {
		return fault.NewConfiguration("", "the answer is empty")
	}
	if len(a.Verdicts) != len(q.Calls) {
		return fault.NewConfiguration("load the page again", "the answer is about other calls than the question")
	}
	for i, v := range a.Verdicts {
		c, scope := q.Calls[i], event.Scope(v.Scope)
		offered := scope == event.Once || scope == event.No || c.Rule != "" && (scope == event.Session || scope == event.Always && c.Always)
		if v.Call != c.Call || !offered {
			return fault.NewConfiguration("load the page again", "this answer was not offered")
		}
		op.Verdicts = append(op.Verdicts, event.Verdict{Call: v.Call, Scope: scope, Why: v.Why})
	}
	_, err := l.Session.Submit(r.Context(), op)
	if known := (*fault.Error)(nil); errors.As(err, &known) && known.Category == fault.Internal {
		return errAnswered // who was first has it
	}
	return err
}

// stop ends a session that runs in this process.
func (s *server) stop(r *request, l *live, _ struct{}) error {
	if !l.Own {
		return errElsewhere
	}
	if err := l.interrupt(r.Context()); err != nil {
		return err
	}
	l.end() // which closes it
	return nil
}

func (s *server) mode(r *request, l *live, m Mode) error {
	r.detail = m.Mode
	_, err := l.Session.Submit(r.Context(), session.SetMode{Mode: m.Mode})
	return err
}

// model waits until it is known whether the model can be used.
func (s *server) model(r *request, l *live, m Model) error {
	r.detail = m.Model
	done, err := l.Session.Do(r.Context(), session.SetModel{Ref: m.Model})
	return cmp.Or(err, done.Err())
}
