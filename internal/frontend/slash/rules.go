package slash

import (
	"context"
	"fmt"
)

// Ruled is what a Host has besides where it knows the project's rules files.
type Ruled interface {
	// RuleFiles writes which are loaded, and what is wrong with them.
	RuleFiles(ctx context.Context) error
}

func rules() Command {
	return Command{Name: "rules", Anytime: true, Doc: "list the rules files that the model was told (AGENTS.md and such)", Run: func(ctx context.Context, h Host, _ string) error {
		if r, ok := h.(Ruled); ok {
			return r.RuleFiles(ctx)
		}
		_, err := fmt.Fprintln(h.Out(), "see: pawl rules")
		return err
	}}
}
