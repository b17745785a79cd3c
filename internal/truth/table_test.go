//go:build truth && linux

package truth

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// program is one of the policy's table, with the options that stand there.
type program struct {
	name    string
	options []string // with their dashes; one that takes a value ends in "="
}

// readers are the functions of the policy that read the arguments of programs
// by a way of their own, and forms of these programs.
var readers = map[string][]string{
	"sed":     {"sed", "sed -n", "sed -e", "sed 1p", "sed -n 2p"},
	"awk":     {"awk", "awk 1", "gawk", "mawk"},
	"jq":      {"jq", "jq .", "jq -r .b"},
	"date":    {"date"},
	"gofmt":   {"gofmt", "gofumpt", "goimports"},
	"goTool":  {"go version", "go doc", "go list", "go env", "go mod graph", "go mod why", "go tool cover", "go help"},
	"npmTool": {"npm ls", "npm root", "npm run", "npm pkg get", "npm explain", "npm help"},
	"pipTool": {"pip list", "pip3 show", "pip freeze"},
	"python":  {"python3 -I -m json.tool", "python3 -I -m platform", "python3 -I -m tabnanny", "python -I -m sysconfig"},
	"archive": {"tar tf a.tar", "tar -tf", "tar tzf a.tar.gz", "bsdtar -tf", "unzip -l", "unzip -p a.zip", "unzip", "zipinfo", "gzip -l", "gzip -cd", "gunzip", "bzip2 -t", "bunzip2 -c", "xz -l", "unxz -c", "zstd -l", "unzstd -c"},
	"pager":   {"less", "more", "man", "man -k"},
	"copies":  {"cp", "cp a.txt", "cp -r sub", "mv", "mv b.txt", "ln", "ln -s"},
	"find":    {"find", "find .", "find sub -name n*"},
}

// table reads the policy's table out of its source.
func table(t *testing.T) []program {
	t.Helper()
	var out []program
	for _, file := range []string{"text.go", "files.go", "effect.go", "git.go", "special.go", "tools.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), "../policy/command/"+file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			switch name := fn.Name.Name; name {
			case "textRow", "fileRow", "special", "tells", "gitRow":
				ast.Inspect(fn, func(n ast.Node) bool {
					if c, ok := n.(*ast.CaseClause); ok {
						options := optionsOf(f, c)
						for _, e := range c.List {
							if s := text(f, e); s != "" && name == "gitRow" {
								out = append(out, program{"git " + s, options})
							} else if s != "" {
								out = append(out, program{s, options})
							}
						}
					}
					return true
				})
			case "findWord":
				var options []string
				ast.Inspect(fn, func(n ast.Node) bool {
					if e, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(text(f, e), "-") {
						options = append(options, text(f, e))
					}
					return true
				})
				for _, p := range readers["find"] {
					out = append(out, program{p, options})
				}
			default:
				for _, p := range readers[name] {
					out = append(out, program{p, optionsOf(f, fn)})
				}
			}
		}
	}
	if len(out) < 150 {
		t.Fatal("the table has only ", len(out), " programs")
	}
	return out
}

// optionsOf collects the options of the rows that stand below a node.
func optionsOf(f *ast.File, n ast.Node) (out []string) {
	add := func(field string, e ast.Expr) {
		s := text(f, e)
		switch field {
		case "long", "dash":
			for o := range strings.FieldsSeq(s) {
				o = strings.NewReplacer("<", "=", "?", "=", "#", "", "!", "").Replace(o)
				if field == "long" {
					o = "-" + o
				}
				out = append(out, "-"+o)
			}
		case "short":
			for i := 0; i < len(s); i++ {
				switch {
				case strings.IndexByte("=<?!#", s[i]) >= 0:
				case i+1 < len(s) && strings.IndexByte("=<?", s[i+1]) >= 0:
					out = append(out, "-"+s[i:i+1]+"=")
				default:
					out = append(out, "-"+s[i:i+1])
				}
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				add(id.Name, n.Value)
			}
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if sel, ok := l.(*ast.SelectorExpr); ok && i < len(n.Rhs) {
					add(sel.Sel.Name, n.Rhs[i])
				}
			}
		}
		return true
	})
	return out
}

// text is the value of a string expression: literals, constants of the file,
// and sums of them.
func text(f *ast.File, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		return text(f, e.X) + text(f, e.Y)
	case *ast.Ident:
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].Name == e.Name && len(v.Values) == 1 {
					return text(f, v.Values[0])
				}
			}
		}
	}
	return ""
}

// tabled are the names of the programs of the table.
func tabled(t *testing.T) []string {
	var out []string
	for _, p := range table(t) {
		words := strings.Fields(p.name)
		if w := words[0]; w == "git" || w == "go" || w == "npm" {
			if len(words) > 1 {
				w += " " + words[1]
			}
			out = append(out, w)
			continue
		}
		out = append(out, words[0])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
