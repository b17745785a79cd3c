package slash

import "context"

func clearCommand() Command {
	return Command{Name: "clear", Doc: "start a new session; this one stays saved", Run: func(ctx context.Context, h Host, _ string) error {
		return h.Switch(ctx, Want{})
	}}
}
