package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func diff() Command {
	return Command{Name: "diff", Doc: "show what the last turn changed", Run: func(ctx context.Context, h Host, _ string) error {
		text, err := h.Session().Diff(ctx)
		if err == nil && text == "" {
			text = "nothing that an edit tool changed stands\n"
		}
		fmt.Fprint(h.Out(), plain.Text(text))
		return err
	}}
}
