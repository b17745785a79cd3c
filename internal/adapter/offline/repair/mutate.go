package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strings"
)

// candidate is one change of one function: the bytes from..to of its file
// become text.
type candidate struct {
	fn       *function
	from, to int
	text     string
	op       string
	prior    float64 // how often such a change is the right one, relative to others
	at       token.Pos
	score    float64
	id       int
}

// patched returns the file's text with the change.
func (c *candidate) patched() string {
	s := c.fn.file.text
	return s[:c.from] + c.text + s[c.to:]
}

// body returns the function's text with the change.
func (c *candidate) body(m *module) string {
	from, to := m.offset(c.fn.decl.Pos()), m.offset(c.fn.decl.End())
	return c.fn.file.text[from:c.from] + c.text + c.fn.file.text[c.to:to]
}

func (m *module) offset(p token.Pos) int { return m.fset.File(p).Offset(p) }

// change is a candidate as it is made in the tree.
type change struct {
	Edit
	before, after string // the file
}

// change writes a candidate as whole lines, formatted where the file is.
func (c *candidate) change() change {
	before := c.fn.file.text
	after := Formatted(before, c.patched())
	head, old, new := differing(before, after)
	return change{Edit{Path: c.fn.file.path, Line: head + 1, Func: c.fn.name, Operator: c.op, Score: c.score, Old: old(0), New: new(0)}, before, after}
}

// differing finds the smallest run of lines that differs between two texts: after head
// lines; old and new return it with some lines around.
func differing(from, to string) (head int, old, new func(around int) string) {
	a, b := strings.SplitAfter(from, "\n"), strings.SplitAfter(to, "\n")
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	cut := func(lines []string) func(int) string {
		return func(n int) string {
			return strings.Join(lines[max(0, head-n):min(len(lines), len(lines)-tail+n)], "")
		}
	}
	return head, cut(a), cut(b)
}

// Narrow returns the smallest run of lines that differs between two texts, widened
// until it is unique in the first.
func Narrow(from, to string) (old, new string) {
	_, a, b := differing(from, to)
	for n := 0; ; n++ {
		if old = a(n); old == from || old != "" && strings.Count(from, old) == 1 {
			return old, b(n)
		}
	}
}

// mutator collects an operator's changes of one function, with the nodes around the
// current one and the types.
type mutator struct {
	m       *module
	fn      *function
	src     string
	info    *types.Info
	parents []ast.Node // outermost first, without the node itself
	op      string
	at      token.Pos
	out     []candidate
	seen    map[string]int // the changed function -> its place in out
	cache   map[token.Pos][]*types.Var
	frags   map[string]types.Type
}

// mutate returns every candidate for a function, each once.
func mutate(m *module, fn *function) []candidate {
	s := &mutator{
		m: m, fn: fn, src: fn.file.text, info: fn.pkg.info,
		seen: map[string]int{}, cache: map[token.Pos][]*types.Var{},
	}
	ops := operators()
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		if n == nil {
			s.parents = s.parents[:len(s.parents)-1]
			return true
		}
		for _, op := range ops {
			s.op, s.at = op.name, n.Pos()
			op.apply(s, n)
		}
		s.parents = append(s.parents, n)
		return true
	})
	return s.out
}

// put proposes a change of the text between two positions.
func (s *mutator) put(prior float64, from, to token.Pos, text string) {
	a, b := s.m.offset(from), s.m.offset(to)
	if s.src[a:b] == text || prior <= 0 {
		return
	}
	c := candidate{fn: s.fn, from: a, to: b, text: text, op: s.op, prior: prior, at: s.at}
	key := squeeze(c.body(s.m))
	if i, ok := s.seen[key]; ok {
		if s.out[i].prior < prior {
			s.out[i] = c
		}
		return
	}
	s.seen[key] = len(s.out)
	s.out = append(s.out, c)
}

// replace proposes other text for a node.
func (s *mutator) replace(prior float64, n ast.Node, text string) {
	s.put(prior, n.Pos(), n.End(), text)
}

// squeeze drops blanks, so that equal programs compare equal.
func squeeze(text string) string {
	return strings.NewReplacer(" ", "", "\t", "").Replace(text)
}

// text returns a node's source.
func (s *mutator) text(n ast.Node) string {
	return s.src[s.m.offset(n.Pos()):s.m.offset(n.End())]
}

// operand returns a node's source, in parentheses where it must have them.
func (s *mutator) operand(e ast.Expr) string {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr, *ast.FuncLit:
		return "(" + s.text(e) + ")"
	}
	return s.text(e)
}

