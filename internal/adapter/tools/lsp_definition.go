package tools

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type lspPlaceArgs struct {
	Path   string `json:"path,omitempty" doc:"file; without it symbol is looked for in the workspace"`
	Line   int    `json:"line,omitempty" doc:"line, from 1"`
	Column int    `json:"column,omitempty" doc:"column in characters, from 1; not needed where symbol is on the line"`
	Symbol string `json:"symbol,omitempty" doc:"name, such as pkg.Func or Class.method"`
}

func (a lspPlaceArgs) at() tool.CodeAt { return codeAt(a.Path, a.Line, a.Column, a.Symbol) }

func lspPlaceFootprint(env tool.Env, in lspPlaceArgs) (tool.Footprint, error) {
	return codeReads(env, in.Path)
}

// LspDefinition returns the tool that finds where a name is defined.
func LspDefinition() tool.Tool {
	t := tool.New("lsp_definition",
		"Find where a name is defined, by the language server. Name the place by symbol, by path and symbol, or by path, line and symbol (or column).",
		lspPlaceFootprint,
		func(ctx context.Context, env tool.Env, in lspPlaceArgs) (tool.Result, error) {
			return asked(ctx, env, in.at(), func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				found, err := c.Definition(ctx, at)
				return spots(ctx, env, found, "definition"), err
			})
		})
	t.Facts = tool.Facts{Kind: tool.Search, Aliases: []string{"gotodefinition", "finddefinition", "godefinition"}, Family: tool.ReadFamily, Repeatable: true, Listing: true}
	t.ReadOnly = true
	t.Example = `{"path":"main.go","line":12,"symbol":"Run"}`
	return t
}
