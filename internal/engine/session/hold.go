package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// maxHeldFile is the size limit of a file of secrets whose values are held, in bytes.
const maxHeldFile = 256 << 10

// holdSecrets is the stage that masks, before a call shows a file of secrets, what is in
// it (SPEC 16.7). Files that only the program of a command knows are masked by their
// forms, and those of the folder since the session began.
type holdSecrets struct{ s *Session }

func (h holdSecrets) Start(ctx context.Context, p *turn.Pending) *turn.Refusal {
	var names []string
	for _, sp := range p.Footprint.Reads {
		names = append(names, sp.Path)
	}
	for _, l := range p.Footprint.Resolved {
		names = append(names, l.Path)
	}
	for _, c := range p.Footprint.Commands {
		names = append(names, c.Named()...)
	}
	for _, name := range names {
		if !secrets.MayHold(name) {
			continue
		}
		f, err := h.s.cfg.Files.Read(ctx, name, maxHeldFile)
		var large interface{ TooLarge() int64 }
		if errors.As(err, &large) && secrets.EnvFile(name) {
			return &turn.Refusal{Outcome: event.Failed, Text: fmt.Sprintf("%s is too large for its values to be masked, so it is not shown", name)}
		}
		if err == nil { // else the call itself says why it cannot be read
			h.s.cfg.Mask.Hold(secrets.File{Name: name, Text: string(f.Data)})
		}
	}
	return nil
}
