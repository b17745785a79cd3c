package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

type lspArgs struct {
	Look   string `json:"look" enum:"definition,references,hover,symbols,diagnostics,completion" doc:"what to look for"`
	Path   string `json:"path,omitempty" doc:"file; without it the whole workspace"`
	Line   int    `json:"line,omitempty" doc:"line, from 1"`
	Column int    `json:"column,omitempty" doc:"column in characters, from 1; not needed where symbol is on the line"`
	Symbol string `json:"symbol,omitempty" doc:"name, such as pkg.Func or Class.method; for symbols a part of it"`
}

// completions is how many completions are listed.
const completions = 50

// LspLook returns the tool that asks language servers what they know of the code.
func LspLook() tool.Tool {
	t := tool.New("lsp",
		"Ask the language server: where a name is defined, its references (right where a text search finds other things of the same name), "+
			"hover (its type and documentation), symbols of a file or of the workspace, diagnostics (what an edit of yours breaks is told anyway), "+
			"completion (what can stand behind line and column). Name a place by symbol, by path and symbol, or by path, line and symbol or column.",
		func(env tool.Env, in lspArgs) (tool.Footprint, error) { return codeReads(env, in.Path) },
		func(ctx context.Context, env tool.Env, in lspArgs) (tool.Result, error) {
			return asked(ctx, env, codeAt(in.Path, in.Line, in.Column, in.Symbol), func(c tool.Code, at tool.CodeAt) (tool.Result, error) {
				switch in.Look {
				case "definition":
					found, err := c.Definition(ctx, at)
					return spots(ctx, env, found, "definition"), err
				case "references":
					found, err := c.References(ctx, at)
					return spots(ctx, env, found, "use"), err
				case "symbols":
					found, err := c.Symbols(ctx, at.Path, in.Symbol)
					return spots(ctx, env, found, "symbol"), err
				case "diagnostics":
					return diagnostics(ctx, env, c, at.Path)
				case "completion":
					return canStand(ctx, env, c, at)
				}
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
	t.Facts = tool.Facts{Kind: tool.Search, Aliases: []string{"codeintelligence", "languageserver"}, Family: tool.ReadFamily, Listing: true, Hooks: []string{"LSP"}}
	t.ReadOnly = true
	t.Example = `{"look":"definition","path":"main.go","line":12,"symbol":"Run"}`
	return t
}

// canStand lists completions.
func canStand(ctx context.Context, env tool.Env, c tool.Code, at tool.CodeAt) (tool.Result, error) {
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
}

// diagnostics lists errors and warnings, of a file or of all that the servers know of.
func diagnostics(ctx context.Context, env tool.Env, c tool.Code, file string) (tool.Result, error) {
	var of []string
	if file != "" {
		of = []string{file}
	}
	ds, err := c.Diagnostics(ctx, of)
	if len(ds) == 0 && err != nil {
		return tool.Result{}, err
	}
	text, note := "the language server finds nothing wrong; that is no proof: run the tests", "none"
	if len(ds) > 0 {
		var b strings.Builder
		errs, shown := 0, 0
		for _, d := range ds {
			if d.Severity == tool.SeverityError {
				errs++
			}
			if entry := DiagnosticLine(d) + "\n"; shown < spotLimit && b.Len()+len(entry) <= limitOf(env)-100 {
				b.WriteString(entry)
				shown++
			}
		}
		if shown < len(ds) {
			fmt.Fprintf(&b, "[%d more not shown]\n", len(ds)-shown)
		}
		text, note = strings.TrimSuffix(b.String(), "\n"), fmt.Sprintf("%s, %s in all", plural.Of(errs, "error"), plural.Of(len(ds), "diagnostic"))
	}
	if err != nil {
		text += "\n[" + err.Error() + "]"
	}
	return tool.Result{Text: text, Note: note}, nil
}
