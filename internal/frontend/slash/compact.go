package slash

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func compact() Command {
	return Command{Name: "compact", Args: "[FOCUS]", Doc: "sum up older steps to free the context window, keeping FOCUS", Run: func(ctx context.Context, h Host, args string) error {
		before := h.Session().Window()
		_, err := h.Session().Submit(ctx, session.Compact{Focus: args})
		if errors.Is(err, turn.ErrNothingToCompact) {
			fmt.Fprintln(h.Out(), "nothing to leave out yet: the conversation is as short as it can be")
			return nil
		}
		if ctx.Err() != nil || errors.Is(err, fault.ErrInterrupted) {
			fmt.Fprintln(h.Out(), "interrupted: the conversation is as it was")
			return nil
		}
		if err != nil {
			return err
		}
		after := h.Session().Window()
		fmt.Fprintf(h.Out(), "compacted: about %d tokens are %d now; /context shows what they are\n", before.Tokens, after.Tokens)
		if after.Failed != "" {
			fmt.Fprintf(h.Out(), "the model gave no summary, so the log's own words stand for it: %s\n", plain.Line(after.Failed))
		}
		return nil
	}}
}
