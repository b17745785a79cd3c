package shellsyntax

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// walker walks the syntax tree in the order of execution and records each simple
// command with the state at that point.
type walker struct {
	opts     Options
	programs Programs
	src      string // the text that positions refer to
	out      []Command
	err      error
	depth    int
	work     int             // bytes and nodes visited until now
	declared map[string]bool // functions declared anywhere
	moves    bool            // there is a cd outside subshells
	// Facts about the whole line, since a function's body runs later than it is
	// walked: whether some variable is declared an integer; the arrays; and, for
	// declarations that come after assignments: whether an assignment was walked
	// that would be evaluated then, and the declarations that would evaluate it.
	integers  bool
	arrays    map[string]bool
	evaluable bool
	bracketed []string
	either    bool // parsed as bash does, but a plain sh may run it
	shaky     bool // an expansion of this line may fail
}

// spend counts work against a limit: a line that expands to much is too large.
func (w *walker) spend(n int) {
	if w.work += n; w.work > maxWork {
		w.fail(fmt.Errorf("%w: it expands to more than is looked at", ErrTooLarge))
	}
}

func (w *walker) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// text returns the source of a node.
func (w *walker) text(n syntax.Node) string {
	a, b := int(n.Pos().Offset()), int(n.End().Offset())
	if a < 0 || b > len(w.src) || a >= b {
		return "?"
	}
	return w.src[a:b]
}

// source parses and walks text that the shell of st runs.
func (w *walker) source(st *state, src string) {
	if w.spend(len(src)); w.err != nil || !w.enter() {
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
	file, err := read(lang, src)
	if err != nil {
		w.fail(fmt.Errorf("%w: %w", ErrSyntax, err))
		return
	}
	old := w.src
	w.src = src
	if err := strange(file); err != nil {
		w.fail(err)
		return
	}
	if code := quotesThatDoNot(file); code != nil {
		w.unknownCode(st, w.text(code))
	}
	w.lookAhead(st, file)
	w.lines(st, file.Stmts)
	w.src = old
}

// parsers are reused for later lines: a new parser allocates five kilobytes.
var parsers sync.Pool

func read(lang syntax.LangVariant, src string) (*syntax.File, error) {
	p, ok := parsers.Get().(*syntax.Parser)
	if !ok {
		p = syntax.NewParser()
	}
	defer parsers.Put(p)
	syntax.Variant(lang)(p)
	return p.Parse(strings.NewReader(src), "")
}

// lines walks the commands of a text line by line. When an expansion fails, bash skips
// the rest of the line and continues with the next one. So after a line that may fail,
// its variables are either set or as before.
func (w *walker) lines(st *state, list []*syntax.Stmt) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Pos().Line() <= list[n-1].End().Line() {
			n++
		}
		before := st.clone()
		old := w.shaky
		w.shaky = false
		w.stmts(st, list[:n])
		if w.shaky {
			for _, s := range list[:n] {
				before.apply(w.changesIn(s))
			}
			st.merge(before)
		}
		w.shaky = w.shaky || old
		list = list[n:]
	}
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
	dirs := st.dirs
	if c.moved {
		dirs = c.dirs
	}
	if c.dirs, c.moved, c.strays = nil, false, false; st.dirKnown && len(dirs) > 0 {
		// The newest folder is the most likely one.
		last := len(dirs) - 1
		c.Dir = Word{Text: dirs[last], Known: true}
		if last > 0 {
			c.Alt = slices.Clone(dirs[:last])
		}
	} else {
		c.Dir = Word{Text: "?"}
	}
	c.Piped = st.piped
	w.spend(len(c.From) + len(st.stdin))
	c.From = union(tidy(c.From), st.stdin)
	w.out = append(w.out, c)
	return len(w.out) - 1
}

// unknownCode records that unknown code runs here.
func (w *walker) unknownCode(st *state, text string) {
	w.emit(st, Command{Words: []Word{{Text: text}}, Code: true})
}

func (w *walker) stmts(st *state, list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(st, s)
	}
}

