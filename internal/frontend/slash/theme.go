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
	return Command{Name: "theme", Anytime: true, Args: "[NAME]", Doc: "show the themes, or change to one", Run: func(_ context.Context, h Host, args string) error {
		var names []string
		for _, t := range styled.Themes() {
			names = append(names, t.Name)
		}
		all := strings.Join(names, ", ")
		switch {
		case args == "":
			fmt.Fprintf(h.Out(), "themes: %s; pawl config set screen.theme NAME keeps one\n", all)
		case !slices.Contains(names, args):
			return fmt.Errorf("there is no theme %s; there are %s", plain.Line(args), all)
		default:
			h.Do(SetTheme, args)
		}
		return nil
	}}
}
