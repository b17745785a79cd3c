package slash

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

func sandboxCommand() Command {
	return Command{Name: "sandbox", Anytime: true, Doc: "show how commands are confined here, and what was opened for them", Run: func(_ context.Context, h Host, args string) error {
		if err := noArguments(args); err != nil {
			return fmt.Errorf("%w; a command is run in the sandbox with: pawl sandbox -- COMMAND", err)
		}
		v := h.Session().View()
		fmt.Fprintln(h.Out(), confined(v.Sandbox(), v.Mode()))
		var opened []string
		for _, g := range v.Grants() {
			for _, family := range []string{"edit(/", "read(/", "network(", "unconfined("} {
				if strings.HasPrefix(g, family) {
					opened = append(opened, "  "+g)
				}
			}
		}
		if len(opened) > 0 {
			fmt.Fprintln(h.Out(), "opened by what you allowed:")
		}
		for _, o := range opened {
			fmt.Fprintln(h.Out(), plain.Line(o))
		}
		fmt.Fprintln(h.Out(), "the level is set with --sandbox or /config sandbox, for the next session; doc/sandbox.md has all of it")
		return nil
	}}
}

// confined returns how commands run in a mode.
func confined(s permission.Sandbox, m permission.Mode) string {
	switch {
	case s.Off:
		return "commands are not confined: you turned the sandbox off"
	case !s.ReadOnly && !s.Workspace:
		return "commands are not confined: the system has no sandbox, or not all of it (/doctor says what is missing)"
	case m == permission.Yolo && !s.Configured:
		return "commands are not confined in the mode yolo; in the others they are"
	case s.Narrow || m == permission.Plan:
		return "commands are confined to reading: they change nothing, see no keys, and have no network"
	}
	return "commands are confined: they change only the workspace without its protected names, see no keys, and reach no hosts but those that you allow; one that only reads changes nothing"
}
