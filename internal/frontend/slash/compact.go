package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func compact() Command {
	return Command{Name: "compact", Args: "[FOCUS]", Doc: "summarize older steps to free the context window, and keep FOCUS", Run: func(ctx context.Context, h Host, args string) error {
		before := h.Session().View().Window()
		done, err := h.Session().Do(ctx, session.Compact{Focus: args})
		switch {
		case err != nil:
			return err
		case done.Outcome == event.NothingDone:
			fmt.Fprintln(h.Out(), "nothing to compact: the conversation is as short as it can be")
			return nil
		case done.Outcome == event.Cancelled:
			fmt.Fprintln(h.Out(), "interrupted: the conversation is unchanged")
			return nil
		case done.Err() != nil:
			return done.Err()
		}
		after := h.Session().View().Window()
		fmt.Fprintf(h.Out(), "compacted: from about %d tokens to %d; /context lists them\n", before.Tokens, after.Tokens)
		if after.Failed != "" {
			fmt.Fprintf(h.Out(), "the model wrote no summary, so pawl made one from the log: %s\n", plain.Line(after.Failed))
		}
		return nil
	}}
}
