package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/acp"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// This file runs pawl as the agent of an editor (ADR 023, doc/programs.md).

func acpCommand(a *App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use:   "acp",
		Short: "Serve an editor (Agent Client Protocol)",
		Long: `Serve an editor over the Agent Client Protocol, on standard input and output.
The editor starts it; doc/programs.md describes its settings.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return a.serveEditor(c.Context(), f) },
	}
	f.addSession(c)
	c.AddCommand(a.forPerson(&cobra.Command{
		Use: "login", Short: "Sign in to OpenRouter, as an editor starts it", Hidden: true, Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return logIn(c.Context(), a, "openrouter", false) },
	})...)
	return c
}

// serveEditor serves one editor until the editor disconnects.
func (a *App) serveEditor(ctx context.Context, f *flags) error {
	surviveClosedOutput()
	signal, err := acp.Run(ctx, acp.Options{
		In: a.In, Out: a.Out, Err: wrapped(a.Err, false), Version: Version, Signals: a.Signals(),
		Chat:     func(_ context.Context, p acp.Place) (chat.Config, error) { return editorChat(a, f, p) },
		Sessions: a.storedSessions,
		Delete:   a.deleteStored,
		Usable: func() (llm.Info, error) {
			conf, _, err := a.Settings()
			if err != nil {
				return llm.Info{}, err
			}
			m, err := a.Resolve(f.Model, conf)
			return m.Info, err
		},
		Models: func(ctx context.Context) (out []string) {
			for _, m := range a.knownModels(ctx) {
				if ref, _, _ := strings.Cut(m, "\t"); ref == "offline" || strings.Contains(ref, "/") { // no short names
					out = append(out, ref)
				}
			}
			return out
		},
	})
	if err != nil {
		return err
	}
	return exitBy(signal)
}

// editorChat returns the configuration of one session of an editor. What must be
// decided before a session is open is decided as without a person, and reported.
func editorChat(a *App, f *flags, p acp.Place) (chat.Config, error) {
	conf, paths, err := a.Settings()
	if err != nil {
		return chat.Config{}, err
	}
	g := *f
	g.Dir, g.Servers = p.Dir, p.Servers
	g.AddDirs = slices.Concat(f.AddDirs, p.Dirs)
	fr := setup.Frontend{Name: "acp"}
	if p.Files != nil {
		fr.Configure = func(c *session.Config) { c.Files = p.Files(c.Files) }
	}
	cfg := a.chat(&g, fr, false, conf, paths)
	opened, open := false, cfg.Open
	cfg.Open = func(ctx context.Context, w slash.Want, person chat.Person) (*chat.Opened, error) {
		if opened {
			return nil, errors.New("the editor opens the sessions: start or choose one there")
		}
		o, err := open(ctx, w, person)
		opened = err == nil
		return o, err
	}
	return cfg, nil
}

// storedSessions returns the sessions of a folder, or of all folders for "", except
// those of agents.
func (a *App) storedSessions(ctx context.Context, dir string) ([]event.Row, error) {
	st, _, err := a.store(ctx)
	if errors.Is(err, errNoSessions) { // before the first one
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if dir != "" {
		if dir, err = setup.RealPath(dir); err != nil {
			return nil, err
		}
	}
	return allOwn(ctx, st, dir)
}

func (a *App) deleteStored(ctx context.Context, id string) error {
	st, paths, row, err := a.stored(ctx, "", id)
	if err != nil {
		return err
	}
	defer st.Close()
	return removeSession(ctx, st, paths, row)
}
