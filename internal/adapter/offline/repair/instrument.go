package repair

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// rtDecls is what the type checker sees of the package above.
const rtDecls = "package pawlrt\nfunc Hit(int)\nfunc Tick()\nfunc Variant() int64\nfunc Enter(string, bool, any, ...any) func()\n"

// insertion is text put into a file at a byte.
type insertion struct {
	at   int
	text string
}

// inserted returns a text with insertions; those at one place keep their order.
func inserted(text string, ins []insertion) string {
	sort.SliceStable(ins, func(i, j int) bool { return ins[i].at < ins[j].at })
	var b strings.Builder
	from := 0
	for _, i := range ins {
		b.WriteString(text[from:i.at])
		b.WriteString(i.text)
		from = i.at
	}
	b.WriteString(text[from:])
	return b.String()
}

// importRT returns the import of the runtime, on the line of the package clause so
// that line numbers stay.
func (m *module) importRT(s *source) insertion {
	return insertion{m.offset(s.tree.Name.End()), "; import pawlrt " + strconv.Quote(m.path+"/pawlrt")}
}

// statement is a place that may run: the unit of suspicion.
type statement struct {
	fn       *function
	from, to token.Pos
}

// maxStatements bounds what is marked; the runtime has room for no more.
const maxStatements = 1 << 16

// hits puts a mark before every statement of a package's functions, and the new text
// into files. Marks are numbered from len(all); the new statements are appended.
func (m *module) hits(p *pkg, all []statement, files map[string]string) []statement {
	ins := map[*source][]insertion{}
	for _, fn := range p.funcs {
		ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
			for _, st := range Statements(n) {
				switch st.(type) {
				case *ast.CaseClause, *ast.CommClause, *ast.EmptyStmt:
					continue
				}
				if len(all) < maxStatements {
					ins[fn.file] = append(ins[fn.file], insertion{m.offset(st.Pos()), "pawlrt.Hit(" + strconv.Itoa(len(all)) + ");"})
					all = append(all, statement{fn, st.Pos(), st.End()})
				}
			}
			return true
		})
	}
	for s, list := range ins {
		files[s.path] = inserted(s.text, append(list, m.importRT(s)))
	}
	return all
}

// variantName begins the names of the functions that candidates become.
const variantName = "pawlV"

// variant returns the function that a candidate becomes, with a step counted in
// each turn of each loop and at its start; "" if it does not parse.
func (c *candidate) variant(m *module) string {
	const head = "package p\n"
	text := c.body(m)
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", head+text, parser.SkipObjectResolution)
	if err != nil || len(tree.Decls) != 1 {
		return ""
	}
	fn, ok := tree.Decls[0].(*ast.FuncDecl)
	if !ok || fn.Body == nil {
		return ""
	}
	off := func(p token.Pos) int { return fset.Position(p).Offset - len(head) }
	out := inserted(text, ticks(fn.Body, off))
	return out[:off(fn.Name.Pos())] + variantName + strconv.Itoa(c.id) + out[off(fn.Name.End()):] // the name lies before every insertion
}

// ticks counts a step at the start of a body, and in each turn of each loop and each
// function literal.
func ticks(body *ast.BlockStmt, off func(token.Pos) int) (ins []insertion) {
	tick := func(b *ast.BlockStmt) { ins = append(ins, insertion{off(b.Lbrace) + 1, "pawlrt.Tick();"}) }
	tick(body)
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ForStmt:
			tick(x.Body)
		case *ast.RangeStmt:
			tick(x.Body)
		case *ast.FuncLit:
			tick(x.Body)
		}
		return true
	})
	return ins
}

// variants writes the files of the functions that candidates change: each
// function begins with a switch to its variants, which stand at the end of the
// file. hooks are functions that diff mode explores; with them the switch
// gets the arguments.
func (m *module) variants(cs []*candidate, hooks []*function) map[string]string {
	byFn := map[*function][]*candidate{}
	for _, fn := range hooks {
		byFn[fn] = nil
	}
	tails := map[*source]string{}
	for _, c := range cs {
		byFn[c.fn] = append(byFn[c.fn], c)
		tails[c.fn.file] += "\n" + c.variant(m) + "\n"
	}
	ins := map[*source][]insertion{}
	for fn, list := range byFn {
		ins[fn.file] = append(ins[fn.file], m.dispatch(fn, list, slices.Contains(hooks, fn))...)
	}
	out := map[string]string{}
	for s, list := range ins {
		out[s.path] = inserted(s.text, append(list, m.importRT(s))) + tails[s]
	}
	return out
}

// dispatch returns the insertions at the start of a function.
func (m *module) dispatch(fn *function, cs []*candidate, explore bool) []insertion {
	f := fn.decl
	begin := m.offset(f.Body.Lbrace) + 1
	ins := ticks(f.Body, m.offset)[1:] // the code as it was also must end
	var args []string
	name := func(fl *ast.FieldList) {
		for _, p := range fl.List {
			if len(p.Names) == 0 {
				args = append(args, "pawlA"+strconv.Itoa(len(args)))
				ins = append(ins, insertion{m.offset(p.Type.Pos()), args[len(args)-1] + " "})
			}
			for _, id := range p.Names {
				args = append(args, id.Name)
				if id.Name == "_" { // a blank name becomes _pawlN
					more := "pawl" + strconv.Itoa(len(args))
					args[len(args)-1] += more
					ins = append(ins, insertion{m.offset(id.End()), more})
				}
			}
		}
	}
	self, callee := f.Name.Name+typeParams(f), ""
	recv := 0
	if f.Recv != nil {
		name(f.Recv)
		t := f.Recv.List[0].Type
		self = "(" + fn.file.text[m.offset(t.Pos()):m.offset(t.End())] + ")." + f.Name.Name
		callee, recv = args[0]+".", 1
	}
	name(f.Type.Params)
	dots := ""
	if l := f.Type.Params.List; len(l) > 0 {
		if _, variadic := l[len(l)-1].Type.(*ast.Ellipsis); variadic {
			dots = "..."
		}
	}
	hook := strings.Join(append([]string{self}, args...), ", ")
	if !explore {
		hook = "nil"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "defer pawlrt.Enter(%q, %v, %s)();pawlrt.Tick();switch pawlrt.Variant() {", fn.name, dots != "", hook)
	for _, c := range cs {
		call := callee + variantName + strconv.Itoa(c.id) + typeParams(f) + "(" + strings.Join(args[recv:], ", ") + dots + ")"
		if f.Type.Results == nil || len(f.Type.Results.List) == 0 {
			fmt.Fprintf(&b, "case %d: %s; return;", c.id, call)
		} else {
			fmt.Fprintf(&b, "case %d: return %s;", c.id, call)
		}
	}
	return append(ins, insertion{begin, b.String() + "};"})
}

// typeParams returns a generic function's type parameters, as an instance names them.
func typeParams(f *ast.FuncDecl) string {
	if f.Type.TypeParams == nil {
		return ""
	}
	var names []string
	for _, p := range f.Type.TypeParams.List {
		for _, id := range p.Names {
			names = append(names, id.Name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}
