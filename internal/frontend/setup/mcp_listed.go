package setup

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// MCP lists the MCP servers of a folder, outside a session.
type MCP struct {
	Servers  []mcp.Server // also unusable ones: these have a Problem
	Warnings []string

	e     *Environment
	dir   string
	paths settings.Paths
	trust *Trust
}

// MCP returns all servers that are configured for a folder, "" for the current one,
// including untrusted ones. It starts none.
func (e *Environment) MCP(dir string) (*MCP, error) {
	paths, err := settings.PathsFrom(e.Env)
	if err != nil {
		return nil, err
	}
	t, err := e.StoredTrust(dir)
	if err != nil {
		return nil, err
	}
	parts, err := t.readServers()
	if err == nil {
		err = t.Assess(parts)
	}
	if err != nil {
		return nil, err
	}
	m := &MCP{e: e, dir: t.Dir, paths: paths, trust: t}
	plugins, _ := e.Plugins(paths, t.Dir) // `pawl plugin` reports unreadable ones
	list, warnings := e.configuredServers(t, plugins)
	for _, w := range warnings {
		if !slices.ContainsFunc(list, func(s mcp.Server) bool { return s.Problem != "" && strings.Contains(w, s.Problem) }) {
			m.Warnings = append(m.Warnings, w)
		}
	}
	for _, s := range e.agentServers(t) {
		if !slices.ContainsFunc(list, func(o mcp.Server) bool { return strings.EqualFold(o.Name, s.Name) }) {
			list = append(list, s)
		}
	}
	m.Servers = list
	if t.mcp == nil || t.mcp.Unread {
		return m, nil
	}
	theirs, _ := mcp.Parse(trust.ServersFile, []byte(t.mcp.Text), true, e.withoutKeys) // the error was reported
	for _, s := range theirs {
		if !slices.ContainsFunc(m.Servers, func(o mcp.Server) bool { return strings.EqualFold(o.Name, s.Name) }) {
			s.Problem = "it is not trusted; to trust it: pawl trust"
			m.Servers = append(m.Servers, s)
		}
	}
	return m, nil
}

// Pins returns the store of what was accepted of the servers.
func (m *MCP) Pins() mcp.Pins { return mcp.NewPins(m.paths.Pins()) }

// Packages are the packages of the confined servers.
func (m *MCP) Packages() mcp.Packages { return m.e.packages(m.dir) }

// Start prepares the servers for tests: each starts at its first request. signIn, if not
// nil, shows a person the address of a sign-in; otherwise a server that wants one fails. stop ends the servers. warning is what is missing
// of their confinement, "" if they are confined as configured.
func (m *MCP) Start(signIn func(ctx context.Context, address string) (string, error)) (running *mcp.Servers, warning string, stop func(), err error) {
	conf, _, err := m.e.SettingsIn(m.dir)
	if err != nil {
		return nil, "", nil, err
	}
	by, err := m.e.Confine(&Options{}, conf, m.paths, m.dir, false)
	if err != nil {
		return nil, "", nil, err
	}
	starter, free := by.Starter()
	var in *mcp.SignIn
	if signIn != nil {
		in = &mcp.SignIn{Show: signIn}
	}
	with := m.e.mcpOptions(m.Servers, m.paths, m.dir, by, starter)
	with.Changed, with.SignIn = m.trust.changedServer, in
	running = mcp.New(with)
	return running, by.Warning, func() { _ = running.Close(); free() }, nil
}
