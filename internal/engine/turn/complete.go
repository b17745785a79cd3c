package turn

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Complete gets a reply that nobody watches while it arrives. got is the size
// received in bytes, also with an error.
func Complete(ctx context.Context, m llm.Model, r *llm.Request) (reply *llm.Reply, got int64, err error) {
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			return nil, got, err
		}
		if got += int64(len(d.Text)); got > maxReply {
			return nil, got, tooLarge(m)
		}
		if d.Kind == llm.Done {
			return d.Reply, got, nil
		}
	}
	return nil, got, fault.NewLLM("%s ended its reply without finishing it", m.Info().Ref())
}
