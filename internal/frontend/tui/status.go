package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// status returns the line at the bottom: a hint, or what runs, then the session's settings
// and figures.
func (s *screen) status() styled.Line {
	if s.hint != "" {
		if mode := s.viModeLine(); mode != nil {
			return append(mode.Add(styled.Dim, " · "), styled.Of(styled.Warn, s.hint)...)
		}
		return styled.Of(styled.Warn, s.hint)
	}
	session := s.Conversation.Session()
	if session == nil {
		return styled.Of(styled.Dim, "opening…")
	}
	open := session.View()
	var parts []styled.Line
	if mode := s.viModeLine(); mode != nil {
		parts = append(parts, mode)
	}
	if s.busy {
		text, hint := "● "+s.activity(open.Activity()), "esc interrupts"
		if open.Activity() == lifecycle.ErrorRecovery { // its line counts down
			hint += ", then /model takes another"
		} else {
			text += since(s.busySince, s.Now())
		}
		parts = append(parts, styled.Of(styled.Accent, text))
		if a := s.Conversation.Attached(); a == nil || a.Steers || a.Interrupt != nil {
			parts = append(parts, styled.Of(styled.Dim, hint))
		}
	}
	if a := s.Conversation.Attached(); a != nil && a.Interrupt == nil {
		text := "watching"
		if a.Steers {
			text = "taking part"
		}
		parts = append(parts, styled.Of(styled.Accent, text))
	}
	mode := open.Mode()
	role := styled.Dim
	if mode.Free() {
		role = styled.Bad
	} else if mode != permission.Default(true) {
		role = styled.Accent
	}
	parts = append(parts, styled.Of(role, string(mode)), styled.Of(styled.Dim, plain.Line(open.Info().Model)))
	if urgency, percent := open.Urgency(); percent >= 0.5 {
		role := styled.Dim
		text := fmt.Sprintf("context %s %.0f %%", gauge(percent), percent)
		switch urgency {
		case "none":
		case "high", "critical":
			role, text = styled.Warn, text+" ("+urgency+", /compact)"
		default:
			text += " (" + urgency + ")"
		}
		parts = append(parts, styled.Of(role, text))
	}
	if spent, _ := open.Spent(); spent.Requests > 0 {
		text, role := money(spent, open.Limits())
		parts = append(parts, styled.Of(role, text))
	}
	if p := open.Phases(); p.Open != nil && !p.Open.Left {
		text := fmt.Sprintf("phase %d", p.Open.Number)
		if p.Totals.TotalPhases > 1 {
			text += fmt.Sprintf(" of %d", p.Totals.TotalPhases)
		}
		parts = append(parts, styled.Of(styled.Dim, text))
	}
	if jobs := open.Jobs(); len(jobs) > 0 {
		text := plural.Of(len(jobs), "job")
		if s.Width >= 60 {
			text += " " + whereJobs(jobs)
		}
		parts = append(parts, styled.Of(styled.Accent, plain.Line(text)))
	}
	if n := len(s.Conversation.Queue()); n > 0 {
		parts = append(parts, styled.Of(styled.Accent, fmt.Sprintf("%d waiting", n)))
	}
	if s.branch != "" {
		parts = append(parts, styled.Of(styled.Dim, plain.Line(s.branch)))
	}
	return joinFitting(parts, s.Width)
}

// whereJobs returns the first address of background commands, or what shows them.
func whereJobs(jobs []tool.Job) string {
	for _, j := range jobs {
		if url := slash.URL(j); url != "" {
			return url
		}
	}
	return "(/bashes)"
}

// gauge draws a percentage in one character.
func gauge(percent float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	return string(levels[max(0, min(len(levels)-1, int(percent*float64(len(levels))/100)))])
}

// money returns the cost and its limit, as a warning from 80 % of the limit on.
func money(s budget.Spent, l budget.Limits) (string, styled.Role) {
	text, role := cost(s), styled.Dim
	if known := s.Most(); l.USD > 0 && known != nil && *known > 0 {
		text += " of " + brief.Cost(&l.USD)
		if *known >= 0.8*l.USD {
			role = styled.Warn
		}
	}
	return text, role
}

// cost returns the cost in a short form.
func cost(s budget.Spent) string {
	if known := s.Cost(); known != nil {
		return brief.Cost(known)
	}
	if most := s.Most(); most != nil {
		return "up to " + brief.Cost(most)
	}
	return "cost unknown"
}

// joinFitting joins parts. If they do not fit into width, it drops the last ones, first of
// those that are dim.
func joinFitting(parts []styled.Line, width int) (out styled.Line) {
	for {
		out = nil
		for i, p := range parts {
			if i > 0 {
				out = out.Add(styled.Dim, " · ")
			}
			out = append(out, p...)
		}
		if out.Width() <= width || len(parts) < 2 {
			return out
		}
		last := len(parts) - 1
		for i := last; i > 0; i-- {
			if len(parts[i]) == 0 || parts[i][0].Role == styled.Dim {
				last = i
				break
			}
		}
		parts = slices.Delete(parts, last, last+1)
	}
}

// activity describes what runs.
func (s *screen) activity(state fsm.State) string {
	if s.question != nil {
		return "asks"
	}
	switch state {
	case lifecycle.Idle, lifecycle.ProcessingPrompt, lifecycle.ProgressCheck, lifecycle.PhaseTransition:
		return "working"
	case lifecycle.StreamingResponse:
		switch {
		case s.renderer.stream != nil:
			return "answering"
		case s.renderer.isThinking():
			return "thinking"
		}
		return "waiting for the model"
	case lifecycle.ExecutingTool:
		return "running"
	case lifecycle.ErrorRecovery:
		return "trying again"
	}
	return strings.ReplaceAll(string(state), "_", " ")
}

// updateTitle sets the window's title if it changed.
func (s *screen) updateTitle() {
	if s.Folder == "" {
		return
	}
	title := "pawl " + plain.Line(s.Folder)
	switch {
	case s.question != nil:
		title = "? " + title
	case s.busy:
		title = "● " + title
	}
	if title != s.title {
		s.title = title
		s.write("\x1b]2;" + title + "\x1b\\")
	}
}

// longTurn is how long work takes before its end is worth a notification.
const longTurn = 10 * time.Second

// workEnded is called when the conversation is no longer busy.
func (s *screen) workEnded() {
	if s.Now().Sub(s.busySince) >= longTurn {
		s.notify("pawl is done in " + s.Folder)
	}
}

// notify sends a desktop notification if the terminal does not have the focus.
func (s *screen) notify(text string) {
	if s.unfocused {
		text = strings.NewReplacer(";", ",", "\x1b", "", "\a", "").Replace(plain.Line(text))
		if s.Rxvt {
			s.write("\x1b]777;notify;pawl;" + text + "\x1b\\\a")
			return
		}
		s.write("\x1b]9;" + text + "\x1b\\\a")
	}
}
