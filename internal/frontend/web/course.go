package web

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// stats is what `pawl stats SESSION` counts of a session and its agents, to be drawn.
func (s *server) stats(r *request) (Stats, error) {
	out := Stats{Replies: []Moment{}, Signals: []Signal{}, Checks: []CheckRun{}, Tools: []ToolUse{}}
	row, err := s.sessions.row(r.Context(), r.PathValue("id"))
	if err != nil {
		return out, err
	}
	rows, err := s.cfg.Store.Sessions(r.Context(), "")
	if err != nil {
		return out, err
	}
	all, err := brief.Count(r.Context(), s.cfg.Store, brief.Family(rows, func(r event.Row) bool { return r.ID == row.ID }))
	if err != nil {
		return out, err
	}
	out.Unknown = all.All.Unknown
	for _, m := range all.Course.Replies {
		out.Replies = append(out.Replies, Moment{m.Reply, m.Time.UTC(), m.USD, m.Tokens, m.Window})
	}
	for _, x := range all.Course.Signals {
		to := Signal{x.Reply, x.Time.UTC(), plain.Line(x.Level), plain.Line(x.Rule), plain.Line(x.Text), []string{}}
		for _, e := range x.Evidence {
			to.Evidence = append(to.Evidence, plain.Line(e))
		}
		out.Signals = append(out.Signals, to)
	}
	for _, c := range all.Course.Checks {
		out.Checks = append(out.Checks, CheckRun{c.Reply, plain.Line(c.Name), c.OK, brief.CheckResult(c)})
	}
	for _, t := range all.Tools {
		out.Tools = append(out.Tools, ToolUse{plain.Line(t.Name), t.Calls, t.Failed})
	}
	return out, nil
}
