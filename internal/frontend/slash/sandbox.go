package slash

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

func sandboxCommand() Command {
	return Command{Name: "sandbox", Anytime: true, Doc: "show whether commands run in a sandbox, and what is allowed there", Run: func(_ context.Context, h Host, args string) error {
		if err := noArguments(args); err != nil {
			return fmt.Errorf("%w; to run a command in the sandbox: pawl sandbox -- COMMAND", err)
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
			fmt.Fprintln(h.Out(), "allowed by your permissions:")
		}
		for _, o := range opened {
			fmt.Fprintln(h.Out(), plain.Line(o))
		}
		fmt.Fprintln(h.Out(), "to set the level for the next session: --sandbox or /config sandbox; see doc/safety.md")
		return nil
	}}
}

// confined returns how commands run in a mode.
func confined(s permission.Sandbox, m permission.Mode) string {
	switch {
	case s.Off:
		return "commands do not run in a sandbox: you turned it off"
	case !s.ReadOnly && !s.Workspace:
		return "commands do not run in a sandbox: the system has none, or only a part of it (/doctor shows what is missing)"
	case m.Free() && !s.Configured:
		return "commands do not run in a sandbox in the mode " + string(m) + "; in the other modes they do"
	case s.Narrow || m.ReadsOnly():
		return "commands run in a read-only sandbox: they change nothing, and cannot read keys or use the network"
	}
	return "commands run in a sandbox: they can change only the workspace (except its protected files), cannot read keys, and can reach only the hosts that you allow; a command that only reads cannot change anything"
}
