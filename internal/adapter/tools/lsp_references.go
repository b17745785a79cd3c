package tools

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// LspReferences returns the tool that finds where a name is used.
func LspReferences() tool.Tool {
	t := tool.New("lsp_references",
		"List every use of a name, its definition included, by the language server: right where a text search finds other things of the same name. Name the place as in lsp_definition.",
		lspPlaceFootprint,
		func(ctx context.Context, env tool.Env, in lspPlaceArgs) (tool.Result, error) {
			return asked(ctx, env, in.at(), func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				found, err := c.References(ctx, at)
				return spots(ctx, env, found, "use"), err
			})
		})
	t.Facts = tool.Facts{Kind: tool.Search, Aliases: []string{"findreferences", "listcodeusages", "goreferences"}, Family: tool.ReadFamily, Repeatable: true, Listing: true}
	t.ReadOnly = true
	t.Example = `{"symbol":"Server.Close"}`
	return t
}