// stmt walks a statement. st becomes what is known after it. The returned state is
// what is known if the statement succeeded, nil if that is the same.
func (w *walker) stmt(st *state, s *syntax.Stmt) *state {
	if w.spend(32); w.err != nil || s == nil || !w.enter() {
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
			inner.stdin = union(st.stdin, []int{at})
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
		w.arithm(inner, c.X, new([]int))
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			w.letClause(inner, x)
		}
	case *syntax.TestClause:
		w.test(inner, c.X, new([]int))
	case *syntax.TimeClause:
		w.stmt(inner, c.Stmt)
	case *syntax.CoprocClause:
		w.coproc(inner, c)
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

// binary walks &&, || and pipes. The tree leans to the left, so a loop follows the
// left spine.
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
		left := right.clone() // st may be the same value
		okRight := w.stmt(right, b.Y)
		switch {
		case b.Op == syntax.AndStmt && okRight != nil:
			ok = okRight
			st.mergeStep(left, right)
		case b.Op == syntax.AndStmt:
			ok = right
			st.mergeStep(left, right)
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

// leaves reports whether a statement ends the shell.
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
		before = w.span(begin)
	}
}

// span returns the indexes of the commands from begin on.
func (w *walker) span(begin int) []int {
	w.spend(len(w.out) - begin)
	out := make([]int, 0, len(w.out)-begin)
	for ; begin < len(w.out); begin++ {
		out = append(out, begin)
	}
	return out
}

// coproc walks a coprocess: it sets NAME and NAME_PID.
func (w *walker) coproc(st *state, c *syntax.CoprocClause) {
	name := "COPROC"
	if c.Name != nil {
		name = c.Name.Lit()
	}
	for _, n := range []string{name, name + "_PID"} {
		w.put(st, n, value{num: true}, w.text(c))
		w.note(st, n, value{num: true})
	}
	begin := len(w.out)
	w.stmt(st.clone(), c.Stmt)
	for i := begin; i < len(w.out); i++ {
		w.out[i].Background = true
	}
}

// letClause walks one argument of let: arithmetic, as it is written or quoted.
func (w *walker) letClause(st *state, x syntax.ArithmExpr) {
	if word, ok := x.(*syntax.Word); ok && word.Lit() == "" {
		if v := w.one(st, word, new([]int)); !v.Num && !(v.Known && w.let(st, v.Text)) {
			w.unknownCode(st, w.text(x))
		}
		return
	}
	w.arithm(st, x, new([]int))
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
		l, ok := c.Loop.(*syntax.CStyleLoop)
		if !ok {
			w.fail(fmt.Errorf("%w: %T is not understood", ErrSyntax, c.Loop))
			return
		}
		w.arithm(st, l.Init, new([]int))
		st.apply(w.changesIn(c))
		w.arithm(st, l.Cond, new([]int))
		body := st.clone()
		w.stmts(body, c.Do)
		w.arithm(body, l.Post, new([]int))
		st.merge(body)
		return
	}
	var from []int
	items := w.fields(st, it.Items, &from)
	ch := w.changesIn(c)
	st.apply(ch)
	if c.Select {
		w.put(st, "REPLY", value{}, "REPLY")
	}
	settled := !c.Select && it.InPos.IsValid() && len(items) <= maxRounds
	for _, i := range items {
		settled = settled && (i.Known || i.Glob)
	}
	if !settled || len(items) == 0 {
		items = []Word{{}}
	}
	for _, i := range items {
		w.spend(32)
		body := st.clone()
		v := valueOf(i, from)
		if !settled {
			v = value{from: from}
		}
		w.put(body, it.Name.Value, v, w.text(it))
		w.note(body, it.Name.Value, v)
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
	// If a branch may fall through to the next one, each branch may begin with the
	// effects of any of them.
	through := slices.ContainsFunc(c.Items, func(i *syntax.CaseItem) bool { return i.Op != syntax.Break })
	if through {
		st.apply(w.changesIn(c))
	}
	rest := st.clone()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.one(st, p, &from)
		}
		if through {
			rest = st.clone()
		}
		branch := rest.clone()
		w.stmts(branch, item.Stmts)
		st.mergeStep(rest, branch)
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
	body.posn, body.function = true, true
	w.stmt(body, f.Body)
	st.funcs = st.funcs.with(name, struct{}{})
}
