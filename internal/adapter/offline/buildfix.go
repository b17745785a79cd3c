package offline

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

// This file turns compile errors into edits of source text.

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// offset returns the byte offset of a line and column (from 1, in bytes).
func (s *source) offset(line, col int) int {
	tf := s.fset.File(s.ast.Pos())
	if line < 1 || line > tf.LineCount() {
		return -1
	}
	return tf.Offset(tf.LineStart(line)) + max(col, 1) - 1
}

func (s *source) at(p token.Pos) int { return s.fset.Position(p).Offset }

// splice returns the text with a range replaced.
func (s *source) splice(from, to int, new string) string {
	return s.text[:from] + new + s.text[to:]
}

// ident finds the identifier at a position that has the given name.
func (s *source) ident(e repair.BuildError, name string) *ast.Ident {
	off := s.offset(e.Line, e.Col)
	var best *ast.Ident
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			at := s.at(id.Pos())
			if at == off || best == nil && s.fset.Position(id.Pos()).Line == e.Line {
				best = id
			}
		}
		return true
	})
	return best
}

// nodesAt returns the nodes from the file down to a position.
func (s *source) nodesAt(pos token.Pos) []ast.Node {
	var out []ast.Node
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos >= n.End() {
			return false
		}
		out = append(out, n)
		return true
	})
	return out
}

func only(s *source, text, words string) []fix {
	return []fix{{files: map[string]string{s.path: text}, words: words}}
}

// dropImport removes an import that nothing uses.
func (s *source) dropImport(e repair.BuildError) []fix {
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		for _, sp := range g.Specs {
			im := sp.(*ast.ImportSpec)
			if s.fset.Position(im.Pos()).Line != e.Line {
				continue
			}
			from, to := s.at(im.Pos()), s.at(im.End())
			if len(g.Specs) == 1 {
				from, to = s.at(g.Pos()), s.at(g.End())
			}
			from = strings.LastIndexByte(s.text[:from], '\n') + 1
			if i := strings.IndexByte(s.text[to:], '\n'); i >= 0 {
				to += i + 1
			}
			if len(g.Specs) == 1 && strings.HasPrefix(s.text[to:], "\n") {
				to++
			}
			return only(s, s.splice(from, to, ""), "unused import "+im.Path.Value+" removed from "+s.file)
		}
	}
	return nil
}

// blank keeps what computes an unused variable: with `_ = x` after the statement that
// declares it, or with `_` in its place where no statement can follow.
func (s *source) blank(e repair.BuildError, name string) []fix {
	id := s.ident(e, name)
	if id == nil {
		return nil
	}
	out := []fix{}
	add := func(text, words string) {
		out = append(out, fix{
			files: map[string]string{s.path: text}, words: "unused variable `" + name + "` at " + e.Where() + " " + words,
			note: "I did not guess what the unused variable was for: please look.",
		})
	}
	var st ast.Stmt
	nodes := s.nodesAt(id.Pos())
	for i, n := range nodes {
		if x, ok := n.(ast.Stmt); ok {
			st = x
		}
		if d, ok := n.(*ast.DeclStmt); ok || i > 0 && slices.Contains(repair.Statements(nodes[i-1]), st) {
			if _, assigns := st.(*ast.AssignStmt); d != nil || assigns {
				end := s.at(st.End())
				add(s.splice(end, end, "\n"+repair.Indent(s.text, s.at(st.Pos()))+"_ = "+name), "kept with `_ = "+name+"`")
			}
		}
	}
	from, to, tok := s.at(id.Pos()), s.at(id.End()), token.NoPos
	switch x := st.(type) {
	case *ast.AssignStmt:
		if !slices.ContainsFunc(x.Lhs, func(l ast.Expr) bool { return l != id && !isBlank(l) }) {
			tok = x.TokPos
		}
	case *ast.RangeStmt:
		if x.Key == id && (x.Value == nil || isBlank(x.Value)) || x.Value == id && isBlank(x.Key) {
			tok = x.TokPos
		}
	}
	text := s.text
	if tok.IsValid() {
		text = text[:s.at(tok)] + "=" + text[s.at(tok)+2:]
	}
	add(text[:from]+"_"+text[to:], "made `_`")
	return out
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// addImport adds an import to the first import declaration, or makes one.
func (s *source) addImport(p string) string {
	q := strconv.Quote(p)
	at := s.at(s.ast.Name.End())
	text := s.splice(at, at, "\n\nimport "+q)
	for _, d := range s.ast.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			from, to := s.at(g.Pos()), s.at(g.End())
			if at = s.at(g.Lparen) + 1; g.Lparen.IsValid() {
				text = s.splice(at, at, "\n\t"+q)
			} else {
				text = s.splice(from, to, "import (\n\t"+q+"\n\t"+strings.TrimSpace(s.text[from+len("import"):to])+"\n)")
			}
			break
		}
	}
	return repair.Formatted(s.text, text) // which also sorts the imports
}

// imports returns the local name of each import and its path.
func (s *source) imports() map[string]string {
	out := map[string]string{}
	for _, im := range s.ast.Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			continue
		}
		name := baseName(p)
		if im.Name != nil {
			name = im.Name.Name
		}
		out[name] = p
	}
	return out
}

// baseName guesses a package's name from its import path.
func baseName(p string) string {
	b := path.Base(p)
	if len(b) > 1 && b[0] == 'v' && strings.Trim(b[1:], "0123456789") == "" && strings.Contains(p, "/") {
		b = path.Base(path.Dir(p))
	}
	return strings.TrimPrefix(b, "go-")
}

// importsAt reports whether an error is about an import that an import line of
// the file names.
func (s *source) importsAt(e repair.BuildError) bool {
	for _, im := range s.ast.Imports {
		if p, err := strconv.Unquote(im.Path.Value); err == nil && s.fset.Position(im.Pos()).Line == e.Line && strings.Contains(e.Msg, p) {
			return true
		}
	}
	return false
}

// selected lists the identifiers that follow a dot.
func (s *source) selected() map[*ast.Ident]bool {
	out := map[*ast.Ident]bool{}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok {
			out[x.Sel] = true
		}
		return true
	})
	return out
}
