package slash

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// shownSessions is how many sessions are described: the cost of each must be read from its
// events.
const shownSessions = 30

func resume() Command {
	return Command{Name: "resume", Args: "[ID]", Doc: "pick one of this folder's sessions, or continue one", Run: func(ctx context.Context, h Host, args string) error {
		if args != "" {
			return h.Switch(ctx, Want{Resume: args})
		}
		rows, err := h.Sessions(ctx)
		if err != nil {
			return err
		}
		items := SessionItems(rows, h.Session().ID(), h.Now(), func(r event.Row) (string, string) { return h.About(ctx, r) })
		if id, ok, err := h.Pick(ctx, "sessions of this folder", items); ok {
			if err != nil || id == "" {
				return err
			}
			return h.Switch(ctx, Want{Resume: id})
		}
		if len(items) == 0 {
			fmt.Fprintln(h.Out(), "there is no other session of this folder")
		}
		for _, it := range items[:min(len(items), shownSessions)] {
			fmt.Fprintf(h.Out(), "  %s  %s\n      %s\n", it.ID, plain.Line(it.Text), plain.Line(it.About))
		}
		if more := len(items) - shownSessions; more > 0 {
			fmt.Fprintf(h.Out(), "  and %s; pawl sessions list --limit 0 lists all\n", plural.Of(more, "older session"))
		}
		return nil
	}}
}

// SessionItems returns sessions to pick from: those with a prompt, without the current one.
// about describes a session as Host.About does.
func SessionItems(rows []event.Row, current string, now time.Time, about func(event.Row) (about, last string)) (items []Item) {
	for _, r := range rows {
		if r.ID == current || r.Title == "" {
			continue
		}
		it := Item{ID: r.ID, Text: r.Title, About: brief.Age(now.Sub(r.Updated))}
		if len(items) < shownSessions {
			about, last := about(r)
			it.About = strings.TrimRight(it.About+", "+about, ", ")
			it.More = last
		}
		it.More = strings.TrimSpace(it.More + "\n" + r.Dir)
		items = append(items, it)
	}
	return items
}
