package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type lspActionArgs struct {
	Path   string `json:"path" doc:"file"`
	Line   int    `json:"line" doc:"line, from 1"`
	To     int    `json:"to,omitempty" doc:"last line, for what concerns several"`
	Column int    `json:"column,omitempty" doc:"column in characters, from 1; default the line as a whole"`
	Title  string `json:"title,omitempty" doc:"the action to apply, by its title; without it they are listed"`
}

// LspCodeAction returns the tool that lists or applies the actions that a server offers.
func LspCodeAction() tool.Tool {
	plan := func(in lspActionArgs) func(context.Context, tool.Code, tool.CodeAt) ([]tool.Write, error) {
		return func(ctx context.Context, c tool.Code, at tool.CodeAt) ([]tool.Write, error) {
			return c.Act(ctx, at, max(in.To, in.Line), in.Title)
		}
	}
	t := tool.New("lsp_code_action",
		"List the quick fixes and refactorings that the language server offers for a line or several (add an import, remove what is not used, extract), or apply the one named by title.",
		func(env tool.Env, in lspActionArgs) (tool.Footprint, error) {
			if in.Title == "" {
				return codeReads(env, in.Path)
			}
			return codeWrites(env, codeAt(in.Path, in.Line, in.Column, ""), plan(in))
		},
		func(ctx context.Context, env tool.Env, in lspActionArgs) (tool.Result, error) {
			return asked(ctx, env, codeAt(in.Path, in.Line, in.Column, ""), func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				if in.Title != "" {
					ws, err := plan(in)(ctx, c, at)
					if err != nil {
						return tool.Result{}, err
					}
					return writeCode(ctx, env, ws, "applied "+oneLine(in.Title))
				}
				as, err := c.Actions(ctx, at, max(in.To, in.Line))
				return listActions(as), err
			})
		})
	t.Facts = tool.Facts{Kind: tool.Edit, Aliases: []string{"codeaction", "quickfix"}, Family: tool.EditFamily}
	t.Example = `{"path":"main.go","line":12,"title":"Organize Imports"}`
	return t
}

// actionLimit is how many actions are listed.
const actionLimit = 40

func listActions(as []tool.CodeAction) tool.Result {
	if len(as) == 0 {
		return tool.Result{Text: "the language server offers nothing here", Note: "none"}
	}
	var b strings.Builder
	for i, a := range as {
		if i == actionLimit {
			fmt.Fprintf(&b, "[%d more not shown]\n", len(as)-i)
			break
		}
		fmt.Fprintf(&b, "%s", oneLine(a.Title))
		if a.Kind != "" {
			fmt.Fprintf(&b, " (%s)", oneLine(a.Kind))
		}
		if a.Preferred {
			b.WriteString(" preferred")
		}
		if a.Disabled != "" {
			fmt.Fprintf(&b, " not now: %s", oneLine(a.Disabled))
		}
		b.WriteString("\n")
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: plural.Of(len(as), "action")}
}
