package slash

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
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
		items := SessionItems(rows, h.Session().ID(), func(r event.Row) (string, string) { return h.About(ctx, r) })
		if id, ok, err := h.Pick(ctx, "sessions of this folder", items); ok {
			if err != nil || id == "" || id == h.Session().ID() {
				return err
			}
			return h.Switch(ctx, Want{Resume: id})
		}
		for _, it := range items[:min(len(items), shownSessions)] {
			when, here, _ := strings.Cut(it.About, "  ")
			fmt.Fprintln(h.Out(), strings.TrimRight(plain.Line(fmt.Sprintf("  %s  %9s  %s  %s", it.ID, when, it.Text, here)), " "))
			if about, _, more := strings.Cut(it.More, "\n"); more {
				fmt.Fprintln(h.Out(), plain.Line("      "+about))
			}
		}
		if more := len(items) - shownSessions; more > 0 {
			fmt.Fprintf(h.Out(), "  and %d older sessions; pawl sessions list --limit 0 lists all\n", more)
		}
		return nil
	}}
}

// SessionItems returns sessions to pick from. current is the one that is open, about
// returns an age and a description (Host.About).
func SessionItems(rows []event.Row, current string, about func(event.Row) (age, about string)) (items []Item) {
	for i, r := range rows {
		it := Item{ID: r.ID, Text: cmp.Or(r.Title, "(no prompt)")}
		if i < shownSessions {
			it.About, it.More = about(r)
		}
		if r.ID == current {
			it.About += "  (this one)"
		}
		it.More = strings.TrimSpace(it.More + "\n" + r.Dir)
		items = append(items, it)
	}
	return items
}
