package setup

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/keyring"
	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// readServers reads the MCP servers that the folder configures, once: exactly the
// configuration that was judged is started.
func (t *Trust) readServers() ([]trust.Part, error) {
	if s, there := folder.Servers(t.Dir); there {
		t.mcp = &s
	}
	t.agentMCP = folder.AgentServers(t.Dir)
	return t.serverParts()
}

// serverParts returns the present parts of the servers that were read, and of the
// person's own that depend on the folder.
func (t *Trust) serverParts() (parts []trust.Part, err error) {
	if t.mcp != nil {
		if parts, err = folder.ServerParts(t.Dir, *t.mcp); err != nil {
			return nil, err
		}
	}
	agents, err := folder.ServerParts(t.Dir, t.agentMCP...)
	if err != nil {
		return nil, err
	}
	own, err := t.ownServerParts()
	return slices.Concat(parts, agents, own), err
}

// changedServer returns what changed, since it was trusted, in the files that a server
// of the folder runs, "" for nothing. It matters because a server that ended is started
// again, from the files as they are then.
func (t *Trust) changedServer(s mcp.Server) string {
	if s.Root != "" || !s.Project && !s.InFolder { // a plugin is compared by itself
		return ""
	}
	now, err := t.serverParts()
	if err != nil {
		return err.Error()
	}
	is := slices.IndexFunc(now, func(p trust.Part) bool { return p.Name == serverPart(s) })
	was := slices.IndexFunc(t.Assessment.Parts, func(j trust.AssessedPart) bool { return j.Kind == trust.MCP && j.Name == serverPart(s) })
	switch {
	case is < 0 || was < 0:
		return "it is not trusted"
	case now[is].Hash != t.Assessment.Parts[was].Hash:
		return changedSince(t.Assessment.Parts[was].Part, now[is])
	}
	return ""
}

// changedSince returns a text that names the files that differ from those that were
// trusted.
func changedSince(was, is trust.Part) string {
	return "what it runs changed since this folder was trusted: " + strings.Join(trust.Differ(was, is), ", ") + " (see pawl trust)"
}

func serverPart(s mcp.Server) string { return s.Name + " (" + s.File + ")" }

// mcpServers returns the MCP servers of a session, and the secret values in their
// configuration (held). A session that is only read has none.
func (s *opening) mcpServers() (list []mcp.Server, held []string) {
	t := s.o.Trust
	if t == nil {
		return nil, nil
	}
	if !s.opt.StrictMCP {
		var warnings []string
		list, warnings = s.configuredServers(t, s.plugins)
		s.o.warn(warnings...)
	}
	t.inert(s.given)
	for _, g := range s.given {
		if g.Problem != "" {
			s.o.warn("the MCP server " + g.Name + " cannot be used: " + g.Problem)
		}
		list = slices.DeleteFunc(list, func(s mcp.Server) bool { return strings.EqualFold(g.Name, s.Name) })
	}
	list = withoutDenied(append(list, s.given...), s.conf.Guards)
	for _, of := range list {
		held = append(held, of.Secrets()...)
	}
	return list, held
}

