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
	return Command{Name: "theme", Anytime: true, Args: "[NAME]", Doc: "list the themes, or change the theme", Run: func(_ context.Context, h Host, args string) error {
		var names []string
		for _, t := range styled.Themes() {
			names = append(names, t.Name)
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
