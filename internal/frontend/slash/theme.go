package slash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

func theme() Command {
	return Command{Name: "theme", Anytime: true, Args: "[NAME]", Doc: "list the themes, or change the theme", Run: func(ctx context.Context, h Host, args string) error {
		var names []string
		var items []Item
		for _, t := range styled.Themes() {
			names = append(names, t.Name)
			items = append(items, Item{ID: t.Name, Text: t.Name, More: "to keep it: pawl config set screen.theme " + t.Name})
		}
		if args == "" {
			id, ok, err := h.Pick(ctx, "themes", items)
			if ok && (err != nil || id == "") {
				return err
			}
			args = id
		}
		all := strings.Join(names, ", ")
		switch {
		case args == "":
			fmt.Fprintf(h.Out(), "themes: %s; to set one permanently: pawl config set screen.theme NAME\n", all)
		case !slices.Contains(names, args):
			return fmt.Errorf("unknown theme %s; use one of %s", plain.Line(args), all)
		default:
			h.Do(SetTheme, args)
		}
		return nil
	}}
}
