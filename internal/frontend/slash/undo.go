package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/putback"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func undoCommand() Command {
	return Command{Name: "undo", Args: "[turn|file PATH|command|all]", Doc: "undo the last change, or all changes of the turn", Run: func(ctx context.Context, h Host, args string) error {
		w, err := unit(args, undo.ByChange)
		if err != nil {
			return err
		}
		_, err = putBack(ctx, h, w, "")
		return err
	}}
}

// unit parses which changes to undo; otherwise is the kind for no arguments.
func unit(args string, otherwise undo.Kind) (undo.Selector, error) {
	word, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case word == "":
		return undo.Selector{Kind: otherwise}, nil
	case word == "file" && rest != "":
		return undo.Selector{Kind: undo.ByFile, Path: rest}, nil
	case rest != "":
	case word == "turn":
		return undo.Selector{Kind: undo.ByTurn}, nil
	case word == "command":
		return undo.Selector{Kind: undo.ByCommand}, nil
	case word == "all":
		return undo.Selector{Kind: undo.ByAll}, nil
	}
	return undo.Selector{}, errors.New("unknown argument: use turn, file PATH, command, all, or none")
}

// putBack shows a plan, asks about it and what else the yes does, and executes it. It returns false if the person declines.
func putBack(ctx context.Context, h Host, w undo.Selector, and string) (bool, error) {
	p, err := h.Session().PlanUndo(ctx, w)
	if err != nil {
		return false, putback.Nothing(ctx, h.Session(), w.Kind, err)
	}
	lost := putback.Lost(ctx, h.Session(), w.Kind)
	putback.Show(h.Out(), p)
	ask := func(q string, options ...choice.Option) (string, error) { return h.Ask(ctx, q, options...) }
	w.Before, err = putback.PassOver(p, nil, ask)
	var c undo.Consent
	ok := false
	if err == nil && w.Before == 0 {
		asked := slices.ContainsFunc(p.Files, func(f undo.File) bool { return !f.Blocked() && f.Ask != "" })
		if c, ok, err = putback.Agree(p, and, ask); err == nil && !ok && asked {
			w.Before, err = putback.PassOver(p, c.LeaveOut, ask)
		}
	}
	switch {
	case err != nil:
		return false, err
	case w.Before != 0:
		return putBack(ctx, h, w, and)
	case !ok:
		fmt.Fprintln(h.Out(), "nothing was changed")
		return false, nil
	}
	u, err := putback.Do(ctx, h.Session(), p, c)
	if err != nil {
		return false, err
	}
	putback.Done(h.Out(), putback.Verb(w.Kind), u)
	if lost != "" {
		fmt.Fprintln(h.Out(), lost)
	}
	return true, nil
}
