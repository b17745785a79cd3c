// Package symbols finds declarations by the name that a person wrote. Functions, types and
// values of Go files are found by Go's own parser, those of other languages by the
// running language servers.
//
// It promises that each result is a declaration with all of its lines, and that no server
// is started. It has no index: a file that declares a name contains the name, so a text
// search finds the files to parse. It refuses to guess: for a language whose server does
// not run, it finds nothing.
package symbols

import (
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Servers are the running language servers.
type Servers interface {
	// Known lists the declarations whose name matches, each with its lines.
	Known(ctx context.Context, name string) []tool.SymbolPosition
}

// Finder finds declarations.
type Finder struct {
	files   tool.Files
	servers Servers // nil: there are none
}

func New(files tool.Files, servers Servers) *Finder { return &Finder{files, servers} }

const (
	mostFiles = 2000    // files parsed for one answer
	mostBytes = 2 << 20 // of one file
)

func (f *Finder) Find(ctx context.Context, begin string, limit int) []tool.SymbolPosition {
	w := wantedBy(begin)
	out := f.parsed(ctx, w)
	if f.servers != nil && w.name != "" {
		for _, sp := range f.servers.Known(ctx, w.name) {
			known := slices.ContainsFunc(out, func(o tool.SymbolPosition) bool {
				return o.Path == sp.Path && o.Name == sp.Name && o.EndLine == sp.EndLine
			})
			if !known && w.fits(sp.Name, sp.In, sp.Detail) {
				out = append(out, sp)
			}
		}
	}
	sorting.By(out, func(a, b tool.SymbolPosition) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return out[:min(len(out), max(0, limit))]
}

// wanted is the beginning of a name, and the name of its type or package.
type wanted struct {
	of, name string
	fold     bool // case is ignored
}

func wantedBy(begin string) wanted {
	w := wanted{name: begin, fold: begin == strings.ToLower(begin)}
	if i := strings.LastIndexByte(begin, '.'); i >= 0 {
		w.of, w.name = begin[:i], begin[i+1:]
	}
	return w
}

// fits reports whether a declaration matches. in is the type of a method or the symbol
// that contains the declaration, pkg its package.
func (w wanted) fits(name, in, pkg string) bool {
	same := func(a, b string) bool { return a == b || w.fold && strings.EqualFold(a, b) }
	if w.of != "" && !same(w.of, in) && !same(w.of, pkg) && !same(w.of, pkg+"."+in) {
		return false
	}
	return len(name) >= len(w.name) && same(w.name, name[:len(w.name)])
}

// word returns a text that every file with a matching declaration contains.
func (w wanted) word() string {
	if w.name != "" {
		return w.name
	}
	return w.of[strings.LastIndexByte(w.of, '.')+1:]
}

// parsed finds declarations in Go files.
func (f *Finder) parsed(ctx context.Context, w wanted) (out []tool.SymbolPosition) {
	word := w.word()
	if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		return nil
	}
	found, err := f.files.Grep(ctx, tool.Query{Dir: ".", Pattern: word, Literal: true, IgnoreCase: w.fold, Glob: "**/*.go", FilesOnly: true, Limit: mostFiles})
	if err != nil {
		return nil // a person who completes a name does not need this error
	}
	for _, m := range found.Lines {
		if ctx.Err() != nil {
			return nil
		}
		if file, err := f.files.Read(ctx, m.Path, mostBytes); err == nil {
			out = append(out, declared(m.Path, file.Data, w)...)
		}
	}
	return out
}

// declared lists the declarations of a Go file. For an incomplete file it lists those
// that the parser understood.
func declared(path string, src []byte, w wanted) (out []tool.SymbolPosition) {
	set := token.NewFileSet()
	file, _ := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution) // nil only if nothing was read
	if file == nil || file.Name == nil {
		return nil
	}
	add := func(name *ast.Ident, in, kind string, doc *ast.CommentGroup, n ast.Node) {
		if name.Name == "_" || !w.fits(name.Name, in, file.Name.Name) {
			return
		}
		first := n.Pos()
		if doc != nil {
			first = doc.Pos()
		}
		at, end := set.PositionFor(name.Pos(), false), set.PositionFor(n.End(), false)
		if end.Line < at.Line {
			return // the declaration is incomplete
		}
		out = append(out, tool.SymbolPosition{
			Path: path, Line: set.PositionFor(first, false).Line, Column: at.Column, EndLine: end.Line,
			Name: name.Name, In: in, Kind: kind, Detail: file.Name.Name,
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) == 1 {
				add(d.Name, receiver(d.Recv.List[0].Type), "method", d.Doc, d)
			} else {
				add(d.Name, "", "function", d.Doc, d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				n, doc := ast.Node(d), d.Doc
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if d.Lparen.IsValid() {
						n, doc = spec, spec.Doc
					}
					add(spec.Name, "", "type", doc, n)
				case *ast.ValueSpec:
					if d.Lparen.IsValid() {
						n, doc = spec, spec.Doc
					}
					for _, name := range spec.Names {
						add(name, "", map[token.Token]string{token.CONST: "constant", token.VAR: "variable"}[d.Tok], doc, n)
					}
				}
			}
		}
	}
	return out
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
