package shellsyntax

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through the syntax tree in the order of execution and writes
// down each simple command with the state at that point.
type walker struct {
	opts     Options
	src      string // that positions refer to
	out      []Command
	err      error
	depth    int
	declared map[string]bool // functions declared anywhere
	moves    bool            // a cd is somewhere outside subshells
}

func (w *walker) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// text is the source of a node.
func (w *walker) text(n syntax.Node) string {
	a, b := int(n.Pos().Offset()), int(n.End().Offset())
	if a < 0 || b > len(w.src) || a >= b {
		return "?"
	}
	return w.src[a:b]
}

// source parses text that the shell of st runs, and walks it.
func (w *walker) source(st *state, src string) {
	if w.err != nil || !w.enter() {
		return
	}
	defer w.leave()
	if err := bounded(src); err != nil {
		w.fail(err)
		return
	}
	lang := syntax.LangBash
	if w.opts.POSIX {
		lang = syntax.LangPOSIX
	}
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(src), "")
	if err != nil {
		w.fail(fmt.Errorf("%w: %w", ErrSyntax, err))
		return
	}
	old := w.src
	w.src = src
	w.lookAhead(file)
	w.stmts(st, file.Stmts)
	w.src = old
}

func (w *walker) lookAhead(file *syntax.File) {
	if w.declared == nil {
		w.declared = map[string]bool{}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			w.declared[f.Name.Value] = true
		}
		return true
	})
	w.moves = w.moves || w.changesIn(file).moves
}

func (w *walker) enter() bool {
	if w.depth++; w.depth > maxDepth {
		w.fail(fmt.Errorf("%w: nested deeper than %d", ErrTooLarge, maxDepth))
	}
	return w.err == nil
}

func (w *walker) leave() { w.depth-- }

func (w *walker) emit(st *state, c Command) int {
	if len(w.out) >= maxCommands {
		w.fail(fmt.Errorf("%w: more than %d commands", ErrTooLarge, maxCommands))
		return 0
	}
	if st.dirKnown && len(st.dirs) > 0 {
		// The newest folder is the likely one.
		last := len(st.dirs) - 1
		c.Dir = Word{Text: st.dirs[last], Known: true}
		c.Alt = slices.Clone(st.dirs[:last])
	} else {
		c.Dir = Word{Text: "?"}
	}
	c.Piped = st.piped
	c.From = append(c.From, st.stdin...)
	slices.Sort(c.From)
	c.From = slices.Compact(c.From)
	w.out = append(w.out, c)
	return len(w.out) - 1
}

// unknownCode notes that something runs here that cannot be known.
func (w *walker) unknownCode(st *state, text string) {
	w.emit(st, Command{Words: []Word{{Text: text}}, Code: true})
}

func (w *walker) stmts(st *state, list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(st, s)
	}
}

// stmt walks a statement. st becomes what is known after it; the state that is
// returned is what is known if it succeeded, nil where that is the same.
func (w *walker) stmt(st *state, s *syntax.Stmt) *state {
	if w.err != nil || s == nil || !w.enter() {
		return nil
	}
	defer w.leave()
	begin := len(w.out)
	run := st
	if s.Background || s.Coprocess {
		run = st.clone()
	}
	ok := w.command(run, s)
	if s.Background || s.Coprocess {
		for i := begin; i < len(w.out); i++ {
			w.out[i].Background = true
		}
		return nil
	}
	if s.Negated {
		return nil
	}
	return ok
}

func (w *walker) command(st *state, s *syntax.Stmt) *state {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok || s.Cmd == nil {
		return w.call(st, call, s.Redirs)
	}
	if decl, ok := s.Cmd.(*syntax.DeclClause); ok {
		w.declare(st, decl, s.Redirs)
		return nil
	}
	inner := st
	if len(s.Redirs) > 0 {
		var c Command
		w.redirects(st, &c, s.Redirs)
		at := w.emit(st, c)
		if len(c.From) > 0 {
			inner = st.clone()
			inner.stdin = append(slices.Clone(st.stdin), at)
		}
	}
	var ok *state
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		ok = w.binary(inner, c)
	case *syntax.Block:
		w.stmts(inner, c.Stmts)
	case *syntax.Subshell:
		w.stmts(inner.clone(), c.Stmts)
	case *syntax.IfClause:
		w.ifs(inner, c)
	case *syntax.WhileClause:
		inner.apply(w.changesIn(c))
		w.stmts(inner, c.Cond)
		body := inner.clone()
		w.stmts(body, c.Do)
		inner.merge(body)
	case *syntax.ForClause:
		w.loop(inner, c)
	case *syntax.CaseClause:
		w.cases(inner, c)
	case *syntax.FuncDecl:
		w.function(inner, c)
	case *syntax.ArithmCmd:
		w.substs(inner, c)
		w.arithm(inner, c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.substs(inner, x)
			w.arithm(inner, x)
		}
	case *syntax.TestClause:
		w.substs(inner, c)
		w.test(inner, c.X)
	case *syntax.TimeClause:
		w.stmt(inner, c.Stmt)
	case *syntax.CoprocClause:
		w.stmt(inner.clone(), c.Stmt)
	default:
		w.fail(fmt.Errorf("%w: %T is not understood", ErrSyntax, c))
	}
	if inner != st {
		stdin := st.stdin
		*st = *inner
		st.stdin = stdin
	}
	return ok
}

