package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/brief"
)

func cost() Command {
	return Command{Name: "cost", Anytime: true, Doc: "show what the session and its last turn cost", Run: func(_ context.Context, h Host, _ string) error {
		all, turn := h.Session().View().Spent()
		fmt.Fprintf(h.Out(), "session: %s\nlast turn: %s\n", brief.Spending(all), brief.Spending(turn))
		return nil
	}}
}
