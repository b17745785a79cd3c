package setup

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// This file is about the MCP servers that an agent's file describes: they run only while
// that agent works, and are judged like those of the folder, or of the person.

// ownWait is how long an agent waits for its own servers before its first request: it was
// made for them.
const ownWait = 30 * time.Second

// ownAgentServers reads those of the person's agents, and of the agents that a program
// defines. What the person has for Claude Code needs their word. An unreadable file is not
// used.
func (e *Environment) ownAgentServers(conf settings.Loaded, paths settings.Paths, dir string, defined []agents.Kind) (out []mcp.Server) {
	files := folder.OwnAgentServers(paths.Config, "agents")
	if home := e.Env("HOME"); conf.User.ClaudeSettings && home != "" && filepath.Clean(home) != dir {
		files = append(files, folder.OwnAgentServers(home, guidance.Agents[1])...)
	}
	add := func(file string, text []byte) {
		list, _ := mcp.Parse(file, text, false, e.withFolder(dir)) // it is JSON
		out = append(out, list...)
	}
	for _, f := range files {
		add(f.Name, []byte(f.Text))
	}
	for _, k := range defined {
		if k.Given != nil {
			add(k.Servers, k.Given)
		}
	}
	return out
}

// agentServers returns the servers of all agents. One that may not start has a Problem.
func (e *Environment) agentServers(t *Trust) []mcp.Server {
	out := slices.Clone(t.agentOwn)
	t.inert(out)
	for _, f := range t.agentMCP {
		list, _ := mcp.Parse(f.Name, []byte(f.Text), true, e.withoutKeys) // it is JSON
		for _, s := range list {
			if !t.trustsServer(s) {
				s.Problem = "it is not trusted; to trust it: pawl trust"
			}
			out = append(out, s)
		}
	}
	for i, s := range out {
		if s.InProgram() {
			out[i].Problem = "it is inside the program: hand it over for the session, in mcpServers"
		}
	}
	return out
}

// prepareOwn sets what prepares the servers of one agent's file. It starts none; one that
// may not start is an error, since the agent counts on it. list are those of the session.
func (s *opening) prepareOwn(list []mcp.Server) {
	if s.o.Trust == nil {
		return // the session is only read
	}
	s.session.OwnServers = func(file string) (session.OwnServers, error) {
		own := slices.DeleteFunc(s.agentServers(s.o.Trust), func(s mcp.Server) bool { return s.File != file })
		if len(own) == 0 {
			return nil, fault.NewConfiguration("if the file is yours, for Claude Code: pawl config set claude_settings true; a plugin's agent cannot have any; after a change start pawl anew", "the MCP servers in %s are not used, so its agent does not work", file)
		}
		for i, of := range own {
			why := of.Problem
			switch {
			case len(withoutDenied([]mcp.Server{of}, s.conf.Guards)) == 0:
				why = "the settings deny it"
			case slices.ContainsFunc(slices.Concat(list, own[:i]), func(o mcp.Server) bool { return strings.EqualFold(o.Name, of.Name) }):
				why = "another server has this name: give it another one, or name that one alone"
			}
			if why != "" {
				return nil, fault.NewConfiguration("correct it, or let another agent do it", "the agent in %s does not work: its MCP server %s cannot be used: %s", file, of.Name, why)
			}
			s.o.hold(of.Secrets()...)
		}
		with := s.serverOptions(own)
		with.Wait = ownWait
		return mcp.New(with), nil
	}
}
