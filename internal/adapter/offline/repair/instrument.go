package repair

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"sort"
	"strconv"
	"strings"
)

//go:embed runtime/rt.txt
var rtText string

//go:embed runtime/explore.txt
var exploreText string

//go:embed runtime/values.txt
var valuesText string

//go:embed runtime/probe.txt
var probeText string

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

// runtimeFiles returns the runtime, and the probe for the tests of a package.
func (m *module) runtimeFiles(p *pkg, c probeConfig) (map[string]string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode the probe: %w", err)
	}
	probe := strings.Replace(probeText, "CONFIG", strconv.Quote(string(b)), 1)
	probe = strings.Replace(probe, "PACKAGE", p.name, 1)
	return map[string]string{
		path.Join(m.dir, "pawlrt/rt.go"):          rtText + "\nconst module = " + strconv.Quote(m.path) + "\n",
		path.Join(m.dir, "pawlrt/explore.go"):     exploreText,
		path.Join(m.dir, "pawlrt/values.go"):      valuesText,
		path.Join(p.dir, "zz_pawl_probe_test.go"): probe,
	}, nil
}

// probeConfig is read by runtime/probe.txt.
type probeConfig struct {
	Mode     string
	Tests    []string
	Failing  []string
	Variants []int
	Seconds  int
}

// statement is a place that may run: the unit of suspicion.
type statement struct {
	fn       *function
	from, to token.Pos
}

// hits puts a mark before every statement of a package's functions. Marks are
// numbered from len(all); the new statements are appended.
func (m *module) hits(p *pkg, all []statement, limit int) (map[string]string, []statement) {
	ins := map[*source][]insertion{}
	for _, fn := range p.funcs {
		if len(all) >= limit {
			break
		}
		eachStatement(fn.decl.Body, func(st ast.Stmt) {
			ins[fn.file] = append(ins[fn.file], insertion{m.offset(st.Pos()), "pawlrt.Hit(" + strconv.Itoa(len(all)) + ");"})
			all = append(all, statement{fn, st.Pos(), st.End()})
		})
	}
	out := map[string]string{}
	for s, list := range ins {
		out[s.path] = inserted(s.text, append([]insertion{m.importRT(s)}, list...))
	}
	return out, all
}

// eachStatement visits every statement of every list in a body.
func eachStatement(body *ast.BlockStmt, f func(ast.Stmt)) {
	ast.Inspect(body, func(n ast.Node) bool {
		for _, st := range Statements(n) {
			switch st.(type) {
			case *ast.CaseClause, *ast.CommClause, *ast.EmptyStmt:
			default:
				f(st)
			}
		}
		return true
	})
}

// ticked returns a function's text under another name, with a step counted in
// each turn of each loop and at its start. ok: it parses.
func ticked(text, name string) (string, bool) {
	const head = "package p\n"
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", head+text, parser.SkipObjectResolution)
	if err != nil || len(tree.Decls) != 1 {
		return "", false
	}
	fn, ok := tree.Decls[0].(*ast.FuncDecl)
	if !ok || fn.Body == nil {
		return "", false
	}
	off := func(p token.Pos) int { return fset.Position(p).Offset - len(head) }
	ins := ticks(fn.Body, off)
	from, to := off(fn.Name.Pos()), off(fn.Name.End())
	out := inserted(text, ins)
	return out[:from] + name + out[to:], true // the name lies before every insertion
}

// ticks counts a step in each turn of each loop and each function literal.
func ticks(body *ast.BlockStmt, off func(token.Pos) int) []insertion {
	ins := []insertion{{off(body.Lbrace) + 1, "pawlrt.Tick();"}}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ForStmt:
			ins = append(ins, insertion{off(x.Body.Lbrace) + 1, "pawlrt.Tick();"})
		case *ast.RangeStmt:
			ins = append(ins, insertion{off(x.Body.Lbrace) + 1, "pawlrt.Tick();"})
		case *ast.FuncLit:
			ins = append(ins, insertion{off(x.Body.Lbrace) + 1, "pawlrt.Tick();"})
		}
		return true
	})
	return ins
}

// span is the range of a variant in an overlaid file, in lines.
type span struct {
	file     string
	from, to int
	id       int
}