// typ returns an expression's type, nil when it is not known.
func (s *mutator) typ(e ast.Expr) types.Type {
	t := s.info.TypeOf(e)
	if t == nil || t == types.Typ[types.Invalid] {
		return nil
	}
	return t
}

// parent returns the n-th node around, 0 the nearest; nil outside the body.
func (s *mutator) parent(n int) ast.Node {
	if i := len(s.parents) - 1 - n; i >= 0 {
		return s.parents[i]
	}
	return nil
}

// loop returns the nearest loop around, nil when there is none.
func (s *mutator) loop() ast.Stmt {
	for _, p := range slices.Backward(s.parents) {
		switch l := p.(type) {
		case *ast.ForStmt:
			return l
		case *ast.RangeStmt:
			return l
		case *ast.FuncLit:
			return nil
		}
	}
	return nil
}

// vars returns the local variables that may be used at a position, nearest
// first.
func (s *mutator) vars(pos token.Pos) []*types.Var {
	if v, ok := s.cache[pos]; ok {
		return v
	}
	var out []*types.Var
	file := s.fn.pkg.types.Scope()
	innermost := file.Innermost(pos)
	for sc := innermost; sc != nil && sc != file; sc = sc.Parent() {
		from := len(out)
		for _, name := range sc.Names() {
			_, seen := innermost.LookupParent(name, pos) // not one that is hidden, or declared later
			if v, ok := sc.Lookup(name).(*types.Var); ok && seen == v && name != "_" && v.Type() != types.Typ[types.Invalid] {
				out = append(out, v)
			}
		}
		sort.Slice(out[from:], func(i, j int) bool { return out[from:][i].Pos() > out[from:][j].Pos() })
	}
	s.cache[pos] = out
	return out
}

func (s *mutator) varsOf(pos token.Pos, t types.Type) []*types.Var {
	var out []*types.Var
	for _, v := range s.vars(pos) {
		if types.Identical(v.Type(), t) {
			out = append(out, v)
		}
	}
	return out
}

// under returns what a type is made of, if that is a T.
func under[T types.Type](t types.Type) (u T, ok bool) {
	if t != nil {
		u, ok = t.Underlying().(T)
	}
	return u, ok
}

func basic(t types.Type, info types.BasicInfo) bool {
	b, ok := under[*types.Basic](t)
	return ok && b.Info()&info != 0
}

func isInt(t types.Type) bool    { return basic(t, types.IsInteger) }
func isString(t types.Type) bool { return basic(t, types.IsString) }
func isBool(t types.Type) bool   { return basic(t, types.IsBoolean) }
func isNumber(t types.Type) bool { return basic(t, types.IsNumeric) }

// element returns the element type of a slice, nil of anything else.
func element(t types.Type) types.Type {
	if s, ok := under[*types.Slice](t); ok {
		return s.Elem()
	}
	return nil
}

// elementOf returns what an index of a slice or map yields, nil of anything else.
func elementOf(t types.Type) types.Type {
	if m, ok := under[*types.Map](t); ok {
		return m.Elem()
	}
	return element(t)
}

func isMap(t types.Type) bool {
	_, ok := under[*types.Map](t)
	return ok
}

func isLen(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && isIdent(c.Fun, "len") && len(c.Args) == 1
}

// hasLen reports whether len applies.
func hasLen(t types.Type) bool {
	_, array := under[*types.Array](t)
	return array || elementOf(t) != nil || isString(t)
}

// nilable reports whether nil is a value of the type and its use may panic.
func nilable(t types.Type) bool {
	_, pointer := under[*types.Pointer](t)
	_, iface := under[*types.Interface](t)
	return pointer || iface
}

// name writes a type as this file would.
func (s *mutator) name(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == s.fn.pkg.types {
			return ""
		}
		return p.Name()
	})
}

// zero returns the source of a type's zero value, "" if it has no short form.
func (s *mutator) zero(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsNumeric != 0:
			return "0"
		case u.Info()&types.IsString != 0:
			return `""`
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature, *types.Chan:
		if _, param := t.(*types.TypeParam); param {
			return ""
		}
		return "nil"
	case *types.Struct:
		return s.name(t) + "{}"
	}
	return ""
}

// results returns the types of the results of the nearest function around.
func (s *mutator) results() []types.Type {
	t := s.info.TypeOf(s.fn.decl.Name)
	for _, p := range s.parents { // outermost first
		if lit, ok := p.(*ast.FuncLit); ok {
			t = s.typ(lit)
		}
	}
	var out []types.Type
	if sig, ok := t.(*types.Signature); ok {
		for v := range sig.Results().Variables() {
			out = append(out, v.Type())
		}
	}
	return out
}

// constant returns an integer literal's value, "" of anything else.
func constant(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.INT {
		return l.Value
	}
	return ""
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
