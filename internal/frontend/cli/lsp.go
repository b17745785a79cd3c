package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/symbols"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// serverTable returns the known language servers with the person's
// configuration; none if they are switched off.
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

// languageServers returns those of a session (SPEC 12). They start when they
// are first needed.
func (a *App) languageServers(dir string, paths settings.Paths, c settings.LSP, t *folderTrust, start process.Starter, by process.Confine) *lsp.Servers {
	return lsp.New(lsp.Options{
		Asked: func() (time.Time, string) { return restartAsked(paths, dir) },
		Root:  dir, Table: serverTable(c), Start: start, Confine: by, Trusted: t.server, Find: a.serverProgram, Version: Version, Memory: c.MemoryMB << 20, Now: a.Now,
	})
}

// serverProgram finds a language server's program.
func (a *App) serverProgram(name string) (string, error) {
	if a.Program == nil {
		return "", exec.ErrNotFound
	}
	return a.Program(name)
}

// server reports whether a language server may run code of the folder, in its
// present state.
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
			Use: "restart [NAME]", Short: "Restart the servers of this folder, in whichever conversation they run", Args: atMostOne,
			RunE: func(c *cobra.Command, args []string) error { return a.lspRestart(dir, strings.Join(args, "")) },
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

// serversHere returns the servers of a folder without a session.
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
	return a.languageServers(root, paths, conf.User.LSP, t, start, process.Free), nil
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

// restartFile is the file by which a pawl asks others in the folder to restart
// their servers: they share nothing else.
func restartFile(paths settings.Paths, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(paths.State, "lsp", hex.EncodeToString(sum[:8])+".restart")
}

// restartAsked returns when that was last asked, and for which server.
func restartAsked(paths settings.Paths, dir string) (at time.Time, name string) {
	file := restartFile(paths, dir)
	st, err := os.Stat(file)
	if err != nil {
		return at, ""
	}
	b, _ := os.ReadFile(file) // one that is gone again asks for all
	return st.ModTime(), strings.TrimSpace(string(b))
}

func (a *App) lspRestart(dir, name string) error {
	root, err := a.realDir(&flags{dir: dir})
	if err != nil {
		return err
	}
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return err
	}
	conf, err := settings.Load(paths, root)
	if err != nil {
		return err
	}
	if table := serverTable(conf.User.LSP); name != "" && !slices.ContainsFunc(table, func(s lsp.Server) bool { return s.Name == name }) {
		return usageError("there is no language server %s; see: pawl lsp", name)
	}
	file := restartFile(paths, root)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(name+"\n"), 0o600); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, "servers of this folder that run in a conversation stop within five seconds, and are started again at the next need")
	return nil
}

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
		began := a.Now()
		st, err := s.Try(ctx, h)
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

// server returns how language servers are confined: like commands that change
// the workspace, since they keep caches; without the network.
func (by confinedBy) server() process.Confine {
	switch {
	case by.boxes == nil:
		return process.Free
	case by.has.Workspace && !by.has.Narrow:
		return process.Confine{Level: process.Workspace}
	}
	return process.Confine{}
}

// languageServers adds language servers and their tools, if there are any.
func (s *assembly) languageServers(conf *session.Config) {
	conf.Joining = codeTools(s.w.servers)
	conf.Symbols = symbols.New(s.w.files, s.w.servers)
	if s.w.servers != nil {
		conf.Code, conf.CodeWatch = s.w.servers, s.w.servers
	}
}
