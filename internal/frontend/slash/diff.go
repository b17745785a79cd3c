package slash

import (
	"context"

	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func diff() Command {
	return Command{Name: "diff", Anytime: true, Args: "[turn|file PATH|command|all]", Doc: "show the changes that are not undone", Run: func(ctx context.Context, h Host, args string) error {
		w, err := unit(args, undo.ByAll)
		if err != nil {
			return err
		}
		if w.Kind == undo.ByFile {
			w.Kind = undo.ByAll // all changes to the file
		}
		text, err := h.Session().View().Changes().Diff(ctx, w)
		if err == nil && text == "" {
			text = "there are no changes of the agent\n"
		}
		h.Diff(text)
		return err
	}}
}
