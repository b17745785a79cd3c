package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// settleMode decides the mode of a session that is opened again. A flag's mode
// holds. Without one it is the session's own, but a mode that allows more than
// a new session would have is not taken over silently: a person is asked, and
// without a person a flag must name it.
func (a *App) settleMode(ctx context.Context, o *opened, f *flags, fr front, start permission.Mode) error {
	was := o.View().Mode()
	if fr.readOnly || o.View().Began() == 0 || was == start {
		return nil
	}
	switch {
	case f.mode != "":
	case !was.Wider(start):
		return nil
	case fr.confirm != nil:
		yes, err := fr.confirm(fmt.Sprintf("this session was in mode %s, which allows more than %s: go on in %s? [y]es, [n]o: ", was, start, was))
		if err != nil {
			return err
		}
		if yes {
			return nil
		}
	default:
		o.warnings = append(o.warnings, fmt.Sprintf("the session was in mode %s and goes on in %s; --permission-mode %s names it again", was, start, was))
	}
	_, err := o.Submit(ctx, session.SetMode{Mode: string(start)})
	return err
}

func answeredYes(answer string) bool {
	w := strings.ToLower(strings.TrimSpace(answer))
	return w == "y" || w == "yes"
}
