package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func undo() Command {
	return Command{Name: "undo", Doc: "put back what the last turn changed with the edit tools", Run: func(ctx context.Context, h Host, _ string) error {
		t, err := h.Session().Undo(ctx)
		if err != nil {
			return err
		}
		for _, f := range t.Files {
			fmt.Fprintln(h.Out(), plain.Line("put back "+f.Path))
		}
		return nil
	}}
}
