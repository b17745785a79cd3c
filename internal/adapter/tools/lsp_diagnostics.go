package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type lspDiagnosticsArgs struct {
	Paths []string `json:"paths,omitempty" doc:"files; default all that the running language servers know of"`
}

// LspDiagnostics returns the tool that lists errors and warnings.
func LspDiagnostics() tool.Tool {
	t := tool.New("lsp_diagnostics",
		"List the errors and warnings that the language server has for files. What an edit of yours breaks is told with its result anyway.",
		func(env tool.Env, in lspDiagnosticsArgs) (tool.Footprint, error) { return codeReads(env, in.Paths...) },
		func(ctx context.Context, env tool.Env, in lspDiagnosticsArgs) (tool.Result, error) {
			return asked(ctx, env, tool.CodeAt{}, func(c tool.Code, _ tool.CodeAt) (tool.Result, error) {
				paths := make([]string, len(in.Paths))
				for i, p := range in.Paths {
					at, err := codePlace(env, tool.CodeAt{Path: p})
					if err != nil {
						return tool.Result{}, err
					}
					paths[i] = at.Path
				}
				ds, err := c.Diagnostics(ctx, paths)
				if len(ds) == 0 && err != nil {
					return tool.Result{}, err
				}
				r := listDiagnostics(env, ds)
				if err != nil {
					r.Text += "\n[" + err.Error() + "]"
				}
				return r, nil
			})
		})
	t.Facts = tool.Facts{Kind: tool.Read, Aliases: []string{"diagnostics", "getdiagnostics", "geterrors", "godiagnostics"}, Family: tool.ReadFamily, Listing: true}
	t.ReadOnly = true
	t.Example = `{"paths":["main.go"]}`
	return t
}

func listDiagnostics(env tool.Env, ds []tool.Diagnostic) tool.Result {
	if len(ds) == 0 {
		return tool.Result{Text: "the language server finds nothing wrong; that is no proof: run the tests", Note: "none"}
	}
	var b strings.Builder
	errs, shown := 0, 0
	for _, d := range ds {
		if d.Severity == tool.SeverityError {
			errs++
		}
	}
	for _, d := range ds {
		entry := DiagnosticLine(d) + "\n"
		if shown == spotLimit || b.Len()+len(entry) > limitOf(env)-100 {
			break
		}
		b.WriteString(entry)
		shown++
	}
	if shown < len(ds) {
		fmt.Fprintf(&b, "[%d more not shown]\n", len(ds)-shown)
	}
	return tool.Result{Text: strings.TrimSuffix(b.String(), "\n"), Note: fmt.Sprintf("%s, %s in all", plural(errs, "error"), plural(len(ds), "diagnostic"))}
}
