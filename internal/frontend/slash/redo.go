package slash

import (
	"context"

	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func redo() Command {
	return Command{Name: "redo", Doc: "redo the changes that the last undo undid", Run: func(ctx context.Context, h Host, _ string) error {
		_, err := putBack(ctx, h, undo.Selector{Kind: undo.ByRedo}, "")
		return err
	}}
}
