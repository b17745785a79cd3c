package offline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// This file turns compile errors into edits of source text.

// fix is one way to remove an error: new content of its file, and a description.
type fix struct {
	text  string
	words string
}

// source is a parsed file of the module.
type source struct {
	path string // in the workspace
	file string // in the module, as the compiler prints it
	text string
	fset *token.FileSet
	ast  *ast.File
}

// fixes returns the ways to remove an error, likeliest first; nil if the error
// cannot be repaired without knowing the intent.
func (b *builder) fixes(e repair.BuildError) (*source, []fix, error) {
	if outward(e.File) {
		return nil, nil, nil // not the project's
	}
	f := &source{path: path.Join(b.dir, e.File), file: e.File, fset: token.NewFileSet()}
	texts, err := known{b.h}.ReadAll([]string{f.path})
	if err != nil {
		return nil, nil, err
	}
	f.text = texts[f.path]
	if f.ast, err = parser.ParseFile(f.fset, e.File, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, nil, nil // the compiler names it
	}
	im := f.importAt(e.Line)
	var fixes []fix
	switch {
	case im != nil && strings.HasSuffix(e.Msg, "and not used"):
		fixes = f.dropImport(im)
	case strings.HasPrefix(e.Msg, "declared and not used: "):
		fixes = f.blank(e)
	case im != nil && strings.Contains(e.Msg, strings.Trim(im.Path.Value, `"`)):
		fixes, err = b.importPath(f, im)
	case strings.Contains(e.Msg, "undefined") || strings.Contains(e.Msg, "unknown field ") || strings.Contains(e.Msg, " not exported by package "):
		fixes, err = b.misspelt(f, e)
	}
	return f, fixes, err
}

func (s *source) at(p token.Pos) int { return s.fset.Position(p).Offset }

// splice returns the text with a range replaced.
func (s *source) splice(from, to token.Pos, new string) string {
	return s.text[:s.at(from)] + new + s.text[s.at(to):]
}

// identAt returns the nodes from the file down to the identifier that an error is about.
func (s *source) identAt(e repair.BuildError) (around []ast.Node, id *ast.Ident) {
	lines := s.fset.File(s.ast.Pos())
	if e.Line < 1 || e.Line > lines.LineCount() {
		return nil, nil
	}
	pos := lines.LineStart(e.Line) + token.Pos(max(e.Col, 1)-1)
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos >= n.End() {
			return false
		}
		around = append(around, n)
		return true
	})
	if len(around) > 0 {
		id, _ = around[len(around)-1].(*ast.Ident)
	}
	return around, id
}

// importAt returns the import on a line.
func (s *source) importAt(line int) *ast.ImportSpec {
	for _, im := range s.ast.Imports {
		if s.fset.Position(im.Pos()).Line == line {
			return im
		}
	}
	return nil
}

// dropImport removes an import that nothing uses.
func (s *source) dropImport(im *ast.ImportSpec) []fix {
	from, to := s.at(im.Pos()), s.at(im.End())
	for _, d := range s.ast.Decls {
		if g, ok := d.(*ast.GenDecl); ok && len(g.Specs) == 1 && g.Specs[0] == ast.Spec(im) {
			from, to = s.at(g.Pos()), s.at(g.End())
		}
	}
	from = strings.LastIndexByte(s.text[:from], '\n') + 1
	_, rest, _ := strings.Cut(s.text[to:], "\n")
	if strings.HasSuffix(s.text[:from], "\n\n") {
		rest = strings.TrimPrefix(rest, "\n")
	}
	return []fix{{text: s.text[:from] + rest, words: "unused import " + im.Path.Value + " removed from " + s.file}}
}

// blank keeps what computes an unused variable: with `_ = x` after the statement that
// declares it, or with `_` in its place where no statement can follow.
func (s *source) blank(e repair.BuildError) []fix {
	around, id := s.identAt(e)
	if id == nil {
		return nil
	}
	var out []fix
	add := func(text, words string) {
		out = append(out, fix{text, "unused variable `" + id.Name + "` at " + e.Where() + " " + words + " (I did not guess what it was for)"})
	}
	for i, n := range around[1:] {
		switch st := n.(type) {
		case *ast.DeclStmt, *ast.AssignStmt:
			if slices.Contains(repair.Statements(around[i]), st.(ast.Stmt)) {
				use := "_ = " + id.Name
				add(s.splice(n.End(), n.End(), "\n"+repair.Indent(s.text, s.at(n.Pos()))+use), "kept with `"+use+"`")
			}
		}
	}
	// The compiler tells whether it is the only new variable of a :=.
	text := s.splice(id.Pos(), id.End(), "_")
	add(text, "made `_`")
	at := s.at(id.Pos())
	add(text[:at]+strings.Replace(text[at:], ":=", "=", 1), "made `_`")
	return out
}

// addImport adds an import to the first import declaration, or makes one.
func (s *source) addImport(p string) fix {
	q := strconv.Quote(p)
	text := s.splice(s.ast.Name.End(), s.ast.Name.End(), "\n\nimport "+q)
	if len(s.ast.Imports) > 0 {
		first := s.ast.Decls[0].(*ast.GenDecl) // imports stand first
		if first.Lparen.IsValid() {
			text = s.splice(first.Lparen+1, first.Lparen+1, "\n\t"+q)
		} else {
			text = s.splice(first.Specs[0].Pos(), first.End(), "(\n\t"+q+"\n\t"+s.text[s.at(first.Specs[0].Pos()):s.at(first.End())]+"\n)")
		}
	}
	// The formatter also sorts the imports.
	return fix{text: repair.Formatted(s.text, text), words: "import of " + q + " added to " + s.file}
}

