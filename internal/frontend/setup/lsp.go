package setup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/symbols"
	"github.com/pawl-agent/pawl/internal/adapter/syntax"
	"github.com/pawl-agent/pawl/internal/core/process"
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

// startLanguageServers returns the language servers of a session (SPEC 12). Each starts
// when it is first needed.
func (e *Environment) startLanguageServers(dir string, paths settings.Paths, c settings.LSP, t *Trust, start process.Starter, by process.Confine) *lsp.Servers {
	return lsp.New(lsp.Options{
		Asked: func() (time.Time, string) { return restartAsked(paths, dir) },
		Root:  dir, Table: serverTable(c), Start: start, Confine: by, Apart: e.apart(dir), Trusted: t.server, Find: e.serverProgram, Version: e.Version, Memory: c.MemoryMB << 20, Now: e.Now,
	})
}

// serverProgram returns the path of a language server's program.
func (e *Environment) serverProgram(name string) (string, error) {
	if e.Program == nil {
		return "", exec.ErrNotFound
	}
	found, err := e.Program(name)
	if err != nil {
		return "", err
	}
	// rustup has a link for each component, also for those that are not installed.
	if to, err := filepath.EvalSymlinks(found); err == nil && filepath.Base(to) == "rustup" {
		home := cmp.Or(e.Env("RUSTUP_HOME"), filepath.Join(e.Env("HOME"), ".rustup"))
		if has, _ := filepath.Glob(filepath.Join(home, "toolchains", "*", "bin", name)); len(has) == 0 {
			return "", exec.ErrNotFound
		}
	}
	return found, nil
}

// server reports whether a language server may run the folder's code in its present
// state.
func (t *Trust) server(name string) bool {
	if t == nil {
		return false
	}
	v, err := t.compare(lsp.Parts(t.Dir, t.servers, t.find))
	return err == nil && slices.ContainsFunc(v.Parts, func(j trust.AssessedPart) bool { return j.Kind == trust.LSP && j.Name == name && j.Trusted })
}

// LanguageServers returns the language servers of a folder without a session, confined as
// in one. stop ends them.
func (e *Environment) LanguageServers(dir string) (s *lsp.Servers, stop func(), err error) {
	root, err := e.RealDir(dir)
	if err != nil {
		return nil, nil, err
	}
	conf, paths, err := e.SettingsIn(root)
	if err != nil {
		return nil, nil, err
	}
	if !conf.User.LSP.On() {
		return nil, nil, Usage("language servers are turned off in your configuration (lsp.enable)")
	}
	t, _, _, err := e.ReadTrust(root)
	if err != nil {
		return nil, nil, err
	}
	by, err := e.Confine(&Options{}, conf, paths, root, false)
	if err != nil {
		return nil, nil, err
	}
	start, free := by.Starter()
	s = e.startLanguageServers(root, paths, conf.User.LSP, t, start, by.server())
	return s, func() { _ = s.Close(); free() }, nil
}

// restartFile returns the file by which one pawl asks other pawls in the folder to
// restart their servers: they share nothing else.
func restartFile(paths settings.Paths, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(paths.State, "lsp", hex.EncodeToString(sum[:8])+".restart")
}

// restartAsked returns when a restart was last requested, and for which server.
func restartAsked(paths settings.Paths, dir string) (at time.Time, name string) {
	file := restartFile(paths, dir)
	st, err := os.Stat(file)
	if err != nil {
		return at, ""
	}
	b, _ := os.ReadFile(file) // if it was removed meanwhile, all are restarted
	return st.ModTime(), strings.TrimSpace(string(b))
}

// RestartLanguageServers requests a restart of the language servers of a folder, in all
// conversations that run them. name is one of them, "" for all.
func (e *Environment) RestartLanguageServers(dir, name string) error {
	root, err := e.RealDir(dir)
	if err != nil {
		return err
	}
	conf, paths, err := e.SettingsIn(root)
	if err != nil {
		return err
	}
	if table := serverTable(conf.User.LSP); name != "" && !slices.ContainsFunc(table, func(s lsp.Server) bool { return s.Name == name }) {
		return Usage("unknown language server %s; pawl lsp lists all", name)
	}
	file := restartFile(paths, root)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(name+"\n"), 0o600)
}

// server returns how language servers are confined: like commands that change
// the workspace, since they keep caches; without the network.
func (by Confinement) server() process.Confine {
	switch {
	case by.boxes == nil:
		return process.Free
	case by.Has.Workspace && !by.Has.Narrow:
		return process.Confine{Level: process.Workspace}
	}
	return process.Confine{}
}

// languageServers adds language servers and their tools, if there are any, and the look at
// the syntax of changed files and at their packages, which needs none.
func (s *opening) languageServers() {
	look := &syntax.Look{Root: s.session.Dir, Limit: 2 * time.Second}
	if by := s.o.Confinement; by.boxes != nil {
		look.Start, look.TypeLimit, look.Confine = s.starter, 4*time.Second, by.server()
	}
	s.session.Syntax = look
	s.session.FolderTools = codeTools(s.servers, s.opt.Tools)
	s.session.Symbols = symbols.New(s.session.Files, s.servers)
	if s.servers != nil {
		look.Served = s.servers.Serves
		s.session.Code, s.session.CodeWatch = s.servers, s.servers
	}
}
