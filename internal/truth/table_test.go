//go:build truth && linux

package truth

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
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
	files, err := filepath.Glob("../policy/command/table_*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f := parsed(t, file)
		ast.Inspect(f, func(n ast.Node) bool {
			if row, ok := n.(*ast.CompositeLit); ok {
				out = append(out, rowOf(f, row)...)
			}
			return true
		})
	}
	for _, file := range []string{"git.go", "files.go", "special.go", "tools.go"} {
		f := parsed(t, "../policy/command/"+file)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			switch name := fn.Name.Name; name {
			case "gitUsage":
				ast.Inspect(fn, func(n ast.Node) bool {
					if c, ok := n.(*ast.CaseClause); ok {
						options := optionsOf(f, c)
						for _, e := range c.List {
							if s := text(f, e); s != "" {
								out = append(out, program{"git " + s, options})
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

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// rowOf returns the programs of a row of the table that may only read or only
// change what they name, with the options of its usage.
func rowOf(f *ast.File, row *ast.CompositeLit) (out []program) {
	names, judged := "", false
	var options []string
	for _, e := range row.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch key, _ := field.Key.(*ast.Ident); key.Name {
		case "names":
			names = text(f, field.Value)
		case "is":
			ast.Inspect(field.Value, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				judged = judged || ok && id.Name == "tells"
				return true
			})
		case "usage":
			judged, options = true, optionsOf(f, field.Value)
		case "effect":
			judged = true
		}
	}
	if judged {
		for name := range strings.FieldsSeq(names) {
			out = append(out, program{name, options})
		}
	}
	return out
}

// optionsOf collects the options of the usages that stand below a node.
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
