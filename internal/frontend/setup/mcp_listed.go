package setup

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// MCP is what MCP servers a folder has, outside a session.
type MCP struct {
	Servers  []mcp.Server // also those that cannot be used: they have a Problem
	Warnings []string

	e     *Environment
	dir   string
	paths settings.Paths
}

// MCP lists all servers that are configured for a folder, "" for the current one,
// including untrusted ones. None is started.
func (e *Environment) MCP(dir string) (*MCP, error) {
	_, paths, err := e.Settings()
	if err != nil {
		return nil, err
	}
	t, err := e.StoredTrust(dir)
	if err != nil {
		return nil, err
	}
	parts, err := t.readServers()
	if err == nil {
		err = t.Judge(parts)
	}
	if err != nil {
		return nil, err
	}
	m := &MCP{e: e, dir: t.Dir, paths: paths}
	plugins, _ := e.Plugins(paths, t.Dir) // what cannot be read is told by pawl plugin
	list, warnings := e.configuredServers(paths, t, plugins)
	for _, w := range warnings {
		if !slices.ContainsFunc(list, func(s mcp.Server) bool { return s.Problem != "" && strings.Contains(w, s.Problem) }) {
			m.Warnings = append(m.Warnings, w)
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

// Pins returns what was accepted of the servers.
func (m *MCP) Pins() mcp.Pins { return mcp.NewPins(m.paths.Pins()) }

// Start makes the servers ready to be tried: each starts when it is asked. signIn
// shows a person the address of a sign-in. stop ends them. warning is how they are
// not confined, "" where they are as configured.
func (m *MCP) Start(signIn func(ctx context.Context, address string) (string, error)) (running *mcp.Servers, warning string, stop func(), err error) {
	conf, _, err := m.e.Settings()
	if err != nil {
		return nil, "", nil, err
	}
	by, warning, err := m.e.Confine(&Options{}, conf, m.paths, m.dir, false)
	if err != nil {
		return nil, "", nil, err
	}
	starter, free := by.Starter()
	running = mcp.New(mcp.Options{
		Root: m.dir, Servers: m.Servers, Start: starter, Confine: by.mcp, Pins: m.Pins(), Version: m.e.Version, Now: m.e.Now,
		Grants: m.e.grants(m.paths), SignIn: &mcp.SignIn{Show: signIn},
	})
	return running, warning, func() { _ = running.Close(); free() }, nil
}
