package slash

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// mcpServers are the methods of a session's MCP servers that /mcp uses.
type mcpServers interface {
	Status() []mcp.Status
	Restart(name string) int
	Accept(ctx context.Context, name string) (mcp.Report, error)
}

// mcpPrompts are the methods of a session's MCP servers that commands use.
type mcpPrompts interface {
	Prompts() []mcp.Prompt
	Say(ctx context.Context, p mcp.Prompt, args string) (string, []llm.Media, error)
}

// Prompts returns the prompts of a session's MCP servers as commands.
func Prompts(s *session.Session) (out []Custom) {
	from, ok := s.View().Outside().(mcpPrompts)
	if !ok {
		return nil
	}
	for _, p := range from.Prompts() {
		out = append(out, Custom{Name: p.Command(), Args: p.Usage(), Doc: p.Doc, Fetch: func(ctx context.Context, args string) (string, []llm.Media, error) {
			return from.Say(ctx, p, args)
		}})
	}
	return out
}

// OfServer reports whether a name can only be that of an MCP server's prompt.
func OfServer(name string) bool { return strings.HasPrefix(name, "mcp__") }

// learnTime is how long Learn waits for a server.
const learnTime = 15 * time.Second

// Learn starts those MCP servers of a session whose prompts are unknown, and waits
// until these are known.
func Learn(ctx context.Context, s *session.Session) {
	if s == nil {
		return
	}
	from, ok := s.View().Outside().(interface {
		Begin()
		Settle(ctx context.Context, most time.Duration) []string
	})
	if ok {
		from.Begin()
		from.Settle(ctx, learnTime)
	}
}

func mcpCommand() Command {
	return Command{Name: "mcp", Args: "[restart [NAME] | reload | accept NAME]", Anytime: true, Doc: "list the MCP servers, restart them, add their new tools now, or accept their changes", Run: func(ctx context.Context, h Host, args string) error {
		s, ok := h.Session().View().Outside().(mcpServers)
		if !ok {
			return fmt.Errorf("this session has no MCP servers; to add one: pawl mcp add NAME -- COMMAND ARGS")
		}
		if verb := strings.TrimSpace(args); verb == "" || verb == "list" || verb == "status" {
			id, err := pickOrList(ctx, h, "MCP servers", serverItems(s.Status()))
			if err != nil || id == "" {
				return err
			}
			args = id
		}
		rejoin := func() error {
			_, err := h.Session().Submit(ctx, session.RefreshTools{})
			return err
		}
		return mcpRun(ctx, s, rejoin, h.Out(), args)
	}}
}

func mcpRun(ctx context.Context, s mcpServers, rejoin func() error, out io.Writer, args string) error {
	verb, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	name = strings.TrimSpace(name)
	switch verb {
	case "restart":
		if s.Restart(name) == 0 {
			return fmt.Errorf("there is no MCP server %s in this session; /mcp lists all", name)
		}
		fmt.Fprintln(out, "stopped; it starts again when it is needed")
	case "reload":
		if err := rejoin(); err != nil {
			return err
		}
		fmt.Fprintln(out, "the next prompt uses the servers' current tools, at full price: the prompt cache does not fit them")
	case "accept":
		r, err := s.Accept(ctx, name)
		if err != nil {
			return err
		}
		if err := rejoin(); err != nil {
			return err
		}
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("accepted the current state of %s, with %s", name, plural.Of(len(r.Tools), "tool"))))
	default:
		return fmt.Errorf("/mcp takes restart [NAME], reload or accept NAME")
	}
	return nil
}

// serverItems are what can be done with each server.
func serverItems(all []mcp.Status) (out []Item) {
	for _, st := range all {
		line := fmt.Sprintf("%s: %s, %s", st.Server.Name, st.State, plural.Of(st.Tools, "tool"))
		if st.PID != 0 {
			line += fmt.Sprintf(", process %d", st.PID)
		}
		if st.Starts > 1 {
			line += fmt.Sprintf(", started %d times", st.Starts)
		}
		if st.Why != "" {
			line += ": " + st.Why
		}
		start := "restart it"
		if st.State == "not started" {
			start = "start it"
		}
		out = append(out, Item{ID: "restart " + st.Server.Name, Group: line, Text: start})
		if len(st.Held) > 0 {
			out = append(out, Item{ID: "accept " + st.Server.Name, Group: line, Text: "accept its changes", More: strings.Join(st.Held, "\n")})
		}
	}
	return out
}
