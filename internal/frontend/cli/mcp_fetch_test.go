//go:build linux

package cli

import (
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.1: a person is asked about the package of a project's server once, after trust,
// by a question that names the registry and what runs.
func TestFetchOnATerminal(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	must.Write(t, filepath.Join(dir, ".mcp.json"), `{"mcpServers": {"docs": {"command": "npx", "args": ["-y", "docs-server"]}}}`)
	start := func() *terminal {
		return onTerminalIn(t, dir, home, "xterm", func(int, []byte) llmtest.Turn { return llmtest.Say("hello") }, "--plain")
	}
	x := start()
	x.expect("trust this folder? [y]es, [n]o: ")
	x.send("y\r")
	x.expect("the MCP server docs (.mcp.json) runs npx -y docs-server: fetch docs-server from registry.npmjs.org, once? It then runs in the sandbox, without network? [y]es, [n]o: ")
	x.send("n\r")
	x.expect("the MCP server docs is not started: its package is not fetched; to fetch it: pawl mcp fetch docs")
	x.expect("> ")
	x.send("hi\r")
	x.expect("pawl mcp fetch docs")
	x.expect("hello")
	x.send("/quit\r")
	x.ended(0)

	x = start()
	x.expect("> ") // no question is before it
	x.send("/quit\r")
	x.ended(0)
}
