package slash

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// servers is what /lsp needs of a session's language servers.
type servers interface {
	Status() []lsp.Status
	Restart(ctx context.Context, name string) int
	Logs() map[string][]string
}

func lspCommand() Command {
	return Command{Name: "lsp", Args: "[restart [NAME] | logs]", Anytime: true, Doc: "list the language servers (state, memory, features), restart them, or show their logs", Run: func(ctx context.Context, h Host, args string) error {
		err := lspRun(ctx, h.Session().View().Code(), h.Out(), args)
		if err == nil && strings.HasPrefix(args, "restart") { // there may be a server now, or none any more
			_, err = h.Session().Submit(ctx, session.RefreshTools{})
		}
		return err
	}}
}

func lspRun(ctx context.Context, code tool.Code, out io.Writer, args string) error {
	s, ok := code.(servers)
	if !ok {
		return fmt.Errorf("this session has no language servers")
	}
	verb, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	switch verb {
	case "", "status":
		writeServers(out, s.Status())
	case "restart":
		if n := s.Restart(ctx, name); n == 0 && name != "" {
			return fmt.Errorf("the language server %s was not used in this session", name)
		}
		fmt.Fprintln(out, "stopped; they start again when they are needed")
	case "logs":
		logs := s.Logs()
		for _, of := range slices.Sorted(maps.Keys(logs)) {
			fmt.Fprintln(out, plain.Line(of+":"))
			for _, l := range logs[of] {
				fmt.Fprintln(out, plain.Line("  "+l))
			}
		}
		if len(logs) == 0 {
			fmt.Fprintln(out, "no language server wrote a log")
		}
	default:
		return fmt.Errorf("/lsp takes restart [NAME] or logs")
	}
	return nil
}

func writeServers(out io.Writer, all []lsp.Status) {
	if len(all) == 0 {
		fmt.Fprintln(out, "no language server was used yet")
	}
	for _, st := range all {
		line := fmt.Sprintf("%s in %s: %s", st.Name, st.Root, st.State)
		if st.PID != 0 {
			line += fmt.Sprintf(", process %d, %d MB, %s open, idle for %s", st.PID, st.Memory>>20, plural.Of(st.Documents, "file"), st.Idle.Round(time.Second))
		}
		if st.Starts > 1 {
			line += fmt.Sprintf(", started %d times", st.Starts)
		}
		if st.Problem != "" {
			line += ": " + st.Problem
		}
		fmt.Fprintln(out, plain.Line(line))
		if len(st.Can) > 0 {
			fmt.Fprintln(out, plain.Line("  "+strings.Join(st.Can, ", ")))
		}
	}
}
