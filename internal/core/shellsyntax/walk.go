package shellsyntax

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// walker walks the syntax tree in the order of the text and records each simple command.
type walker struct {
	opts     Options
	programs Programs
	src      string // the text that positions refer to
	out      []Command
	err      error
	depth    int
	funcs    map[string]bool // functions declared anywhere
	moves    bool            // a function may change the folder
}

// scope is where a command stands.
type scope struct {
	dirs       []string // the folders that it may run in, the most likely last; nil: unknown
	stdin      []int    // the commands whose output it gets
	piped      bool
	background bool
}

// maxDirs is how many folders a command may run in before its folder counts as unknown.
const maxDirs = 8

func (sc *scope) either(dirs []string) {
	if sc.dirs == nil || dirs == nil {
		sc.dirs = nil
		return
	}
	var out []string
	for _, d := range slices.Concat(sc.dirs, dirs) {
		out = append(slices.DeleteFunc(out, func(o string) bool { return o == d }), d)
	}
	if sc.dirs = out; len(out) > maxDirs {
		sc.dirs = nil
	}
}

func (w *walker) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *walker) text(n syntax.Node) string {
	a, b := int(n.Pos().Offset()), int(n.End().Offset())
	if a < 0 || b > len(w.src) || a >= b {
		return "?"
	}
	return w.src[a:b]
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

// source parses and walks text that a shell runs.
func (w *walker) source(sc *scope, src string) {
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
	file, err := read(lang, src)
	if err != nil {
		w.fail(fmt.Errorf("%w: %w", ErrSyntax, err))
		return
	}
	defer func(old string) { w.src = old }(w.src)
	w.src = src
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			if w.funcs == nil {
				w.funcs = map[string]bool{}
			}
			w.funcs[f.Name.Value] = true
			w.moves = w.moves || strings.Contains(w.text(f), "cd") || strings.Contains(w.text(f), "pushd")
			if bombs(f.Body, f.Name.Value) {
				w.fail(ErrForkBomb)
			}
		}
		return true
	})
	w.stmts(sc, file.Stmts)
}

func (w *walker) enter() bool {
	if w.depth++; w.depth > maxDepth {
		w.fail(fmt.Errorf("%w: nested deeper than %d", ErrTooLarge, maxDepth))
	}
	return w.err == nil
}

func (w *walker) leave() { w.depth-- }

// emit records a command and returns its index.
func (w *walker) emit(sc *scope, c Command) int {
	if len(w.out) >= maxCommands {
		w.fail(fmt.Errorf("%w: more than %d commands", ErrTooLarge, maxCommands))
		return 0
	}
	if last := len(sc.dirs) - 1; last >= 0 {
		c.Dir, c.Alt = Word{Text: sc.dirs[last], Known: true}, slices.Clone(sc.dirs[:last])
	} else {
		c.Dir = Word{Text: "?"}
	}
	c.Piped, c.Background = sc.piped, sc.background
	c.From = slices.Concat(c.From, sc.stdin)
	slices.Sort(c.From)
	c.From = slices.Compact(c.From)
	w.out = append(w.out, c)
	return len(w.out) - 1
}

// since returns the indexes of the commands from begin on.
func (w *walker) since(begin int) (out []int) {
	for ; begin < len(w.out); begin++ {
		out = append(out, begin)
	}
	return out
}

func (w *walker) stmts(sc *scope, list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(sc, s)
	}
}

// stmt walks a statement. It returns the folders in which the shell is if the statement
// succeeded, nil if these are those of sc.
func (w *walker) stmt(sc *scope, s *syntax.Stmt) (success []string) {
	if w.err != nil || s == nil || !w.enter() {
		return nil
	}
	defer w.leave()
	if s.Background || s.Coprocess {
		in := *sc
		in.background = true
		w.command(&in, s)
		return nil
	}
	if success = w.command(sc, s); s.Negated {
		return nil
	}
	return success
}

func (w *walker) command(sc *scope, s *syntax.Stmt) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if ok || s.Cmd == nil {
		return w.call(sc, call, s.Redirs)
	}
	if d, ok := s.Cmd.(*syntax.DeclClause); ok {
		w.declare(sc, d, s.Redirs)
		return nil
	}
	inner := *sc
	if len(s.Redirs) > 0 {
		var c Command
		w.redirects(sc, &c, s.Redirs)
		at := w.emit(sc, c)
		if len(c.From) > 0 {
			inner.stdin = append(slices.Clone(sc.stdin), at)
		}
	}
	var success []string
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		success = w.binary(&inner, c)
	case *syntax.Block:
		w.stmts(&inner, c.Stmts)
	case *syntax.Subshell:
		in := inner
		w.stmts(&in, c.Stmts)
	case *syntax.TimeClause:
		success = w.stmt(&inner, c.Stmt)
	default:
		w.compound(&inner, c)
	}
	sc.dirs = inner.dirs
	return success
}

// compound walks what is in a loop, a condition, a function or a test. Whether and how
// often it runs is not known.
func (w *walker) compound(sc *scope, node syntax.Node) {
	in := *sc
	if _, is := node.(*syntax.FuncDecl); is && w.moves {
		in.dirs = nil // it is called later
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			w.stmt(&in, n)
			return false
		case *syntax.Word:
			var c Command
			w.word(&in, n, &c)
			if c.Evaluates {
				w.emit(&in, Command{Evaluates: true})
			}
			return false
		case *syntax.WordIter:
			w.emit(&in, Command{Assigns: []string{n.Name.Value + "="}})
		case *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			w.emit(&in, Command{Evaluates: true})
		case *syntax.BinaryTest:
			if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
				w.emit(&in, Command{Evaluates: true})
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				w.emit(&in, Command{Evaluates: true})
			}
		}
		return true
	})
	if _, is := node.(*syntax.FuncDecl); !is {
		sc.either(in.dirs)
	}
}

