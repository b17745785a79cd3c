package slash

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

func btw() Command {
	return Command{
		Name: "btw", Anytime: true, Args: "QUESTION", Doc: "ask something beside the conversation, also while it works; neither question nor answer joins it",
		Run: func(ctx context.Context, h Host, args string) error {
			if args == "" {
				return errors.New("say what you want to know, such as /btw what does that flag do?")
			}
			_, err := h.Session().Submit(ctx, session.Aside{Text: args})
			return err
		},
	}
}
