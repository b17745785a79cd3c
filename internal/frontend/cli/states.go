package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// statesCommand draws the state tables that control pawl.
func statesCommand(a *App) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use: "states [name]", Short: "Draw pawl's state machines",
		Long: `Draw pawl's state machines, or the one with this name. The running program checks
every transition against these tables.

  pawl states --format dot agent | dot -Tsvg > agent.svg`,
		Args: atMostOne,
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return drawStates(a.Out, format, name)
		},
	}
	c.Flags().StringVar(&format, "format", format, strings.Join(fsm.Formats(), ", "))
	return c
}

// drawStates writes the table with this name, or all of them. All tables in Mermaid are
// a page of Markdown, since several diagrams need headings.
func drawStates(w io.Writer, format, name string) error {
	if !slices.Contains(fsm.Formats(), format) {
		return usageError("unknown --format %q: use one of %s", format, strings.Join(fsm.Formats(), ", "))
	}
	tables := drawn()
	if name != "" {
		i := slices.IndexFunc(tables, func(t *fsm.Table) bool { return t.Name == name })
		if i < 0 {
			return usageError("unknown state machine %q: use one of %s", name, tableNames(tables))
		}
		tables = tables[i : i+1]
	}
	for i, t := range tables {
		text, err := t.Draw(format)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if format == "mermaid" && name == "" {
			text = fmt.Sprintf("## %s\n\n%s\n\n```mermaid\n%s```\n", t.Name, t.Doc, text)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// drawn returns the tables: the state tables, the graph of routes, and the states of a task.
func drawn() []*fsm.Table { return append(lifecycle.Tables(), route.Table(), swarm.Table()) }

func tableNames(tables []*fsm.Table) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
