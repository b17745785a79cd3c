package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/putback"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

var (
	errPlan     = fault.NewConfiguration("look at it again", "something has changed since this undo was shown: nothing was undone")
	errElseUndo = fault.NewConfiguration("use /undo there", "the session is open in another pawl, which alone can undo its changes")
)

// plan returns what an undo of the last turn's changes would do, with its hash. What
// needs a person's word about each file is left to a terminal.
func (l *live) plan(ctx context.Context) (undo.Plan, UndoPlan, error) {
	if !l.Own {
		return undo.Plan{}, UndoPlan{}, errElseUndo
	}
	out := UndoPlan{Files: []UndoFile{}}
	p, err := l.Session.View().Changes().Plan(ctx, undo.Selector{Kind: undo.ByTurn})
	if errors.Is(err, undo.ErrNothing) {
		out.Said = plain.Line(putback.Nothing(ctx, l.Session, undo.ByTurn, err).Error())
		return p, out, nil
	}
	if err != nil {
		return p, out, err
	}
	if !p.NeedsNoConsent() {
		return p, out, fault.NewConfiguration("in a terminal: pawl --resume "+l.id+", then /undo turn", "some of these files were changed by somebody else since, so pawl asks about each")
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return p, out, err
	}
	sum := sha256.Sum256(raw)
	out.Hash = hex.EncodeToString(sum[:])
	for _, f := range p.Files {
		out.Files = append(out.Files, UndoFile{Path: plain.Line(f.Path), Said: string(f.Action)})
	}
	out.Said = fmt.Sprintf("%s to put back", brief.Plural(len(p.Files), "file", "files"))
	return p, out, nil
}

// undo does what was shown, and nothing else.
func (l *live) undo(ctx context.Context, hash string) error {
	p, shown, err := l.plan(ctx)
	if err != nil {
		return err
	}
	if shown.Hash == "" || shown.Hash != hash {
		return errPlan
	}
	_, err = putback.Do(ctx, l.Session, p, undo.Consent{})
	return err
}

func (s *server) undoPlan(r *request) (UndoPlan, error) {
	l := s.sessions.of(r.PathValue("id"))
	if l == nil {
		return UndoPlan{}, errNotOpen
	}
	_, out, err := l.plan(r.Context())
	return out, err
}
