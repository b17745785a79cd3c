package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/frontend/page"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/putback"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// What goes back: files by an undo that was shown, the conversation by a fork.

var (
	errPlan  = fault.NewConfiguration("look at it again", "something has changed since this was shown: nothing was done")
	errPoint = fault.NewConfiguration("load the page again", "there is no such prompt in this session")
)

// selector is what an undo is about: the last turn, or all since a prompt.
func selector(prompt int64) undo.Selector {
	if prompt > 0 {
		return undo.Selector{Kind: undo.ByRewind, Prompt: prompt}
	}
	return undo.Selector{Kind: undo.ByTurn}
}

// plan returns what an undo would do, with its hash.
func (l *live) plan(ctx context.Context, w undo.Selector) (undo.Plan, UndoPlan, error) {
	out := UndoPlan{Files: []UndoFile{}}
	p, err := l.Session.PlanUndo(ctx, w)
	if errors.Is(err, undo.ErrNothing) {
		out.Said = plain.Line(putback.Nothing(ctx, l.Session, w.Kind, err).Error())
		return p, out, nil
	}
	if err != nil {
		return p, out, err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return p, out, err
	}
	sum := sha256.Sum256(raw)
	out.Hash = hex.EncodeToString(sum[:])
	for _, f := range p.Files {
		to := UndoFile{Path: plain.Line(f.Path), Said: plain.Line(putback.Said(f)), Asks: f.Ask != "" && !f.Blocked(), Stays: f.Blocked()}
		if f.Diff != "" {
			to.HTML = page.DiffFragment(f.Diff)
		}
		out.Files = append(out.Files, to)
	}
	out.Said = fmt.Sprintf("%s to undo", plural.Of(len(p.Files), "file"))
	return p, out, nil
}

// undo does what was shown, and nothing else. Files that somebody else changed stay,
// unless they are confirmed.
func (l *live) undo(ctx context.Context, w undo.Selector, u Undo) error {
	p, shown, err := l.plan(ctx, w)
	if err != nil {
		return err
	}
	if shown.Hash != u.Hash {
		return errPlan
	}
	if shown.Hash == "" {
		return undo.ErrNothing
	}
	var include []string
	for i, f := range p.Files {
		if slices.Contains(u.Confirmed, i) {
			include = append(include, f.Path)
		}
	}
	_, err = putback.Do(ctx, l.Session, p, putback.Settled(p, include))
	return err
}

func (s *server) undoPlan(r *request) (UndoPlan, error) {
	l, err := s.sessions.opened(r.Context(), r.PathValue("id"))
	if err != nil {
		return UndoPlan{}, err
	}
	prompt, err := number(r.FormValue("prompt"))
	if err != nil {
		return UndoPlan{}, err
	}
	_, out, err := l.plan(r.Context(), selector(prompt))
	return out, err
}

// mostPoints is how many prompts one can go back to, the newest ones.
const mostPoints = 200

// points lists the prompts, the newest first.
func (s *server) points(r *request) (Points, error) {
	l, err := s.sessions.opened(r.Context(), r.PathValue("id"))
	if err != nil {
		return Points{}, err
	}
	all, err := l.Session.View().Changes().Points(r.Context())
	out := Points{Prompts: []Point{}}
	for _, p := range slices.Backward(all[max(0, len(all)-mostPoints):]) {
		to := Point{Prompt: p.Seq, Time: p.Time.UTC(), Text: cut.Runes(plain.Line(p.Text), 200), Files: []string{}}
		for _, f := range p.Files {
			to.Files = append(to.Files, plain.Line(f))
		}
		out.Prompts = append(out.Prompts, to)
	}
	return out, err
}

func (s *server) fork(r *request, _ struct{}) (Begun, error) {
	l, err := s.sessions.fork(r.Context(), r.PathValue("id"), 0)
	if err != nil {
		return Begun{}, err
	}
	return Begun{ID: l.id}, nil
}

func (s *server) models(r *request) (Models, error) {
	all := s.cfg.Models(r.Context())
	for i := range all {
		all[i].Group, all[i].About = plain.Line(all[i].Group), plain.Line(all[i].About)
	}
	return Models{all}, nil
}

// rewind goes back to before a prompt: the files first, in the session that changed them,
// so that its log records it. The conversation goes on in a fork without the prompts that
// are left, and nothing of the old one is lost.
func (s *server) rewind(r *request, w Rewind) (Begun, error) {
	r.detail = fmt.Sprint(w.What, " ", w.Prompt)
	l, err := s.sessions.opened(r.Context(), r.PathValue("id"))
	if err != nil {
		return Begun{}, err
	}
	points, err := l.Session.View().Changes().Points(r.Context())
	if err != nil {
		return Begun{}, err
	}
	at := slices.IndexFunc(points, func(p changes.Point) bool { return p.Seq == w.Prompt })
	if at < 0 || !slices.Contains([]string{"conversation", "files", "both"}, w.What) {
		return Begun{}, errPoint
	}
	if w.What != "conversation" {
		err := l.undo(r.Context(), selector(w.Prompt), Undo{Hash: w.Hash, Confirmed: w.Confirmed})
		if err != nil && !errors.Is(err, undo.ErrNothing) {
			return Begun{}, err
		}
	}
	if w.What == "files" {
		return Begun{ID: l.id}, nil
	}
	fork, err := s.sessions.fork(r.Context(), l.id, points[at].Before())
	if err != nil {
		return Begun{}, err
	}
	return Begun{ID: fork.id, Text: plain.Text(points[at].Text)}, nil
}