// binary walks &&, || and pipes. The tree leans to the left, so loops follow the left spine.
func (w *walker) binary(sc *scope, b *syntax.BinaryCmd) []string {
	pipe := b.Op == syntax.Pipe || b.Op == syntax.PipeAll
	spine, first := []*syntax.BinaryCmd{b}, b.X
	for {
		x, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) != pipe || first.Negated || first.Background || len(first.Redirs) > 0 {
			break
		}
		spine, first = append(spine, x), x.X
	}
	if pipe {
		in, begin := *sc, len(w.out)
		w.stmt(&in, first)
		for _, b := range slices.Backward(spine) {
			in = *sc
			in.stdin, in.piped = w.since(begin), true
			begin = len(w.out)
			w.stmt(&in, b.Y)
		}
		return nil
	}
	success := w.stmt(sc, first)
	for _, b := range slices.Backward(spine) {
		right := *sc
		if b.Op == syntax.AndStmt && success != nil {
			right.dirs = success
		}
		then := w.stmt(&right, b.Y)
		switch {
		case b.Op == syntax.AndStmt:
			if then == nil {
				then = right.dirs
			}
			sc.either(right.dirs)
			success = then
		case leaves(b.Y): // cd x || exit
			if success != nil {
				sc.dirs = success
			}
			success = nil
		default:
			sc.either(right.dirs)
			success = nil
		}
	}
	return success
}

// leaves reports whether a statement ends the shell.
func leaves(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "exit" && !s.Background
}

// declare records export, declare, local and their like.
func (w *walker) declare(sc *scope, d *syntax.DeclClause, rs []*syntax.Redirect) {
	c := Command{Words: []Word{{Text: d.Variant.Value, Known: true}}}
	for _, a := range d.Args {
		switch {
		case a.Naked && a.Name != nil && a.Index == nil:
			c.Words = append(c.Words, Word{Text: a.Name.Value, Known: true})
		case a.Naked && a.Value != nil:
			c.Words = append(c.Words, w.word(sc, a.Value, &c))
		default:
			w.assign(sc, a, &c)
		}
	}
	w.redirects(sc, &c, rs)
	w.emit(sc, c)
}

// assign adds an assignment to a command.
func (w *walker) assign(sc *scope, a *syntax.Assign, c *Command) {
	text := w.text(a)
	if a.Value != nil && a.Name != nil && a.Array == nil && a.Index == nil {
		if v := w.word(sc, a.Value, c); v.Known && !a.Append {
			text = a.Name.Value + "=" + v.Text
		}
	} else {
		c.Evaluates = c.Evaluates || a.Index != nil || a.Array != nil || a.Name == nil
		w.substitutions(sc, a, c)
	}
	c.Assigns = append(c.Assigns, text)
}

// redirects adds the files that a command's redirections open, and returns its
// here-documents.
func (w *walker) redirects(sc *scope, c *Command, rs []*syntax.Redirect) (here []Word) {
	for _, r := range rs {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			c.Evaluates = true // it sets a variable
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			here = append(here, w.document(sc, r, c))
		case syntax.WordHdoc:
			here = append(here, w.word(sc, r.Word, c))
		case syntax.DplIn, syntax.DplOut:
			if t := w.word(sc, r.Word, c); !t.Known || strings.Trim(strings.TrimSuffix(t.Text, "-"), "0123456789") != "" {
				c.Redirects = append(c.Redirects, Redirect{Op: r.Op.String(), Target: t})
			}
		default:
			c.Redirects = append(c.Redirects, Redirect{Op: r.Op.String(), Target: w.word(sc, r.Word, c)})
		}
	}
	return here
}

// document returns the text of a here-document.
func (w *walker) document(sc *scope, r *syntax.Redirect, c *Command) Word {
	var b strings.Builder
	known := r.Hdoc != nil
	quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`)
	if known {
		for _, p := range r.Hdoc.Parts {
			l, ok := p.(*syntax.Lit)
			switch {
			case !ok:
				known = false
			case quoted:
				b.WriteString(l.Value)
			default:
				b.WriteString(doubleQuoted.Replace(l.Value))
			}
		}
		w.substitutions(sc, r.Hdoc, c)
	}
	for _, p := range r.Word.Parts {
		switch p.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default: // bash takes the delimiter as text, and may expand the document
			c.Code = true
		}
	}
	return Word{Text: b.String(), Known: known}
}

// bombs reports whether a function's body calls the function in the background, or more than
// once in a pipe.
func bombs(body *syntax.Stmt, name string) bool {
	calls := func(in syntax.Node) (n int) {
		syntax.Walk(in, func(node syntax.Node) bool {
			if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
				n++
			}
			return true
		})
		return n
	}
	found := false
	for _, pipes := range [...]bool{false, true} { // each is looked at once, with all in it
		syntax.Walk(body, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				if !pipes && n.Background {
					found = found || calls(n) > 0
					return false
				}
			case *syntax.BinaryCmd:
				if pipes && (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) {
					found = found || calls(n) > 1
					return false
				}
			}
			return !found
		})
	}
	return found
}
