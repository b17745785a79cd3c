package tools

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type lspRenameArgs struct {
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Symbol  string `json:"symbol,omitempty"`
	NewName string `json:"new_name" doc:"the new name, without what it is part of"`
}

// LspRename returns the tool that renames a symbol in all files that use it.
func LspRename() tool.Tool {
	plan := func(in lspRenameArgs) func(context.Context, tool.Code, tool.CodeAt) ([]tool.Write, error) {
		return func(ctx context.Context, c tool.Code, at tool.CodeAt) ([]tool.Write, error) {
			return c.Rename(ctx, at, in.NewName)
		}
	}
	t := tool.New("lsp_rename",
		"Rename a function, type, variable or the like in every file that uses it, by the language server; no other text is touched. Name the place as in lsp. The files need not have been read.",
		func(env tool.Env, in lspRenameArgs) (tool.Footprint, error) {
			return codeWrites(env, codeAt(in.Path, in.Line, in.Column, in.Symbol), plan(in))
		},
		func(ctx context.Context, env tool.Env, in lspRenameArgs) (tool.Result, error) {
			return asked(ctx, env, codeAt(in.Path, in.Line, in.Column, in.Symbol), func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				ws, err := plan(in)(ctx, c, at)
				if err != nil {
					return tool.Result{}, err
				}
				return writeCode(ctx, env, ws, fmt.Sprintf("renamed to %s", oneLine(in.NewName)))
			})
		})
	t.Facts = tool.Facts{Kind: tool.Edit, Aliases: []string{"renamesymbol", "rename", "gorenamesymbol"}, Family: tool.EditFamily}
	t.Example = `{"symbol":"Server.Close","new_name":"Shutdown"}`
	return t
}
