package cli

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// This file imports servers: from other agents' settings, and as JSON.

// elsewhere are the files in which other agents store a person's servers.
var elsewhere = map[string]string{
	"claude": ".claude.json", "codex": ".codex/config.toml", "gemini": ".gemini/settings.json", "cursor": ".cursor/mcp.json", "opencode": ".config/opencode/opencode.json",
}

// agentOf returns the agent whose settings a file contains.
func agentOf(file string) mcp.Agent {
	switch {
	case filepath.Ext(file) == ".toml":
		return mcp.Codex
	case filepath.Base(filepath.Dir(file)) == ".gemini":
		return mcp.Gemini
	}
	return ""
}

// mcpAddJSON adds a server that is given as JSON, as in a file.
func (a *App) mcpAddJSON(dir *string) *cobra.Command {
	var scope string
	c := &cobra.Command{
		Use: "add-json NAME JSON", Short: "Add a server, described in JSON", Args: exactly(2),
		Example: `  pawl mcp add-json issues '{"type": "http", "url": "https://mcp.example.com/mcp"}'`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := mcp.CheckName(args[0]); err != nil {
				return usageError("%w", err)
			}
			e, err := mcp.ParseEntry([]byte(args[1]))
			if err != nil {
				return usageError("the JSON of %s does not describe an MCP server: %w", args[0], err)
			}
			return a.mcpSet(*dir, scope, args[0], e)
		},
	}
	c.Flags().StringVarP(&scope, "scope", "s", "user", "user: for you in all folders; project: in this folder's .mcp.json")
	return c
}

func (a *App) mcpImport(dir *string) *cobra.Command {
	return &cobra.Command{
		Use: "import claude|codex|gemini|cursor|opencode|FILE", Short: "Copy the servers from another agent's settings", Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file := args[0]
			if known := elsewhere[file]; known != "" {
				file = filepath.Join(a.Env("HOME"), known)
			}
			raw, err := settings.ReadServers(file)
			if err == nil && raw == nil {
				err = usageError("the file %s does not exist", file)
			}
			if err != nil {
				return err
			}
			here, err := a.RealDir(*dir) // Claude Code also has servers for one folder
			if err != nil {
				return err
			}
			found, refused, err := mcp.Foreign(agentOf(file), raw, here)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			for _, name := range slices.Sorted(maps.Keys(refused)) {
				fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("%s: not copied: %v", name, refused[name])))
			}
			if len(found) == 0 && len(refused) > 0 {
				return nil
			}
			return mcpTake(a, file, found)
		},
	}
}

func mcpTake(a *App, file string, found map[string]mcp.Entry) error {
	own, perm, err := a.mcpFile("", "user")
	if err != nil {
		return err
	}
	raw, err := settings.ReadServers(own)
	if err != nil {
		return err
	}
	have := []mcp.Server{}
	if raw != nil {
		if have, err = mcp.Parse(own, raw, false, a.Env); err != nil {
			return err
		}
	}
	var errs []error
	n := 0
	for _, name := range slices.Sorted(maps.Keys(found)) {
		switch {
		case mcp.CheckName(name) != nil:
			fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("%s: not copied: %v", name, mcp.CheckName(name))))
		case slices.ContainsFunc(have, func(s mcp.Server) bool { return strings.EqualFold(s.Name, name) }):
			fmt.Fprintln(a.Out, plain.Line(name+": not copied: a server with this name is configured already"))
		default:
			_, err := settings.SetServer(own, name, found[name], perm)
			errs = append(errs, err)
			if err == nil {
				fmt.Fprintln(a.Out, plain.Line(name+": copied"))
				n++
			}
		}
	}
	switch {
	case n > 0:
		fmt.Fprintln(a.Out, "to list them: pawl mcp list; to test them: pawl mcp test")
	case len(found) == 0:
		fmt.Fprintln(a.Out, plain.Line(file+" configures no MCP server"))
	}
	return errors.Join(errs...)
}
