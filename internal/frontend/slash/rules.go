package slash

import "context"

func rules() Command {
	return Command{Name: "rules", Anytime: true, Doc: "list the rules files that the model got (AGENTS.md and others)", Run: func(ctx context.Context, h Host, _ string) error {
		return h.Pawl(ctx, "rules")
	}}
}
