package slash

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

func btw() Command {
	return Command{
		Name: "btw", Anytime: true, Args: "QUESTION", Doc: "ask a question outside the conversation, also while a turn runs; question and answer are not added to it",
		Run: func(ctx context.Context, h Host, args string) error {
			if args == "" {
				return errors.New("a question is missing: write one, such as /btw what does that flag do?")
			}
			_, err := h.Session().Submit(ctx, session.Aside{Text: args})
			return err
		},
	}
}