// declaration matches what go doc shows of a package.
var declaration = lazyregexp.New(`(?m)^\s*(?:func|type|const|var) (\w+)`)

// misspelt replaces a name that is not there by the nearest ones that may stand in its
// place, or imports the package that it may mean.
func (b *builder) misspelt(f *source, e repair.BuildError) ([]fix, error) {
	around, id := f.identAt(e)
	if id == nil {
		return nil, nil
	}
	var out []fix
	sel, isSel := around[len(around)-2].(*ast.SelectorExpr)
	if isSel && sel.X == ast.Expr(id) {
		paths, err := b.packagesNamed(id.Name, sel.Sel.Name)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			out = append(out, f.addImport(p))
		}
	}
	look, err := repair.LookAt(known{b.h}, b.dir, f.path)
	if err != nil {
		return nil, err
	}
	names, of := look.Names(f.at(id.Pos()))
	if of != "" {
		doc, _, err := b.h.Run(repair.In(b.dir, "go doc -short "+shellsyntax.Quote(of)))
		if err != nil {
			return nil, err
		}
		for _, m := range declaration().FindAllStringSubmatch(doc, -1) {
			names = append(names, m[1])
		}
	}
	for _, n := range nearest(id.Name, names) {
		out = append(out, b.rename(f, e, id, n, isSel && sel.Sel == id))
	}
	return out, nil
}

// rename replaces an identifier at every place where the build complains of it
// in the same words. The compiler reports one error a line, so all of the same
// role on such a line are meant.
func (b *builder) rename(f *source, e repair.BuildError, lead *ast.Ident, to string, member bool) fix {
	lines, members := map[int]bool{}, map[*ast.Ident]bool{}
	for _, x := range b.last.errs {
		lines[x.Line] = lines[x.Line] || x.File == e.File && x.Msg == e.Msg
	}
	var text strings.Builder
	from := 0
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			members[x.Sel] = true
		case *ast.Ident:
			if x.Name == lead.Name && lines[f.fset.Position(x.Pos()).Line] && members[x] == member {
				text.WriteString(f.text[from:f.at(x.Pos())] + to)
				from = f.at(x.End())
			}
		}
		return true
	})
	return fix{text: text.String() + f.text[from:], words: "`" + lead.Name + "` at " + e.Where() + " is now `" + to + "`, the nearest name there is"}
}

// known reads no file twice.
type known struct{ *actions }

func (k known) ReadAll(paths []string) (map[string]string, error) {
	if _, err := k.actions.ReadAll(slices.DeleteFunc(slices.Clone(paths), func(p string) bool { _, ok := k.seen[p]; return ok })); err != nil {
		return nil, err
	}
	return k.seen, nil
}

// list returns the import paths of the module's packages, then those of the standard
// library, asked for once.
func (b *builder) list() ([]string, error) {
	if b.listed == nil {
		out, _, err := b.h.Run(repair.In(b.dir, "go list -e ./... std"))
		if err != nil {
			return nil, err
		}
		b.listed = strings.Fields(out)
	}
	return b.listed, nil
}

// secondary are packages that share their name with one that is meant more often.
var secondary = []string{"html/template", "text/scanner", "go/scanner", "go/version", "runtime/debug", "runtime/metrics", "crypto/rand"}

// packagesNamed lists the import paths whose package may be called name, the plain
// choice first. The build decides.
func (b *builder) packagesNamed(name, member string) ([]string, error) {
	all, err := b.list()
	var out, more []string
	for _, p := range all {
		switch {
		case path.Base(p) != name || p == "math/rand" && member == "Read":
		case slices.Contains(secondary, p), strings.Contains(p, "internal/"):
			more = append(more, p)
		default:
			out = append(out, p)
		}
	}
	return append(out, more...), err
}

// importPath repairs an import of a package that does not exist.
func (b *builder) importPath(f *source, im *ast.ImportSpec) ([]fix, error) {
	all, err := b.list()
	if err != nil {
		return nil, err
	}
	var out []fix
	for _, p := range nearest(strings.Trim(im.Path.Value, `"`), all) {
		q := strconv.Quote(p)
		out = append(out, fix{text: f.splice(im.Path.Pos(), im.Path.End(), q), words: "import " + im.Path.Value + " in " + f.file + " is now " + q})
	}
	return out, nil
}

// nearest orders the names that a misspelt one may mean, nearest first. Names
// given earlier win among equals, so callers put inner scopes first.
func nearest(name string, names []string) []string {
	distance := func(n string) int { return editdistance.Distance(strings.ToLower(name), strings.ToLower(n)) }
	limit := 1 + min(len(name)/4, 1) + min(len(name)/9, 1)
	var out []string
	for _, n := range names {
		d := distance(n)
		near := d == 0 || d <= limit && d < max(len(name), len(n))-1 && max(len(name), len(n)) > 2 // x is not a misspelt y
		if near && n != name && n != "_" && n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return distance(a) - distance(b) })
	return out
}