// binary walks &&, || and pipes. The tree leans to the left, so the left spine
// is taken in a loop.
func (w *walker) binary(st *state, b *syntax.BinaryCmd) *state {
	if b.Op == syntax.Pipe || b.Op == syntax.PipeAll {
		w.pipe(st, b)
		return nil
	}
	var spine []*syntax.BinaryCmd
	first := b.X
	for spine = append(spine, b); ; {
		x, isBin := first.Cmd.(*syntax.BinaryCmd)
		if !isBin || x.Op != syntax.AndStmt && x.Op != syntax.OrStmt || first.Negated || first.Background || len(first.Redirs) > 0 {
			break
		}
		spine = append(spine, x)
		first = x.X
	}
	ok := w.stmt(st, first)
	for _, b := range slices.Backward(spine) {
		right := st.clone()
		if b.Op == syntax.AndStmt && ok != nil {
			right = ok.clone()
		}
		okRight := w.stmt(right, b.Y)
		switch {
		case b.Op == syntax.AndStmt && okRight != nil:
			ok = okRight
			st.merge(right)
		case b.Op == syntax.AndStmt:
			ok = right
			st.merge(right)
		case leaves(b.Y): // cd x || exit
			if ok != nil {
				*st = *ok
			}
			ok = nil
		default:
			ok = nil
			st.merge(right)
		}
	}
	return ok
}

// leaves says whether a statement ends the shell.
func leaves(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "exit" && !s.Background
}

func (w *walker) pipe(st *state, b *syntax.BinaryCmd) {
	var members []*syntax.Stmt
	var flatten func(s *syntax.Stmt, depth int)
	flatten = func(s *syntax.Stmt, depth int) {
		x, ok := s.Cmd.(*syntax.BinaryCmd)
		if ok && (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) && !s.Negated && !s.Background && len(s.Redirs) == 0 && depth < maxCommands {
			flatten(x.X, depth+1)
			flatten(x.Y, depth+1)
			return
		}
		members = append(members, s)
	}
	flatten(b.X, 0)
	flatten(b.Y, 0)
	var before []int
	for i, m := range members {
		sub := st.clone()
		if i > 0 {
			sub.stdin, sub.piped = before, true
		}
		begin := len(w.out)
		w.stmt(sub, m)
		before = span(begin, len(w.out))
	}
}

func span(a, b int) []int {
	out := make([]int, 0, b-a)
	for ; a < b; a++ {
		out = append(out, a)
	}
	return out
}

func (w *walker) ifs(st *state, c *syntax.IfClause) {
	if c == nil || !w.enter() {
		return
	}
	defer w.leave()
	w.stmts(st, c.Cond)
	then := st.clone()
	w.stmts(then, c.Then)
	if c.Else != nil {
		w.ifs(st, c.Else)
	}
	st.merge(then)
}

func (w *walker) loop(st *state, c *syntax.ForClause) {
	it, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.substs(st, c.Loop)
		st.apply(w.changesIn(c))
		if l, ok := c.Loop.(*syntax.CStyleLoop); ok {
			for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
				w.arithm(st, x)
			}
		}
		body := st.clone()
		w.stmts(body, c.Do)
		st.merge(body)
		return
	}
	var from []int
	items := w.fields(st, it.Items, &from)
	ch := w.changesIn(c)
	st.apply(ch)
	settled := !c.Select && it.InPos.IsValid() && len(items) <= maxRounds
	for _, i := range items {
		settled = settled && (i.Known || i.Glob)
	}
	if !settled || len(items) == 0 {
		items = []Word{{}}
	}
	for _, i := range items {
		body := st.clone()
		v := valueOf(i, from)
		if !settled {
			v = value{from: from, unsettled: true}
		}
		body.set(it.Name.Value, v)
		w.stmts(body, c.Do)
		st.merge(body)
		if w.err != nil {
			return
		}
	}
}

func (w *walker) cases(st *state, c *syntax.CaseClause) {
	var from []int
	w.one(st, c.Word, &from)
	rest := st.clone()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.one(st, p, &from)
		}
		branch := rest.clone()
		if item.Op != syntax.Break {
			branch.apply(w.changesIn(c)) // it may be entered from the one above
		}
		branch.merge(st)
		w.stmts(branch, item.Stmts)
		st.merge(branch)
	}
}

// function walks a function's body as it would run at any later time.
func (w *walker) function(st *state, f *syntax.FuncDecl) {
	if f.Name == nil {
		w.fail(fmt.Errorf("%w: a function without a name", ErrSyntax))
		return
	}
	name := f.Name.Value
	if bombs(f.Body, name) {
		w.fail(ErrForkBomb)
		return
	}
	body := st.clone()
	body.forget(w.moves)
	body.posn = true
	w.stmt(body, f.Body)
	st.funcs[name] = true
}

// bombs says whether a body calls its own function in the background or as
// part of a pipe.
func bombs(body *syntax.Stmt, name string) bool {
	found := false
	calls := func(n syntax.Node) bool {
		hit := false
		syntax.Walk(n, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
				hit = true
			}
			return !hit
		})
		return hit
	}
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || n.Background && n.Cmd != nil && calls(n.Cmd)
		case *syntax.BinaryCmd:
			found = found || n.Op == syntax.Pipe && calls(n.X) && calls(n.Y)
		}
		return !found
	})
	return found
}
