package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/mcpserve"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// mcpServe offers a session as tools to another program (doc/mcp.md).
func (a *App) mcpServe(dir *string) *cobra.Command {
	f := &flags{}
	var http, tokenFile string
	c := &cobra.Command{
		Use: "serve", Short: "Run pawl as an MCP server for other programs: on standard input and output, or over HTTP", Args: exactly(0),
		Long: `Offer a session of pawl to another program, as an MCP server. Its tools are prompt,
status, diff and undo. These flags and your settings decide permissions, budget and
folder; no tool changes them.

The other program starts it. With --http it runs by itself, on this machine only: all
programs share one session, and each request needs the token in the file that
--token-file names. If the file does not exist, pawl makes it.`,
		Example: `  claude mcp add pawl -- pawl mcp serve -C /path/to/project --max-budget-usd 2
  pawl mcp serve --http 127.0.0.1:7296 --token-file ~/.pawl-token --max-budget-usd 2`,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Dir == "" {
				f.Dir = *dir
			}
			return serveTools(c.Context(), a, f, http, tokenFile)
		},
	}
	f.addSession(c)
	c.Flags().StringVar(&http, "http", "", "listen on this address of this machine, such as 127.0.0.1:7296, instead of standard input")
	c.Flags().StringVar(&tokenFile, "token-file", "", "the file with the token that programs send with --http, readable by you alone")
	return c
}

// minToken is the shortest token that is accepted, in bytes.
const minToken = 16

// serveToken returns the token in a file. A file that does not exist gets a new one.
func serveToken(file string) (string, error) {
	made, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = made.WriteString(rand.Text() + "\n")
		err = errors.Join(err, made.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	st, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return "", usageError("others can read %s: chmod 600 it, or name a new file", file)
	}
	raw, err := plainfile.Read(file, 4<<10)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", usageError("%s has no token: one line of at least %d characters without spaces; remove the file, and a new one is made", file, minToken)
	}
	return token, nil
}

func serveTools(ctx context.Context, a *App, f *flags, http, tokenFile string) error {
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return err
	}
	var listener net.Listener
	var token string
	switch {
	case http == "" && tokenFile != "":
		return usageError("--token-file needs --http")
	case http != "" && tokenFile == "":
		return usageError("--http needs --token-file: the file with the token that programs send; one that does not exist yet is made")
	case http != "":
		if token, err = serveToken(tokenFile); err != nil {
			return err
		}
		listener, err = mcpserve.Listen(ctx, http)
		if errors.Is(err, mcpserve.ErrAddress) {
			return usageError("--http %s: %w", http, err)
		}
		if err != nil {
			return err
		}
		defer listener.Close()
	}
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	surviveClosedOutput()
	var o *setup.Opened
	server := mcpserve.New(ctx, mcpserve.Options{
		In: io.NopCloser(a.In), Out: a.Out, Version: Version, Dir: dir,
		Open: func(ctx context.Context, ask bool) (*session.Session, error) {
			g := *f
			var err error
			if o, err = a.Open(ctx, &g.Options, setup.Frontend{Name: "mcp", Person: ask}); err != nil {
				return nil, err
			}
			a.warn(o.Warnings...)
			return o.Session, nil
		},
	})
	if listener != nil {
		a.warn(fmt.Sprintf("listening on http://%s; programs send the token in %s", listener.Addr(), tokenFile))
		err = server.Serve(ctx, listener, token)
	} else {
		err = server.Run(ctx)
	}
	if o != nil {
		o.Close()
	}
	if err != nil {
		return err
	}
	return interrupted(context.Cause(ctx))
}
