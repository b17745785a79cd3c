package tui

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// ownRows is how many rows the person's status line may have.
const ownRows = 2

// own is the person's status line: the rows that their program printed last.
type own struct {
	of      *session.Session // for which it has run
	rows    []string
	running bool
	again   bool // something changed while it ran
}

// updateOwn runs the person's program if the session is another one; now: also otherwise.
// It runs once at a time, beside the loop, and never by a timer.
func (s *screen) updateOwn(ctx context.Context, now bool) {
	run, open := s.Conversation.StatusLine(), s.Conversation.Session()
	if run == nil || open == nil || open == s.own.of && !now {
		return
	}
	s.own.of = open
	if s.own.again = s.own.running; s.own.running {
		return
	}
	s.own.running = true
	input := s.ownInput(open)
	go func() {
		rows := ownLines(run(ctx, input))
		s.post(ctx, func() {
			s.own.rows, s.own.running = rows, false
			if s.own.again {
				s.updateOwn(ctx, true)
			}
		})
	}()
}

// ownLines returns the rows of what a program printed, without what could change the
// terminal (SPEC 16.11).
func ownLines(text string) (rows []string) {
	for line := range strings.Lines(strings.TrimSpace(plain.Text(text))) {
		if line = strings.TrimSpace(plain.Line(line)); line != "" && len(rows) < ownRows {
			rows = append(rows, line)
		}
	}
	return rows
}

// ownInput returns the JSON for the program, with the keys that Claude Code gives.
func (s *screen) ownInput(open *session.Session) []byte {
	v := open.View()
	info, spent := v.Info(), any(nil)
	if all, _ := v.Spent(); all.Cost() != nil {
		spent = *all.Cost()
	}
	_, percent := v.Urgency()
	out, _ := json.Marshal(map[string]any{ // these values can be encoded
		"hook_event_name": "Status", "session_id": open.ID(), "cwd": s.Dir, "permission_mode": v.Mode().Hook(), "transcript_path": "",
		"model":          map[string]any{"id": info.Model, "display_name": info.Model},
		"workspace":      map[string]any{"current_dir": s.Dir, "project_dir": s.Dir},
		"version":        s.Version,
		"output_style":   map[string]any{"name": "default"},
		"cost":           map[string]any{"total_cost_usd": spent},
		"context_window": map[string]any{"used_percentage": percent},
	})
	return out
}

// ownLinesShown returns the rows to draw.
func (s *screen) ownLinesShown() (out []styled.Line) {
	for _, r := range s.own.rows {
		out = append(out, styled.Of(styled.Dim, r))
	}
	return out
}
