package session

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// stuckGate blocks calls that belong to a detected loop (SPEC 6.5).
type stuckGate struct{ s *Session }

func (g *stuckGate) Check(_ context.Context, step []*turn.Pending) error {
	g.s.log.View(func() {
		for _, p := range step {
			if p.Refused != nil {
				continue
			}
			if blocked, why := g.s.progress.Blocked(p.Tool.Spec.Name, g.s.recorded(p.Call.Args)); blocked {
				p.Refused = p.Deny(why, event.ByStuck)
				p.Refused.Text = why
			}
		}
	})
	return nil
}

// Answers to the question whether a run that goes in circles should continue.
const (
	goOn     = "go on"
	stopHere = "stop"
)

// escalate takes the escalation's next action, if one is due: a message to the
// model, a block, or the end of the turn. A person is asked before the end.
func (s *Session) escalate(ctx context.Context) (event.End, error) {
	d := eventlog.Query(s.log, s.progress.Next)
	if d.Action == progress.Nothing {
		return "", nil
	}
	stuck := d.Event()
	if err := s.log.Append(ctx, event.Draft{Body: stuck}); err != nil {
		return event.EndFailed, err
	}
	if d.Action != progress.Stop {
		return "", nil
	}
	a, err := s.questions.Ask(ctx, event.Asked{Why: event.AskedStuck, Text: stuck.Text + " Go on anyway?", Options: []string{goOn, stopHere}})
	switch {
	case errors.Is(err, tool.ErrNobody):
	case err != nil:
		return turn.EndOf(err)
	case a.Text != stopHere && a.Text != "":
		// A person's answer resets stuck detection, and the model is told.
		note := event.Noted{Why: event.NotedStuck, Text: "[The user says: " + a.Text + "]"}
		return "", s.log.Append(ctx, event.Draft{Body: note})
	}
	return event.EndStuck, &fault.Error{Category: fault.LLM, Message: stuck.Text, Hint: "go on with another instruction"}
}
