package tools

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type lspSymbolsArgs struct {
	Path  string `json:"path,omitempty" doc:"file whose symbols to list"`
	Query string `json:"query,omitempty" doc:"part of a name; without path in the whole workspace"`
}

// LspSymbols returns the tool that lists functions, types and other symbols.
func LspSymbols() tool.Tool {
	t := tool.New("lsp_symbols",
		"List the functions, types, methods and variables of a file, or find those of the workspace whose name matches query.",
		func(env tool.Env, in lspSymbolsArgs) (tool.Footprint, error) { return codeReads(env, in.Path) },
		func(ctx context.Context, env tool.Env, in lspSymbolsArgs) (tool.Result, error) {
			return asked(ctx, env, tool.CodeAt{Path: in.Path}, func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				found, err := c.Symbols(ctx, at.Path, in.Query)
				return spots(ctx, env, found, "symbol"), err
			})
		})
	t.Facts = tool.Facts{Kind: tool.Search, Aliases: []string{"documentsymbols", "workspacesymbols", "listsymbols"}, Family: tool.ReadFamily, Repeatable: true, Listing: true}
	t.ReadOnly = true
	t.Example = `{"query":"ParseConfig"}`
	return t
}
