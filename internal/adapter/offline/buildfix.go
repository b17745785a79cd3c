package offline

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
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
func (s *source) ident(e buildError, name string) *ast.Ident {
	off := s.offset(e.line, e.col)
	var best *ast.Ident
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			at := s.at(id.Pos())
			if at == off || best == nil && s.fset.Position(id.Pos()).Line == e.line {
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
func (s *source) dropImport(e buildError) []fix {
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		for _, sp := range g.Specs {
			im := sp.(*ast.ImportSpec)
			if s.fset.Position(im.Pos()).Line != e.line {
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

// blank keeps an unused variable and what computes it: `_ = x` right after the
// declaration, or `_` in its place where no statement can follow.
func (s *source) blank(e buildError, name string) []fix {
	id := s.ident(e, name)
	if id == nil {
		return nil
	}
	nodes := s.nodesAt(id.Pos())
	words := "unused variable `" + name + "` at " + e.where() + " kept with `_ = " + name + "`"
	note := "I did not guess what the unused variable was for: please look."
	for i := len(nodes) - 1; i > 0; i-- {
		st, ok := nodes[i].(ast.Stmt)
		if !ok {
			continue
		}
		switch parent := nodes[i-1].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			if r, ok := st.(*ast.RangeStmt); ok {
				return s.blankRange(r, id, note)
			}
			if len(s.text) > s.at(st.End()) && s.inList(parent, st) {
				line := s.text[strings.LastIndexByte(s.text[:s.at(st.Pos())], '\n')+1:]
				indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
				end := s.at(st.End())
				return []fix{{files: map[string]string{s.path: s.splice(end, end, "\n"+indent+"_ = "+name)}, words: words, note: note}}
			}
		case *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
			body := bodyOf(parent)
			if as, ok := st.(*ast.AssignStmt); ok && len(as.Lhs) > 1 {
				return []fix{{files: map[string]string{s.path: s.splice(s.at(id.Pos()), s.at(id.End()), "_")}, words: "unused variable `" + name + "` at " + e.where() + " made `_`", note: note}}
			}
			if _, ok := parent.(*ast.TypeSwitchStmt); ok || body == nil {
				return nil
			}
			if _, ok := parent.(*ast.SwitchStmt); ok {
				return nil // nothing may come before its first case
			}
			at := s.at(body.Lbrace) + 1
			line := s.text[strings.LastIndexByte(s.text[:s.at(parent.Pos())], '\n')+1:]
			indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
			return []fix{{files: map[string]string{s.path: s.splice(at, at, "\n"+indent+"\t_ = "+name)}, words: words, note: note}}
		}
	}
	return nil
}

// inList: st is one of the statements of parent, not a case's expression or a
// comm clause's operation.
func (s *source) inList(parent ast.Node, st ast.Stmt) bool {
	switch p := parent.(type) {
	case *ast.BlockStmt:
		return slices.Contains(p.List, st)
	case *ast.CaseClause:
		return slices.Contains(p.Body, st)
	case *ast.CommClause:
		return slices.Contains(p.Body, st)
	}
	return false
}

func bodyOf(n ast.Node) *ast.BlockStmt {
	switch x := n.(type) {
	case *ast.IfStmt:
		return x.Body
	case *ast.ForStmt:
		return x.Body
	case *ast.SwitchStmt:
		return x.Body
	}
	return nil
}

func (s *source) blankRange(r *ast.RangeStmt, id *ast.Ident, note string) []fix {
	from, to, new := s.at(id.Pos()), s.at(id.End()), "_"
	switch {
	case r.Value == nil || isBlank(r.Value) && r.Key == id:
		from, to, new = s.at(r.Key.Pos()), s.at(r.Range), ""
	case r.Value == id:
		from, to, new = s.at(r.Key.End()), s.at(r.Value.End()), ""
		if isBlank(r.Key) {
			from, to = s.at(r.Key.Pos()), s.at(r.Range)
		}
	}
	where := s.file + ":" + itoa(s.fset.Position(id.Pos()).Line)
	return []fix{{files: map[string]string{s.path: s.splice(from, to, new)}, words: "unused loop variable `" + id.Name + "` at " + where + " dropped", note: note}}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// addImport adds an import to the first import block, or makes one.
func (s *source) addImport(p string) string {
	q := strconv.Quote(p)
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		if !g.Lparen.IsValid() {
			from, to := s.at(g.Pos()), s.at(g.End())
			spec := strings.TrimSpace(strings.TrimPrefix(s.text[from:to], "import"))
			list := []string{spec, q}
			slices.Sort(list)
			return s.splice(from, to, "import (\n\t"+strings.Join(list, "\n\t")+"\n)")
		}
		// In order within the first group of its block.
		at := s.at(g.Lparen) + 1
		last := 0
		for _, sp := range g.Specs {
			im := sp.(*ast.ImportSpec)
			line := s.fset.Position(im.Pos()).Line
			if last != 0 && line != last+1 {
				break
			}
			last = line
			if im.Path.Value > q {
				break
			}
			at = s.at(im.End())
			if im.Comment != nil {
				at = s.at(im.Comment.End())
			}
		}
		return s.splice(at, at, "\n\t"+q)
	}
	at := s.at(s.ast.Name.End())
	return s.splice(at, at, "\n\nimport "+q)
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
func (s *source) importsAt(e buildError) bool {
	for _, im := range s.ast.Imports {
		if p, err := strconv.Unquote(im.Path.Value); err == nil && s.fset.Position(im.Pos()).Line == e.line && strings.Contains(e.msg, p) {
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
