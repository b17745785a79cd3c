package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func lspCommand(a *App) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "lsp", Short: "List and test the language servers of this folder",
		Long: `List the language servers of this folder, and test whether they work.
A server belongs to the conversation that started it; in the conversation, /lsp
lists those that run. See doc/lsp.md.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return lspStatus(a, dir) },
	}
	c.PersistentFlags().StringVarP(&dir, "dir", "C", "", "use this folder instead of the current one")
	c.AddCommand(
		&cobra.Command{
			Use: "status", Short: "List the servers of this folder, and where their programs are", Args: exactly(0),
			RunE: func(c *cobra.Command, _ []string) error { return lspStatus(a, dir) },
		},
		&cobra.Command{
			Use: "restart [NAME]", Short: "Restart the servers of this folder in all conversations", Args: atMostOne,
			RunE: func(c *cobra.Command, args []string) error {
				if err := a.RestartLanguageServers(dir, strings.Join(args, "")); err != nil {
					return err
				}
				_, err := fmt.Fprintln(a.Out, "the running servers of this folder stop within five seconds, and start again when they are needed")
				return err
			},
		},
		&cobra.Command{
			Use: "doctor", Short: "Start each server of this folder, and print what it can do", Args: exactly(0),
			RunE: func(c *cobra.Command, _ []string) error { return lspTry(c.Context(), a, dir, false) },
		},
		&cobra.Command{
			Use: "logs", Short: "Start each server of this folder, and print its log", Args: exactly(0),
			RunE: func(c *cobra.Command, _ []string) error { return lspTry(c.Context(), a, dir, true) },
		},
	)
	return c
}

func lspStatus(a *App, dir string) error {
	s, stop, err := a.LanguageServers(dir)
	if err != nil {
		return err
	}
	defer stop()
	out := wrapped(a.Out, true)
	found := s.Here()
	for _, h := range found {
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("%-14s %s", h.Name, hereText(h))))
	}
	if len(found) == 0 {
		fmt.Fprintln(out, "pawl knows no language server for the files of this folder")
	}
	return nil
}

func hereText(h lsp.Here) string {
	switch {
	case h.Program == "":
		return "not installed; to install it: " + h.Install
	case h.Untrusted:
		return h.Program + ", not started: it would run code of this folder, which is not trusted; to trust it: pawl trust"
	}
	return h.Program
}

func lspTry(ctx context.Context, a *App, dir string, logs bool) error {
	s, stop, err := a.LanguageServers(dir)
	if err != nil {
		return err
	}
	defer stop()
	out := wrapped(a.Out, true)
	bad := false
	for _, h := range s.Here() {
		if h.Program == "" || h.Untrusted {
			fmt.Fprintln(out, plain.Line(fmt.Sprintf("note  %-14s %s", h.Name, hereText(h))))
			continue
		}
		began := a.Now()
		st, err := s.Try(ctx, h)
		if err != nil {
			bad = true
			fmt.Fprintln(out, plain.Line(fmt.Sprintf("BAD   %-14s %v", h.Name, err)))
		} else {
			fmt.Fprintln(out, plain.Line(fmt.Sprintf("ok    %-14s ready after %s, %d MB; %s", h.Name, a.Now().Sub(began).Round(time.Millisecond), st.Memory>>20, strings.Join(st.Can, ", "))))
		}
		if logs {
			writeLogs(out, s.Logs(), h.Name, fmt.Sprint(err))
		}
	}
	if bad {
		return &exitError{code: 1}
	}
	return nil
}

// writeLogs writes what a server printed, without what the line before it has.
func writeLogs(out io.Writer, logs map[string][]string, name, said string) {
	for of, lines := range logs {
		if !strings.HasPrefix(of, name+" ") {
			continue
		}
		for _, l := range lines {
			if !strings.Contains(said, l) {
				fmt.Fprintln(out, plain.Line("        "+l))
			}
		}
	}
}
