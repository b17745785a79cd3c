package slash

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/sorting"
)

func hooksCommand() Command {
	return Command{Name: "hooks", Anytime: true, Doc: "list the hooks that run in this session", Run: func(ctx context.Context, h Host, _ string) error {
		rules := h.Session().View().Hooks()
		var items []Item
		for _, r := range rules {
			if r.InactiveBecause == "" {
				items = append(items, Item{Group: string(r.Event), Text: strings.TrimSpace(r.Matcher + "  " + r.Command), About: r.From})
			}
		}
		if len(items) == 0 {
			fmt.Fprintln(h.Out(), "no hooks run in this session; pawl hooks list also lists those of the folder")
			return nil
		}
		sorting.By(items, func(a, b Item) int { return strings.Compare(a.Group, b.Group) })
		_, err := pickOrList(ctx, h, "hooks", items)
		return err
	}}
}
