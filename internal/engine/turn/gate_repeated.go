package turn

import (
	"bytes"
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Repeated refuses a call that the same reply already makes, word for word, if
// nothing in between can have changed its result.
type Repeated struct{}

func (Repeated) Check(_ context.Context, step []*Pending) error {
	for i, p := range step {
		if p.Refused != nil {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			q := step[j]
			if q.Refused != nil {
				continue
			}
			if q.Tool.Spec.Name == p.Tool.Spec.Name && bytes.Equal(q.Args, p.Args) && q.Tool.ReadOnly {
				p.Refused = &Refusal{Outcome: event.Denied, Text: "This reply already makes the same call; its result is above. It did not run again."}
				break
			}
			if len(q.Footprint.Writes) > 0 || q.Footprint.Unknown || !q.Tool.ReadOnly {
				break // what it finds may differ from here on
			}
		}
	}
	return nil
}
