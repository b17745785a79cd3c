package brief

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/stats"
)

// Count counts what sessions did, and how it went: the data of `pawl stats` and of the
// page.
func Count(ctx context.Context, st event.Store, rows []event.Row) (stats.Report, error) {
	fold, course, shared := stats.Fold{Zone: time.Local, Apart: map[string]bool{}}, stats.CourseFold{}, counted{}
	for _, r := range rows {
		fold.Apart[r.ID] = true
	}
	for _, r := range rows {
		skip := shared.skip(r, rows)
		for e, err := range st.Read(ctx, r.ID, skip) {
			if err != nil {
				return stats.Report{}, fmt.Errorf("session %s: %w", r.ID, err)
			}
			fold.Apply(e)
			course.Apply(e)
		}
	}
	rep, how := fold.Report(), course.Course()
	rep.Course = &how
	return rep, nil
}

// Family returns sessions, and behind them those of their agents and workers, and of theirs.
func Family(rows []event.Row, is func(event.Row) bool) (out []event.Row) {
	in := map[string]bool{}
	for _, r := range rows {
		if is(r) {
			in[r.ID], out = true, append(out, r)
		}
	}
	for n := -1; n < len(out); {
		n = len(out)
		for _, r := range rows {
			if r.Parent != nil && in[r.Parent.Session] && !in[r.ID] {
				in[r.ID], out = true, append(out, r)
			}
		}
	}
	return out
}

// counted maps a session to the last of its events that were counted as those of a fork
// that shares them.
type counted map[string]int64

// skip returns the last of a session's events that belong to another counted session:
// events that a fork shares are counted once.
func (c counted) skip(r event.Row, rows []event.Row) int64 {
	if r.Origin == nil || len(rows) == 1 {
		return 0
	}
	for _, other := range rows {
		if other.ID == r.Origin.Session {
			return r.Origin.At
		}
	}
	done := c[r.Origin.Session] // the parent was deleted, its forks were not
	c[r.Origin.Session] = max(done, r.Origin.At)
	return min(done, r.Origin.At)
}
