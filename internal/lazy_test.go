package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 19.3: a start compiles no regular expression: at package level they
// are lazy, and each of them is one.
func TestPatternsAreLazy(t *testing.T) {
	lazy := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if g, ok := decl.(*ast.GenDecl); !ok || g.Tok != token.VAR {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if _, inner := n.(*ast.FuncLit); inner {
					return false // not run at the start
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				s, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				switch of, _ := s.X.(*ast.Ident); {
				case of == nil || len(call.Args) != 1:
				case of.Name == "regexp" && strings.HasSuffix(s.Sel.Name, "Compile"):
					t.Errorf("%s: this is compiled at every start: use core/lazyregexp", set.Position(n.Pos()))
				case of.Name == "lazyregexp":
					lazy++
					if lit, ok := call.Args[0].(*ast.BasicLit); ok {
						pattern, err := strconv.Unquote(lit.Value)
						if _, cerr := regexp.Compile(pattern); err != nil || cerr != nil {
							t.Errorf("%s: %v %v", set.Position(n.Pos()), err, cerr)
						}
					}
				}
				return true
			})
		}
		return nil
	})
	must.Do(t, err)
	if lazy < 10 {
		t.Errorf("only %d patterns seen", lazy)
	}
}
