package slash

import "context"

func clearCommand() Command {
	return Command{Name: "clear", Doc: "begin a new session; this one is kept", Run: func(ctx context.Context, h Host, _ string) error {
		return h.Switch(ctx, Want{})
	}}
}
