package slash

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func model() Command {
	return Command{Name: "model", Anytime: true, Args: "[PROVIDER/MODEL]", Doc: "list the models, or change the model", Run: func(ctx context.Context, h Host, args string) error {
		if args == "" {
			id, ok, err := h.Pick(ctx, "models; in use: "+brief.Model(h.Session().View().Info()), h.Models(ctx))
			if ok && (err != nil || id == "") {
				return err
			}
			args = id
		}
		if args == "" {
			fmt.Fprintln(h.Out(), "in use: "+plain.Line(brief.Model(h.Session().View().Info())))
			return h.Pawl(ctx, "models")
		}
		done, err := h.Session().Do(ctx, session.SetModel{Ref: args})
		if err = cmp.Or(err, done.Err()); err != nil {
			return err
		}
		fmt.Fprintln(h.Out(), brief.Model(h.Session().View().Info()))
		return nil
	}}
}
