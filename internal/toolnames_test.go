package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// namers may decide by a tool's name: the tools themselves, the names that other agents
// have for them, the built-in model
// that calls them, and logs from before facts were recorded.
var namers = []string{"adapter/tools", "adapter/offline", "core/event/legacy.go", "core/tool/foreign.go"}

// SPEC 4.9: nothing decides by a tool's name: behaviour asks the facts that tools
// declare and that the log records with each call. What is compared here is a
// field Tool or Name, or what is looked up in a set, with the name of a built-in
// tool.
func TestNothingDecidesByAToolsName(t *testing.T) {
	names := map[string]bool{}
	for _, tl := range []tool.Tool{
		tools.Read(), tools.Ls(), tools.Glob(), tools.Grep(), tools.Write(), tools.Edit(), tools.MultiEdit(), tools.ApplyPatch(), tools.Bash(),
		tools.BashOutput(), tools.BashKill(), tools.GitStatus(), tools.GitLog(), tools.GitDiff(), tools.WebFetch(), tools.WebSearch(), tools.Todo(),
		tools.Remember(), tools.AskUser(), tools.CleanupToolCall(), skills.Tool(nil, func(s string) string { return s }, nil),
	} {
		names[tl.Spec.Name] = true
	}
	literal := func(e ast.Expr) bool {
		b, ok := e.(*ast.BasicLit)
		if !ok || b.Kind != token.STRING {
			return false
		}
		s, err := strconv.Unquote(b.Value)
		return err == nil && names[s]
	}
	// named reports whether an expression is a tool's name by what it is called.
	named := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		return ok && (s.Sel.Name == "Tool" || s.Sel.Name == "Name")
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			slices.ContainsFunc(namers, func(p string) bool { return strings.HasPrefix(filepath.ToSlash(path), p) }) {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		told := func(n ast.Node) {
			t.Errorf("%s: it decides by a tool's name: ask its facts (core/tool/facts.go), which the log has too", set.Position(n.Pos()))
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if named(n.X) && literal(n.Y) || literal(n.X) && named(n.Y) {
					told(n)
				}
			case *ast.SwitchStmt:
				for _, c := range n.Body.List {
					if n.Tag != nil && named(n.Tag) && slices.ContainsFunc(c.(*ast.CaseClause).List, literal) {
						told(c)
					}
				}
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if ok && (s.Sel.Name == "Find" || s.Sel.Name == "Resolve" || s.Sel.Name == "EqualFold") && slices.ContainsFunc(n.Args, literal) {
					told(n)
				}
			}
			return true
		})
		return nil
	})
	must.Do(t, err)
}
