package session

import (
	"context"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// Numbers of waiting for room on the machine (SPEC 15.1).
const (
	pressureWait = 2 * time.Second
	pressureMost = 10 * time.Minute
)

// waitForResources waits while the machine has too little memory or disk for
// more work, and reports why. Running work continues. If it stays so, the turn
// ends: the session can be opened again later.
func (s *Session) waitForResources(ctx context.Context) (event.End, error) {
	if s.cfg.Pressure == nil {
		return "", nil
	}
	var since time.Time
	for {
		what, why := s.cfg.Pressure()
		switch {
		case what == "" && since.IsZero():
			return "", nil
		case what == "":
			return "", s.warnOfPressure(ctx, "there is space again: the run continues")
		case what == "disk" && s.cfg.EndAtFullDisk:
			return event.EndDisk, &fault.Error{
				Category: fault.Tool, Message: why,
				Hint: "free some space, then continue with --resume " + s.cfg.ID,
			}
		case since.IsZero():
			since = s.cfg.Now()
			if err := s.warnOfPressure(ctx, why+": new work waits until there is"); err != nil {
				return event.EndFailed, err
			}
		case s.cfg.Now().Sub(since) >= pressureMost:
			return event.EndFailed, &fault.Error{
				Category: fault.Tool, Message: why + ", for " + pressureMost.String() + " now",
				Hint: "free some space, then continue with --resume " + s.cfg.ID,
			}
		}
		if err := s.cfg.Sleep(ctx, pressureWait); err != nil {
			return turn.EndOf(context.Cause(ctx))
		}
	}
}

func (s *Session) warnOfPressure(ctx context.Context, text string) error {
	return s.log.Append(ctx, event.Draft{Body: event.Warned{What: event.WarnedPressure, Text: text}})
}
