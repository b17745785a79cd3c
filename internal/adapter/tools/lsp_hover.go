package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// LspHover returns the tool that shows the type and documentation of a name.
func LspHover() tool.Tool {
	t := tool.New("lsp_hover",
		"Show the type and the documentation of a name, also of one from a library. Name the place as in lsp_definition.",
		lspPlaceFootprint,
		func(ctx context.Context, env tool.Env, in lspPlaceArgs) (tool.Result, error) {
			return asked(ctx, env, in.at(), func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				text, err := c.Hover(ctx, at)
				if text == "" {
					return tool.Result{Text: "the language server says nothing of this place", Note: "nothing"}, err
				}
				if limit := limitOf(env) - 100; len(text) > limit {
					text = fmt.Sprintf("%s\n[%d more bytes]", strings.ToValidUTF8(text[:limit], ""), len(text)-limit)
				}
				return tool.Text(text), err
			})
		})
	t.Facts = tool.Facts{Kind: tool.Read, Aliases: []string{"hover", "gohover"}, Family: tool.ReadFamily, Repeatable: true}
	t.ReadOnly = true
	t.Example = `{"path":"main.go","line":12,"symbol":"Run"}`
	return t
}
