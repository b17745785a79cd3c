package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func permissions() Command {
	return Command{Name: "permissions", Anytime: true, Doc: "list the rules in force", Run: func(_ context.Context, h Host, _ string) error {
		fmt.Fprintf(h.Out(), "mode %s\n", h.Session().View().Mode())
		for _, r := range h.Rules() {
			fmt.Fprintln(h.Out(), "  "+plain.Line(r))
		}
		return nil
	}}
}
