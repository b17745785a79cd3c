package cli

import (
	"context"
	"os"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServer is an MCP server for scripts: it makes a file, says its token, and
// describes itself by the words of the file doc, where there is one.
func mcpServer() {
	if dir := os.Getenv("FAKE_DIR"); dir != "" { // it starts in a folder of pawl's
		_ = os.Chdir(dir)
	}
	doc := "makes a file"
	if b, err := os.ReadFile("doc"); err == nil {
		doc = string(b)
	}
	_ = os.WriteFile("started", nil, 0o600) // a file that scripts look for
	s := sdk.NewServer(&sdk.Implementation{Name: "fake", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "make", Description: doc, InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if err := os.WriteFile("made.txt", []byte("one\n"), 0o600); err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "made it with " + strings.TrimSpace(os.Getenv("FAKE_TOKEN"))}}}, nil
	})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
	os.Exit(0)
}
