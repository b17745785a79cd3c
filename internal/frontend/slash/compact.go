package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func compact() Command {
	return Command{Name: "compact", Args: "[FOCUS]", Doc: "sum up older steps to free the context window, keeping FOCUS", Run: func(ctx context.Context, h Host, args string) error {
		before := h.Session().View().Window()
		started, err := h.Session().Submit(ctx, session.Compact{Focus: args})
		if err != nil {
			return err
		}
		done, err := h.Session().Await(ctx, started)
		switch {
		case err != nil:
			return err
		case done.Outcome == event.NothingDone:
			fmt.Fprintln(h.Out(), "nothing to leave out yet: the conversation is as short as it can be")
			return nil
		case done.Outcome == event.Cancelled:
			fmt.Fprintln(h.Out(), "interrupted: the conversation is as it was")
			return nil
		case done.Err() != nil:
			return done.Err()
		}
		after := h.Session().View().Window()
		fmt.Fprintf(h.Out(), "compacted: about %d tokens are %d now; /context shows what they are\n", before.Tokens, after.Tokens)
		if after.Failed != "" {
			fmt.Fprintf(h.Out(), "the model gave no summary, so the log's own words stand for it: %s\n", plain.Line(after.Failed))
		}
		return nil
	}}
}