// variants writes the files of the functions that candidates change: each
// function begins with a switch to its variants, which stand at the end of the
// file. hooks are functions that diff mode explores; with them the switch
// gets the arguments.
func (m *module) variants(cs []*candidate, hooks []*function) (map[string]string, []span) {
	byFile := map[*source][]*candidate{}
	byFn := map[*function][]*candidate{}
	var files []*source
	var fns []*function
	see := func(fn *function) {
		if byFn[fn] == nil {
			byFn[fn] = []*candidate{}
			fns = append(fns, fn)
		}
		if byFile[fn.file] == nil {
			byFile[fn.file] = []*candidate{}
			files = append(files, fn.file)
		}
	}
	explored := map[*function]bool{}
	for _, fn := range hooks {
		see(fn)
		explored[fn] = true
	}
	for _, c := range cs {
		see(c.fn)
		byFn[c.fn] = append(byFn[c.fn], c)
		byFile[c.fn.file] = append(byFile[c.fn.file], c)
	}
	ins := map[*source][]insertion{}
	for _, fn := range fns {
		ins[fn.file] = append(ins[fn.file], m.dispatch(fn, byFn[fn], explored[fn])...)
	}
	out := map[string]string{}
	var spans []span
	for _, s := range files {
		text := inserted(s.text, append([]insertion{m.importRT(s)}, ins[s]...))
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		line := strings.Count(text, "\n") + 1
		var b strings.Builder
		b.WriteString(text)
		for _, c := range byFile[s] {
			body, ok := ticked(c.body(m), "pawlV"+strconv.Itoa(c.id))
			if !ok {
				body, _ = ticked(s.text[m.offset(c.fn.decl.Pos()):m.offset(c.fn.decl.End())], "pawlV"+strconv.Itoa(c.id))
			}
			n := strings.Count(body, "\n") + 1
			spans = append(spans, span{s.path, line, line + n - 1, c.id})
			line += n
			b.WriteString(body + "\n")
		}
		out[s.path] = b.String()
	}
	return out, spans
}

// dispatch returns the insertions at the start of a function.
func (m *module) dispatch(fn *function, cs []*candidate, explore bool) []insertion {
	f := fn.decl
	src := fn.file.text
	text := func(n ast.Node) string { return src[m.offset(n.Pos()):m.offset(n.End())] }
	var ins []insertion
	var args []string
	count := 0
	name := func(fl *ast.FieldList) {
		if fl == nil {
			return
		}
		for _, p := range fl.List {
			if len(p.Names) == 0 {
				count++
				ins = append(ins, insertion{m.offset(p.Type.Pos()), "pawlA" + strconv.Itoa(count) + " "})
				args = append(args, "pawlA"+strconv.Itoa(count))
			}
			for _, id := range p.Names {
				if id.Name == "_" {
					count++
					// A blank name becomes _pawlN.
					ins = append(ins, insertion{m.offset(id.End()), "pawl" + strconv.Itoa(count)})
					args = append(args, "_pawl"+strconv.Itoa(count))
					continue
				}
				args = append(args, id.Name)
			}
		}
	}
	name(f.Recv)
	recv := len(args)
	name(f.Type.Params)
	variadic := false
	if l := f.Type.Params.List; len(l) > 0 {
		_, variadic = l[len(l)-1].Type.(*ast.Ellipsis)
	}
	var b strings.Builder
	self, params := "nil", ""
	if explore {
		self = f.Name.Name
		if f.Recv != nil {
			self = "(" + text(f.Recv.List[0].Type) + ")." + f.Name.Name
		} else {
			self += typeParams(f)
		}
		if len(args) > 0 {
			params = ", " + strings.Join(args, ", ")
		}
	}
	fmt.Fprintf(&b, "defer pawlrt.Enter(%q, %v, %s%s)();pawlrt.Tick();", fn.name, variadic, self, params)
	if len(cs) > 0 {
		b.WriteString("switch pawlrt.Variant() {")
		for _, c := range cs {
			call := "pawlV" + strconv.Itoa(c.id)
			if recv > 0 {
				call = args[0] + "." + call
			} else {
				call += typeParams(f)
			}
			dots := ""
			if variadic {
				dots = "..."
			}
			call += "(" + strings.Join(args[recv:], ", ") + dots + ")"
			if f.Type.Results == nil || len(f.Type.Results.List) == 0 {
				fmt.Fprintf(&b, "case %d: %s; return;", c.id, call)
			} else {
				fmt.Fprintf(&b, "case %d: return %s;", c.id, call)
			}
		}
		b.WriteString("};")
	}
	ins = append(ins, insertion{m.offset(f.Body.Lbrace) + 1, b.String()})
	// The code as it was also must end.
	for _, t := range ticks(f.Body, m.offset) {
		if t.at != m.offset(f.Body.Lbrace)+1 {
			ins = append(ins, t)
		}
	}
	return ins
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
