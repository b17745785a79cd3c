package slash

import "context"

func fork() Command {
	return Command{Name: "fork", Doc: "continue in a copy of this session", Run: func(ctx context.Context, h Host, _ string) error {
		return h.Switch(ctx, Want{Resume: h.Session().ID(), Fork: true})
	}}
}
