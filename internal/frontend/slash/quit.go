package slash

import "context"

func quit() Command {
	return Command{Name: "quit", Doc: "leave", Run: func(_ context.Context, h Host, _ string) error {
		h.Quit()
		return nil
	}}
}
