package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func hooksCommand() Command {
	return Command{Name: "hooks", Anytime: true, Doc: "list the hooks that run in this session", Run: func(_ context.Context, h Host, _ string) error {
		rules := h.Session().View().Hooks()
		n := 0
		for _, r := range rules {
			if r.InactiveBecause != "" {
				continue
			}
			n++
			line := string(r.Event)
			if r.Matcher != "" {
				line += " " + r.Matcher
			}
			fmt.Fprintln(h.Out(), "  "+plain.Line(line+": "+r.Command+" ("+r.From+")"))
		}
		if n == 0 {
			fmt.Fprintln(h.Out(), "no hooks run in this session; pawl hooks list also lists those of the folder")
		}
		return nil
	}}
}
