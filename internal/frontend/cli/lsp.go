package cli

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// serverTable is the language servers that are known with what the person
// configured of them; none where they are switched off.
func serverTable(c settings.LSP) []lsp.Server {
	if !c.On() {
		return nil
	}
	set := map[string]lsp.Setting{}
	for name, s := range c.Servers {
		set[name] = lsp.Setting(s)
	}
	return lsp.Table(set)
}

// languageServers are those of a session (SPEC 12). Nothing is started before
// the first need.
func (a *App) languageServers(dir string, c settings.LSP, t *folderTrust, start process.Starter, by process.Confine) *lsp.Servers {
	return lsp.New(lsp.Options{
		Root: dir, Table: serverTable(c), Start: start, Confine: by, Trusted: t.server, Find: a.serverProgram, Version: Version, Memory: c.MemoryMB << 20, Now: a.Now,
	})
}

// serverProgram finds a language server's program.
func (a *App) serverProgram(name string) (string, error) {
	if a.Program == nil {
		return "", exec.ErrNotFound
	}
	return a.Program(name)
}

// server reports whether a language server may run what the folder says, as the
// folder is now.
func (t *folderTrust) server(name string) bool {
	if t == nil {
		return false
	}
	v, err := t.compare(lsp.Parts(t.dir, t.servers, t.find))
	return err == nil && slices.ContainsFunc(v.Parts, func(j trust.Judged) bool { return j.Kind == trust.LSP && j.Name == name && j.Trusted })
}

func (a *App) lspCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "lsp", Short: "The language servers of this folder",
		Long: `The language servers of this folder: which there are, and whether they work.
Servers belong to the conversation that started them; /lsp shows those that run
in it. See doc/lsp.md.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error { return a.lspStatus(dir) },
	}
	c.PersistentFlags().StringVarP(&dir, "dir", "C", "", "the folder instead of the current one")
	c.AddCommand(
		&cobra.Command{
			Use: "status", Short: "Which servers this folder has, and where their programs are", Args: exactly(0),
			RunE: func(c *cobra.Command, _ []string) error { return a.lspStatus(dir) },
		},
		&cobra.Command{
			Use: "doctor", Short: "Start each server of this folder and say what it can do", Args: exactly(0),
			RunE: func(c *cobra.Command, _ []string) error { return a.lspTry(c.Context(), dir, false) },
		},
		&cobra.Command{
			Use: "logs", Short: "Start each server of this folder and show what it prints", Args: exactly(0),
			RunE: func(c *cobra.Command, _ []string) error { return a.lspTry(c.Context(), dir, true) },
		},
	)
	return c
}

// serversHere are the servers of a folder without a session.
func (a *App) serversHere(dir string, start process.Starter) (*lsp.Servers, error) {
	root, err := a.realDir(&flags{dir: dir})
	if err != nil {
		return nil, err
	}
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return nil, err
	}
	conf, err := settings.Load(paths, root)
	if err != nil {
		return nil, err
	}
	if !conf.User.LSP.On() {
		return nil, usageError("language servers are switched off in your configuration (lsp.enable)")
	}
	t, _, _, err := a.trustHere(root)
	if err != nil {
		return nil, err
	}
	return a.languageServers(root, conf.User.LSP, t, start, process.Free), nil
}

func (a *App) lspStatus(dir string) error {
	s, err := a.serversHere(dir, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	out := wrapped(a.Out, true)
	found := s.Here()
	for _, h := range found {
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("%-14s %s", h.Name, hereText(h))))
	}
	if len(found) == 0 {
		fmt.Fprintln(out, "no file of this folder belongs to a language server that pawl knows")
	}
	return nil
}

func hereText(h lsp.Here) string {
	switch {
	case h.Program == "":
		return "not installed; to have it: " + h.Install
	case h.Untrusted:
		return h.Program + ", not started: it would run what this folder says; to allow that: pawl trust"
	}
	return h.Program
}

// tryTime is how long a server may take to show that it works.
const tryTime = 30 * time.Second

func (a *App) lspTry(ctx context.Context, dir string, logs bool) error {
	start := shell.NewStarter(shell.StarterOptions{})
	defer start.Close()
	s, err := a.serversHere(dir, start)
	if err != nil {
		return err
	}
	defer s.Close()
	out := wrapped(a.Out, true)
	bad := false
	for _, h := range s.Here() {
		if h.Program == "" || h.Untrusted {
			fmt.Fprintln(out, plain.Line(fmt.Sprintf("note  %-14s %s", h.Name, hereText(h))))
			continue
		}
		one, cancel := context.WithTimeout(ctx, tryTime)
		began := a.Now()
		st, err := s.Try(one, h)
		cancel()
		if err != nil {
			bad = true
			fmt.Fprintln(out, plain.Line(fmt.Sprintf("BAD   %-14s %v", h.Name, err)))
		} else {
			fmt.Fprintln(out, plain.Line(fmt.Sprintf("ok    %-14s ready after %s, %d MB; %s", h.Name, a.Now().Sub(began).Round(time.Millisecond), st.Memory>>20, strings.Join(st.Can, ", "))))
		}
		if logs {
			writeLogs(out, s.Logs(), h.Name)
		}
	}
	if bad {
		return &exitError{code: 1}
	}
	return nil
}

func writeLogs(out io.Writer, logs map[string][]string, name string) {
	for of, lines := range logs {
		if !strings.HasPrefix(of, name+" ") {
			continue
		}
		for _, l := range lines {
			fmt.Fprintln(out, plain.Line("        "+l))
		}
	}
}

// server is how language servers are confined: as commands are that change the
// workspace, for they keep caches; without the network.
func (by confinedBy) server() process.Confine {
	switch {
	case by.boxes == nil:
		return process.Free
	case by.has.Workspace && !by.has.Narrow:
		return process.Confine{Level: process.Workspace}
	}
	return process.Confine{}
}
