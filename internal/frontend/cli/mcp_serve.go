package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/mcpserve"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// mcpServe offers a session as tools to another program (doc/mcp.md).
func (a *App) mcpServe(dir *string) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "serve", Short: "Run pawl as an MCP server on standard input and output, for other programs", Args: exactly(0),
		Long: `Offer a session of pawl to another program, as an MCP server with the tools
prompt, status, diff and undo. The other program starts it. These flags and your
settings decide its permissions, budget and folder; no tool can change them.`,
		Example: `  claude mcp add pawl -- pawl mcp serve -C /path/to/project --max-budget-usd 2`,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Dir == "" {
				f.Dir = *dir
			}
			return serveTools(c.Context(), a, f)
		},
	}
	f.addSession(c)
	return c
}

func serveTools(ctx context.Context, a *App, f *flags) error {
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var by string
	signals := a.Signals()
	go func() {
		select {
		case sig := <-signals:
			by = sig
			stop(session.Interrupt{By: sig})
		case <-ctx.Done():
		}
	}()
	surviveClosedOutput()
	var o *setup.Opened
	said := wrapped(a.Err, false)
	err = mcpserve.New(ctx, mcpserve.Options{
		In: io.NopCloser(a.In), Out: a.Out, Version: Version, Dir: dir,
		Open: func(ctx context.Context, ask bool) (*session.Session, error) {
			g := *f
			var err error
			if o, err = a.Open(ctx, &g.Options, setup.Frontend{Name: "mcp", Person: ask}); err != nil {
				return nil, err
			}
			for _, w := range o.Warnings {
				fmt.Fprintln(said, "pawl: "+plain.Line(w))
			}
			return o.Session, nil
		},
	}).Run(ctx)
	if o != nil {
		o.Close()
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return exitBy(by)
	}
	return nil
}