// givenServers returns the MCP servers that the user names for this run, by
// --mcp-config or in their editor. They count as the user's own.
func (s *opening) givenServers() (out []mcp.Server, err error) {
	opt := s.opt
	configs := opt.MCPConfig
	if opt.Driver.MCP != "" {
		configs = append(slices.Clone(configs), opt.Driver.MCP)
	}
	for _, config := range configs {
		from, raw := "--mcp-config", []byte(config)
		if !strings.HasPrefix(strings.TrimSpace(config), "{") {
			from = config
			if raw, err = os.ReadFile(config); err != nil {
				return nil, Usage("--mcp-config: cannot read the file: %w", err)
			}
		}
		list, err := mcp.Parse(from, raw, false, s.withFolder(s.session.Dir))
		if err != nil {
			return nil, Usage("--mcp-config: %w", err)
		}
		out = append(out, list...)
	}
	if inside := opt.Driver.Servers; inside != nil {
		out = slices.DeleteFunc(out, func(s mcp.Server) bool { return s.InProgram() && slices.Contains(inside.Names, s.Name) })
		for _, n := range inside.Names {
			out = append(out, mcp.InsideServer(n))
		}
	}
	if opt.Servers != nil {
		asIs := func(name string) string { return "${" + name + "}" } // the editor has replaced the variables already
		list, err := mcp.Parse("the editor", opt.Servers, false, asIs)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// configuredServers returns the MCP servers of a session: the user's own, and the
// folder's trusted ones. An unreadable file is a warning.
func (e *Environment) configuredServers(t *Trust, plugins []Plugin) (out []mcp.Server, warnings []string) {
	out = slices.Clone(t.personal)
	if t.personalErr != nil {
		warnings = append(warnings, t.personalErr.Error())
	}
	t.inert(out)
	for i := range out {
		if out[i].Problem != "" && !out[i].Disabled {
			warnings = append(warnings, "the MCP server "+out[i].Name+" cannot be used: "+out[i].Problem)
		}
	}
	brought, problems := e.pluginServers(plugins)
	out, warnings = append(out, brought...), append(warnings, problems...)
	if t.mcp == nil || t.mcp.Unread {
		return out, warnings
	}
	theirs, err := mcp.Parse(trust.ServersFile, []byte(t.mcp.Text), true, e.withoutKeys)
	if err != nil {
		return out, append(warnings, err.Error())
	}
	for _, s := range theirs {
		own := slices.ContainsFunc(out, func(o mcp.Server) bool { return strings.EqualFold(o.Name, s.Name) })
		if own || !t.trustsServer(s) {
			continue // untrusted parts were reported with the folder
		}
		if s.Problem != "" {
			warnings = append(warnings, "the MCP server "+s.Name+" of "+trust.ServersFile+" cannot be used: "+s.Problem)
		}
		out = append(out, s)
	}
	return out, warnings
}

// withoutKeys returns a variable's value, but "" for pawl's own keys: a folder's server
// does not get them, even in a trusted folder.
func (e *Environment) withoutKeys(name string) string {
	if slices.Contains(catalog.KeyNames(), name) {
		return ""
	}
	return e.Env(name)
}

// trustsServer reports whether a server of the folder, or one that depends on it, may be started, as the
// file was read.
func (t *Trust) trustsServer(s mcp.Server) bool {
	return slices.ContainsFunc(t.Assessment.Parts, func(j trust.AssessedPart) bool { return j.Kind == trust.MCP && j.Name == serverPart(s) && j.Trusted })
}

// prepareServers prepares the MCP servers of a session, if it has any. It starts none of
// them.
func (s *opening) prepareServers(list []mcp.Server) {
	list = slices.DeleteFunc(slices.Clone(list), func(s mcp.Server) bool { return s.Problem != "" || s.Disabled })
	inside := s.opt.Driver.Servers
	if len(list) == 0 && inside == nil {
		return
	}
	with := s.serverOptions(list)
	if inside != nil {
		with.Inside = inside
	}
	servers := mcp.New(with)
	s.session.Outside = servers
	s.o.SetServers = func(ctx context.Context, config []byte) (any, error) {
		list, err := mcp.Parse("the program", config, false, s.withFolder(s.session.Dir))
		if err != nil {
			return nil, err
		}
		for i, srv := range list {
			if srv.InProgram() {
				list[i] = mcp.InsideServer(srv.Name)
			}
		}
		s.o.Trust.inert(list)
		usable, refused := withoutDenied(slices.Clone(list), s.conf.Guards), map[string]string{}
		for _, srv := range list {
			s.o.hold(srv.Secrets()...)
			if !slices.ContainsFunc(usable, func(o mcp.Server) bool { return o.Name == srv.Name }) {
				refused[srv.Name] = "the settings deny this server"
			}
		}
		added, removed, failed := servers.Set(ctx, usable)
		maps.Copy(failed, refused)
		return map[string]any{"added": added, "removed": removed, "errors": failed}, nil
	}
	s.o.onClose(servers.Close)
}

// serverOptions returns how servers of a session are run.
func (s *opening) serverOptions(list []mcp.Server) mcp.Options {
	out := s.mcpOptions(list, s.paths, s.session.Dir, s.o.Confinement, s.starter)
	out.Changed, out.Pins.ReadOnly = s.changedServer, s.opt.NoSession
	return out
}

// mcpOptions returns how the servers of a folder are run.
func (e *Environment) mcpOptions(list []mcp.Server, paths settings.Paths, dir string, by Confinement, start process.Starter) mcp.Options {
	at := neutral(paths.State, dir)
	return mcp.Options{
		Root: dir, Servers: list, Start: start, Confine: by.mcp,
		Neutral: func(s mcp.Server) (string, error) { return at(by.mcp(s).Level != process.Unconfined), nil },
		Apart:   apartFrom(dir, e.Env("HOME")), Pins: mcp.NewPins(paths.Pins()), Packages: e.packages(dir), Grants: e.grants(paths),
		Version: e.Version, Now: e.Now,
	}
}

// packages returns the packages of confined servers. They are beside the sandbox's caches,
// where confined programs can be let read; but not in the workspace, where others could put
// programs.
func (e *Environment) packages(dir string) mcp.Packages {
	p := mcp.Packages{Root: dir, Env: e.Env}
	cache := sandbox.UserCache(e.Env, e.Env("HOME"))
	if filepath.IsAbs(cache) && !shell.LeadsInto(dir, cache) {
		p.Dir = filepath.Join(cache, "pawl", "mcp")
	}
	return p
}

// askPackages asks a person about the packages that confined servers would fetch. Where
// nobody can be asked, the server's failure names the command that allows it.
func (s *opening) askPackages(list []mcp.Server) error {
	if !s.fr.Person || s.fr.Confirm == nil {
		return nil
	}
	packages := s.packages(s.session.Dir)
	for _, of := range list {
		if of.Problem != "" || of.Disabled || s.o.Confinement.mcp(of).Level == process.Unconfined {
			continue
		}
		question := packages.Question(of)
		if question == "" {
			continue
		}
		yes, err := s.fr.Confirm(question + "?")
		if errors.Is(err, ErrLater) { // the next start asks again
			continue
		}
		if err == nil {
			err = packages.Decide(of, yes, nil)
		}
		if err == nil && !yes {
			s.o.warn("the MCP server " + of.Name + " is not started: its package is not fetched; to fetch it: pawl mcp fetch " + of.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// grants returns the store of the access that servers granted: the system's keyring if
// there is one.
func (e *Environment) grants(paths settings.Paths) mcp.Grants {
	g := mcp.Grants{Dir: paths.Tokens()}
	if ring, ok := keyring.Open(e.Env); ok {
		g.Ring = ring
	}
	return g
}

// mcp returns how the process of an MCP server is confined. The user's own server is a
// program that they installed: it runs as it does elsewhere, unless configured
// otherwise. A folder's server is confined like its language servers.
func (by Confinement) mcp(s mcp.Server) process.Confine {
	switch {
	case !s.Project && (s.Sandbox == "" || s.Sandbox == "off"):
		return process.Free
	case s.Sandbox == "read-only":
		return process.Confine{} // not started if it cannot be confined
	case !s.Project:
		return process.Confine{Level: process.Workspace, Hosts: s.Hosts}
	}
	return withReads(by.server(), s.Root)
}
