package offline

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// place is a line to quote.
type place struct {
	path string
	line int
	text string
	what string // "func", "method of T", …
}

// planWhere tells where a name is defined and used, quoting the lines.
func planWhere(h *hands, in intent) {
	name := in.name[strings.LastIndexByte(in.name, '.')+1:]
	hits, more, err := h.Grep(`\b` + name + `\b`)
	if err != nil {
		h.Stop(err)
		return
	}
	var gofiles []string
	for _, x := range hits {
		if strings.HasSuffix(x.path, ".go") && !slices.Contains(gofiles, x.path) && len(gofiles) < 36 {
			gofiles = append(gofiles, x.path)
		}
	}
	var defs, uses []place
	code := map[string]map[int]bool{} // lines of Go files where the name is really code
	if len(gofiles) > 0 {
		texts, err := h.ReadAll(gofiles)
		if err != nil {
			h.Stop(err)
			return
		}
		for _, p := range gofiles {
			if s := parse(p, p, texts[p]); s != nil {
				d, lines := s.find(name)
				defs = append(defs, d...)
				code[p] = lines
			}
		}
	}
	for _, x := range hits {
		if lines, ok := code[x.path]; ok {
			if !lines[x.line] {
				continue // in a comment or a string
			}
		} else if definesIn(x.path, x.text, name) {
			defs = append(defs, place{x.path, x.line, x.text, ""})
			continue
		}
		if !slices.ContainsFunc(defs, func(d place) bool { return d.path == x.path && d.line == x.line }) {
			uses = append(uses, place{path: x.path, line: x.line, text: x.text})
		}
	}
	if q, _, ok := strings.Cut(in.name, "."); ok {
		// Package.Name or Type.Name: the definitions of that one, if any.
		mine := slices.DeleteFunc(slices.Clone(defs), func(d place) bool {
			return !strings.HasSuffix(d.what, " of "+q) && path.Base(path.Dir(d.path)) != q
		})
		if len(mine) > 0 {
			defs = mine
		}
	}
	h.Say(tellWhere(in, defs, uses, len(hits)))
	if more {
		h.Say("There are more matches than one search lists, so this is not all.")
	}
}

func tellWhere(in intent, defs, uses []place, hits int) string {
	var b strings.Builder
	quoteAll := func(ps []place, limit int) {
		for i, p := range ps {
			if i == limit {
				fmt.Fprintf(&b, "\n  and %d more", len(ps)-i)
				break
			}
			fmt.Fprintf(&b, "\n  %s:%d: %s", p.path, p.line, clip(strings.TrimSpace(p.text)))
		}
	}
	if hits == 0 {
		return "`" + in.name + "` appears nowhere in the files that I can search here."
	}
	switch {
	case len(defs) == 0:
		fmt.Fprintf(&b, "I found no definition of `%s` here.", in.name)
	case len(defs) == 1:
		fmt.Fprintf(&b, "`%s` is defined at %s:%d%s:", in.name, defs[0].path, defs[0].line, brackets(defs[0].what))
		quoteAll(defs, 1)
	default:
		fmt.Fprintf(&b, "`%s` is defined in %s:", in.name, count(len(defs), "place"))
		quoteAll(defs, 10)
	}
	if len(uses) == 0 {
		if len(defs) > 0 {
			b.WriteString("\nNothing here uses it.")
		}
	} else {
		fmt.Fprintf(&b, "\nIt is used on %s:", count(len(uses), "line"))
		quoteAll(uses, map[bool]int{true: 40, false: 15}[in.callers])
	}
	return b.String()
}

func brackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// clip shortens a line for quoting, at a rune's end.
func clip(s string) string {
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}

// find lists where a Go file defines a name, and the lines that have it as an
// identifier.
func (s *source) find(name string) (defs []place, lines map[int]bool) {
	lines = map[int]bool{}
	add := func(id *ast.Ident, what string) {
		if id == nil || id.Name != name {
			return
		}
		n := s.fset.Position(id.Pos()).Line
		defs = append(defs, place{s.path, n, s.lineText(n), what})
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Ident:
			if x.Name == name {
				lines[s.fset.Position(x.Pos()).Line] = true
			}
		case *ast.FuncDecl:
			what := "func"
			if x.Recv != nil && len(x.Recv.List) == 1 {
				what = "method of " + receiver(x.Recv.List[0].Type)
			}
			add(x.Name, what)
		case *ast.TypeSpec:
			add(x.Name, "type")
			var list *ast.FieldList
			what := "field of "
			switch u := x.Type.(type) {
			case *ast.StructType:
				list = u.Fields
			case *ast.InterfaceType:
				list, what = u.Methods, "method of "
			}
			if list != nil {
				for _, f := range list.List {
					for _, id := range f.Names {
						add(id, what+x.Name.Name)
					}
				}
			}
		case *ast.ValueSpec:
			for _, id := range x.Names {
				add(id, "")
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				for _, l := range x.Lhs {
					if id, ok := l.(*ast.Ident); ok {
						add(id, "local")
					}
				}
			}
		}
		return true
	})
	// A local of the same name matters only where nothing better has it.
	if slices.ContainsFunc(defs, func(d place) bool { return d.what != "local" }) {
		defs = slices.DeleteFunc(defs, func(d place) bool { return d.what == "local" })
	}
	return defs, lines
}

func (s *source) lineText(n int) string {
	from := s.offset(n, 1)
	if from < 0 {
		return ""
	}
	l, _, _ := strings.Cut(s.text[from:], "\n")
	return l
}

// definesIn recognises a definition in other languages by the words before
// the name.
func definesIn(file, line, name string) bool {
	i := strings.Index(line, name)
	if i < 0 {
		return false
	}
	before := strings.Fields(strings.NewReplacer("(", " ( ", "*", " ", "&", " ").Replace(line[:i]))
	after := strings.TrimSpace(line[i+len(name):])
	if len(before) > 0 {
		switch before[len(before)-1] {
		case "def", "class", "function", "fn", "struct", "enum", "trait", "type", "interface", "module", "mod",
			"const", "let", "var", "val", "fun", "func", "static", "macro_rules!", "#define", "typedef", "namespace",
			"object", "protocol", "record", "sub", "defmodule", "union":
			return true
		}
	}
	switch path.Ext(file) {
	case ".py", ".rb":
		return len(before) == 0 && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") &&
			strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "==")
	case ".sh", ".bash":
		return len(before) == 0 && (strings.HasPrefix(after, "()") || strings.HasPrefix(after, "="))
	case ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".cs":
		return len(before) > 0 && before[0] != "return" && before[0] != "else" && !strings.Contains(line[:i], "=") &&
			!strings.Contains(line[:i], "(") && !strings.Contains(line[:i], ".") && strings.HasPrefix(after, "(") && !strings.HasSuffix(after, ";")
	}
	return false
}
