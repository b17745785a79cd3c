package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// completions is how many completions are listed.
const completions = 50

// LspCompletion returns the tool that lists what could be inserted at a place.
func LspCompletion() tool.Tool {
	t := tool.New("lsp_completion",
		"List what could stand at a place, such as the fields and methods after a dot, with their types. Needs path, line and column (the place behind the dot).",
		lspPlaceFootprint,
		func(ctx context.Context, env tool.Env, in lspPlaceArgs) (tool.Result, error) {
			return asked(ctx, env, in.at(), func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				cs, more, err := c.Complete(ctx, at, completions)
				if err != nil {
					return tool.Result{}, err
				}
				if len(cs) == 0 {
					return tool.Result{Text: "nothing is known to stand here", Note: "none"}, nil
				}
				var b strings.Builder
				for _, x := range cs {
					line := strings.TrimSpace(oneLine(strings.TrimSpace(x.Kind+" "+x.Text) + " " + x.Detail))
					if b.Len()+len(line) > limitOf(env)-100 {
						more = true
						break
					}
					b.WriteString(line + "\n")
				}
				if more {
					b.WriteString("[more not shown: write the first letters and ask behind them]\n")
				}
				return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: fmt.Sprintf("%d shown", len(cs))}, nil
			})
		})
	t.Facts = tool.Facts{Kind: tool.Search, Aliases: []string{"completion", "getcompletions"}, Family: tool.ReadFamily, Listing: true}
	t.ReadOnly = true
	t.Example = `{"path":"main.go","line":12,"column":9}`
	return t
}
