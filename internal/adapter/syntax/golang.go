package syntax

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// jsonText returns the first error of a JSON text. Comments and trailing commas are none:
// many programs read them in their configuration.
func jsonText(text []byte) *tool.Diagnostic {
	var v any
	err := json.Unmarshal(jsonc.Plain(text), &v)
	at := (*json.SyntaxError)(nil)
	if !errors.As(err, &at) {
		return nil
	}
	line := 1 + strings.Count(string(text[:min(int(at.Offset), len(text))]), "\n")
	return atLine(line, "syntax", "%v", at)
}

// golang returns the first error of a Go file: of its syntax, or else of its imports.
func (l *Look) golang(name string, text []byte) *tool.Diagnostic {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, 0)
	if err != nil {
		list := (scanner.ErrorList)(nil)
		if !errors.As(err, &list) || len(list) == 0 {
			return nil
		}
		return atLine(list[0].Pos.Line, "syntax", "%s", list[0].Msg)
	}
	used, missing := map[string]bool{}, map[string]token.Pos{}
	unresolved := map[*ast.Ident]bool{}
	for _, id := range file.Unresolved {
		unresolved[id] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && unresolved[id] {
				if used[id.Name] = true; missing[id.Name] == 0 {
					missing[id.Name] = id.Pos()
				}
			}
		}
		return true
	})
	other := false
	for _, i := range file.Imports {
		full, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil
		}
		called := path.Base(full)
		if version().MatchString(called) {
			called = path.Base(path.Dir(full))
		}
		switch {
		case i.Name != nil && (i.Name.Name == "_" || i.Name.Name == "."):
			if i.Name.Name == "." {
				return nil // its names may be any
			}
			continue
		case i.Name != nil:
			called = i.Name.Name
		case strings.Contains(full, ".") || !standard[called]:
			delete(missing, called)
			other = other || !used[called] // the package has another name than its folder
			continue
		}
		if delete(missing, called); !used[called] && full != "C" {
			return atLine(set.Position(i.Pos()).Line, "import", "%q imported and not used", full)
		}
	}
	first := token.NoPos
	word := ""
	for name, at := range missing {
		if standard[name] && (first == token.NoPos || at < first) {
			first, word = at, name
		}
	}
	if word == "" || other || l.declares(name, word) {
		return nil
	}
	return atLine(set.Position(first).Line, "import", "undefined: %s (the package is not imported)", word)
}

// version is the last part of the path of a package's later major version.
var version = lazyregexp.New(`^v[0-9]+$`)

// maxPackage is how many files of a package are read.
const maxPackage = 200

// declares reports whether another file of the folder declares a name, or may.
func (l *Look) declares(file, name string) bool {
	root, err := os.OpenRoot(l.Root)
	if err != nil {
		return true
	}
	defer root.Close()
	dir, err := root.Open(path.Dir(file))
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxPackage)
	if err != nil || len(names) == maxPackage {
		return true
	}
	for _, n := range names {
		if !strings.HasSuffix(n, ".go") || n == path.Base(file) {
			continue
		}
		src, err := root.ReadFile(path.Join(path.Dir(file), n))
		if err != nil {
			return true
		}
		f, err := parser.ParseFile(token.NewFileSet(), n, src, 0)
		if err != nil || f.Scope.Lookup(name) != nil {
			return true
		}
	}
	return false
}

// standard are packages of the standard library, by their names, that are used most.
var standard = setOf(`bufio bytes cmp context errors embed filepath flag fmt hash heap hex html http httptest io
	iter json log maps math atomic os exec path rand reflect regexp runtime signal slices sort strconv strings sync
	syscall template testing time unicode utf8 url xml base64 binary sha256 slog netip net big bits debug fs ast
	parser token fstest iotest`)

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}
