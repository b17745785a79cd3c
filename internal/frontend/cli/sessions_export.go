package cli

import (
	"bufio"
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/page"
	"github.com/pawl-agent/pawl/internal/frontend/transcript"
	"github.com/pawl-agent/pawl/internal/policy/redact"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

func exportCommand(a *App) *cobra.Command {
	var format, output string
	var html bool
	c := &cobra.Command{
		Use: "export [ID]", Short: "Export a session as HTML, Markdown or JSONL (default: the newest of this folder)", Args: atMostOne,
		Long: `Export a session, by default the newest of this folder. Keys are masked, and the
contents of files that may be secret are left out.

html is one page for a browser; it loads nothing and runs nothing, and long outputs
are cut. jsonl contains every event, and can be imported again.`,
		RunE: func(c *cobra.Command, args []string) error {
			if html {
				if c.Flags().Changed("format") && format != "html" {
					return usageError("--html and --format %s cannot be used together; choose one", format)
				}
				format = "html"
			}
			return exportSession(c.Context(), a, args, format, output)
		},
	}
	c.Flags().StringVar(&format, "format", "markdown", "format of the export: html, markdown or jsonl")
	c.Flags().BoolVar(&html, "html", false, "the same as --format html")
	c.Flags().StringVarP(&output, "output", "o", "", "write to this new file instead of standard output")
	return c
}

func exportSession(ctx context.Context, a *App, args []string, format, output string) (err error) {
	if format != "html" && format != "markdown" && format != "jsonl" {
		return usageError("unknown --format %q: use html, markdown or jsonl", format)
	}
	st, _, row, err := a.stored(ctx, "", args...)
	if err != nil {
		return err
	}
	defer st.Close()
	out := a.Out
	if output != "" {
		f, err := os.OpenFile(a.Path(output), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return usageError("cannot export to %s: %w", output, err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	w := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	read := func(each func(event.Event) error) error {
		redact := redact.Events()
		return passEvents(ctx, st, row.ID, func(e event.Event) error { return each(redact(e)) })
	}
	switch format {
	case "html":
		return page.Write(w, read, page.Options{Version: Version, Mask: secrets.New(a.Secrets()...).String})
	case "markdown":
		return read(transcript.Markdown(w))
	}
	return read(func(e event.Event) error { return headless.WriteEvent(w, e) })
}
