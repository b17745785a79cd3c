package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// settleMode decides the mode of a session that is opened again. A mode given by a flag
// wins. Otherwise the session's own mode applies, but one that allows more than a new
// session would is not taken over silently: a person is asked, and without a person a
// flag must name it.
func (s *opening) settleMode(ctx context.Context, start permission.Mode) error {
	was, confirm := s.o.View().Mode(), s.fr.Confirm
	if s.fr.ReadOnly || s.o.View().Began() == 0 || was == start {
		return nil
	}
	switch {
	case s.opt.Mode != "":
	case !was.Wider(start):
		return nil
	case confirm != nil:
		yes, err := confirm(fmt.Sprintf("this session was in mode %s, which allows more than %s: continue in mode %s?", was, start, was))
		if err != nil && !errors.Is(err, ErrLater) {
			return err
		}
		if yes {
			return nil
		}
	default:
		s.o.warn(fmt.Sprintf("the session was in mode %s, and continues in mode %s; to use the old mode: --permission-mode %s", was, start, was))
	}
	_, err := s.o.Submit(ctx, session.SetMode{Mode: string(start)})
	return err
}
