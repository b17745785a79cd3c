package session

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// fallbackChain returns the fallback models, one at each call: those of the fallback
// chain and the configured one, each at most once a turn (SPEC 3.3). The
// session stays with the model that continued.
func (s *Session) fallbackChain(inUse llm.Model) func(context.Context, event.Retried) (llm.Model, error) {
	tried := map[string]bool{inUse.Info().Ref(): true}
	return func(ctx context.Context, why event.Retried) (llm.Model, error) {
		for _, ref := range s.cfg.Fallback {
			if tried[ref] {
				continue
			}
			tried[ref] = true
			m, err := s.cfg.OpenModel(ref, s.cfg.Effort)
			if err == nil {
				err = s.cfg.Limits.Allow(m.Info())
			}
			if err != nil {
				note := event.Warned{What: event.WarnedFallback, Text: "the fallback model " + ref + " cannot be used: " + err.Error()}
				if err := s.log.Append(ctx, event.Draft{Body: note}); err != nil {
					return nil, err
				}
				continue
			}
			if known := m.Info().Ref(); known != ref {
				if tried[known] {
					continue
				}
				tried[known] = true
			}
			return m, s.continueWith(ctx, m, why)
		}
		if home := s.cfg.Model.Info().Ref(); len(s.cfg.Fallback) > 0 && !tried[home] {
			tried[home] = true
			return s.cfg.Model, s.continueWith(ctx, s.cfg.Model, why)
		}
		return nil, nil
	}
}

func (s *Session) continueWith(ctx context.Context, m llm.Model, why event.Retried) error {
	why.Model = m.Info().Ref()
	return s.switchModel(ctx, m, event.RebasedFallback, event.Draft{Body: why})
}

// Answers to the question whether to wait.
const (
	waitForIt = "wait"
	stopNow   = "stop"
)

// waitLonger reports whether to wait as long as a provider asks (SPEC 3.4): a
// person is asked; without one the run's time limits decide, and without limits
// it does not wait.
func (s *Session) waitLonger(ctx context.Context, why event.Retried) (bool, error) {
	if s.cfg.Person {
		a, err := s.questions.Ask(ctx, event.Asked{
			Why: event.AskedWait, Options: []string{waitForIt, stopNow},
			Text: fmt.Sprintf("%s. Wait %s and try again?", why.Error.Message, why.Wait.Round(time.Second)),
		})
		return err == nil && a.Text == waitForIt, err
	}
	left, limited := s.spending.TimeLeft()
	return limited && why.Wait < left, nil
}
