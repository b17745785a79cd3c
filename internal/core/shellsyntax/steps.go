package shellsyntax

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file follows a line that bash runs from its start to its end, by what bash tells
// before each simple command (its DEBUG trap): the exit codes so far.

// Script is a line of which it follows from the exit codes what runs next. Of case, of select
// and of what runs beside the line it does not.
type Script struct {
	line  string
	stmts []*syntax.Stmt
}

// Told is what bash told: the exit code ($?), those of the last pipeline, and how the command
// that it runs next begins, as Beginning.
type Told struct {
	Exit int
	Pipe []int
	Next string
}

// Beginning returns what is compared of a command's text: bash prints the rest in its own way.
func Beginning(text string) string {
	for i := range len(text) {
		if c := text[i]; i == maxBeginning || c != ' ' && c != '_' && !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return text[:i]
		}
	}
	return text
}

const maxBeginning = 40

// Part is a pipeline of a script that ran.
type Part struct {
	Text  string // its source
	To    int    // where it ends in the line
	Names []string
	Codes []int // of each command; nil: not known
	// Handled: || or ! stands by it, or it only asks, as test before && does, or the condition
	// of a loop: its failure is none of the line's.
	Handled bool
}

// maxSteps is how many simple commands a script has at most: what bash tells of them fits
// into a pipe.
const maxSteps = 200

// ScriptOf returns a line as a script with at least two simple commands, or a loop.
func ScriptOf(line string) (Script, bool) {
	if strings.ContainsAny(line, "\x00\r") || bounded(line) != nil {
		return Script{}, false
	}
	file, err := read(syntax.LangBash, line)
	if err != nil {
		return Script{}, false
	}
	n, loops := 0, []string(nil)
	for _, s := range file.Stmts {
		steps, ok := flows(s)
		if n += steps; !ok && !silent(s) {
			return Script{}, false
		}
	}
	same := false // two loops that begin alike could be one
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.ForClause); ok {
			head := headOf(line, f)
			for _, l := range loops {
				same = same || strings.HasPrefix(l, head) || strings.HasPrefix(head, l)
			}
			loops = append(loops, head)
		}
		return true
	})
	return Script{line, file.Stmts}, (n > 1 || len(file.Stmts) > 1) && n <= maxSteps && !same
}

// silent reports whether bash tells of nothing before it runs a statement. What ran before
// that ended as nobody knows.
func silent(s *syntax.Stmt) bool {
	_, ok := s.Cmd.(*syntax.Subshell)
	return ok && !s.Background && !s.Coprocess && !s.Disown
}

// flows is straight for a statement that may be a loop, a condition or a function.
func flows(s *syntax.Stmt) (n int, ok bool) {
	if n, ok := straight(s); ok {
		return n, true
	}
	if s.Coprocess || s.Disown || s.Background {
		return 0, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.FuncDecl:
		return 0, true
	case *syntax.ForClause:
		w, ok := c.Loop.(*syntax.WordIter)
		if n, ok = all(flows, c.Do, ok && w.InPos.IsValid() && !c.Select); !ok {
			return 0, false
		}
		return n + 1, true
	case *syntax.WhileClause:
		x, okx := all(straight, c.Cond, true)
		y, oky := all(flows, c.Do, true)
		return x + y, okx && oky && x > 0
	case *syntax.IfClause:
		ok = true
		for ; ok && c != nil; c = c.Else {
			x, okx := all(straight, c.Cond, true)
			y, oky := all(flows, c.Then, true)
			n, ok = n+x+y, okx && oky
		}
		return n, ok
	case *syntax.Block:
		return all(flows, c.Stmts, true)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return 0, false
		}
		return all(flows, []*syntax.Stmt{c.X, c.Y}, true)
	}
	return 0, false
}

// all adds up what count returns of each statement.
func all(count func(*syntax.Stmt) (int, bool), stmts []*syntax.Stmt, ok bool) (int, bool) {
	n := 0
	for _, s := range stmts {
		steps, known := count(s)
		n, ok = n+steps, ok && known
	}
	return n, ok
}

// straight returns how many simple commands a statement has, and whether it is straight.
func straight(s *syntax.Stmt) (n int, ok bool) {
	if s.Coprocess || s.Disown || s.Background && !simple(s) {
		return 0, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			n, ok = all(staged, stages(s), true)
			return n, ok && n > 0
		}
		return all(straight, []*syntax.Stmt{c.X, c.Y}, true)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return 0, false
		}
		return straight(c.Stmt)
	case *syntax.Block:
		return all(straight, c.Stmts, true)
	}
	return 1, simple(s)
}

// simple reports whether bash tells of a statement as of one simple command.
func simple(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if n := len(c.Args); n > 1 && (c.Args[0].Lit() == "break" || c.Args[0].Lit() == "continue") {
			return false // out of more than one loop
		}
		return len(c.Args)+len(c.Assigns) > 0
	case *syntax.DeclClause, *syntax.TestClause, *syntax.ArithmCmd:
		return true
	}
	return false
}

// staged is straight for a command of a pipeline, which has a shell of its own.
func staged(s *syntax.Stmt) (n int, ok bool) {
	switch s.Cmd.(type) {
	case *syntax.CallExpr:
		return 1, simple(s)
	case *syntax.Subshell, *syntax.Block, *syntax.WhileClause, *syntax.ForClause, *syntax.IfClause:
		return 0, true
	}
	return 0, false
}

// stages returns the commands of a pipeline.
func stages(s *syntax.Stmt) []*syntax.Stmt {
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
		return append(stages(b.X), b.Y)
	}
	return []*syntax.Stmt{s}
}

// Ran returns the pipelines that ran, in their order, from what bash told: before each simple
// command, and at the end unless it was killed. ok is false where that does not fit the line.
func (s Script) Ran(told []Told, ended bool) (parts []Part, ok bool) {
	r := &running{line: s.line, told: told, ended: ended}
	r.list(s.stmts)
	last := len(told)
	if ended {
		last--
	}
	return r.parts, r.at == last && !r.lost
}

type running struct {
	line  string
	told  []Told
	ended bool
	at    int  // how many were told of
	over  bool // the line ended
	lost  bool // what was told is not what the line says
	parts []Part
	ok    bool   // the last pipeline ended well
	jump  string // break or continue, until the loop
	loops int
}

func (r *running) list(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		if r.over || r.jump != "" {
			return
		}
		r.stmt(s)
	}
}

// more reports whether another command was told of.
func (r *running) more() bool {
	last := len(r.told)
	if r.ended {
		last--
	}
	return r.at < last
}

// step passes a simple command, which begins with text.
func (r *running) step(text string) {
	if r.over = r.over || !r.more(); !r.over {
		r.lost = r.lost || !strings.HasPrefix(r.told[r.at].Next, text)
		r.at++
	}
}

func (r *running) stmt(s *syntax.Stmt) {
	began := len(r.parts)
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			r.pipeline(s)
			break
		}
		r.stmt(c.X)
		if r.over || r.jump != "" {
			return
		}
		left := r.parts[min(began, len(r.parts)):]
		if r.ok == (c.Op == syntax.AndStmt) {
			if c.Op == syntax.OrStmt {
				handled(left)
			}
			r.stmt(c.Y)
		} else if n := len(left); !r.ok && n > 0 && asks(c.X) {
			handled(left[n-1:])
		}
	case *syntax.TimeClause:
		r.stmt(c.Stmt)
	case *syntax.Block:
		r.list(c.Stmts)
	case *syntax.FuncDecl:
		r.ok = true
	case *syntax.ForClause:
		r.loop(c.Do, func() bool {
			head := headOf(r.line, c)
			if !r.more() || !strings.HasPrefix(r.told[r.at].Next, head) {
				return false
			}
			r.step(head)
			return true
		})
	case *syntax.WhileClause:
		r.loop(c.Do, func() bool {
			at := r.at
			return r.condition(c.Cond) != c.Until && r.at > at
		})
	case *syntax.IfClause:
		for ; c != nil && len(c.Cond) > 0; c = c.Else {
			if r.condition(c.Cond) {
				break
			}
			r.ok = true // as the whole is, if nothing of it runs
		}
		if c != nil && !r.over {
			r.list(c.Then)
		}
	default:
		r.pipeline(s)
	}
	if s.Negated {
		handled(r.parts[min(began, len(r.parts)):])
	}
}

func handled(parts []Part) {
	for i := range parts {
		parts[i].Handled = true
	}
}

// loop runs the body of a loop as long as it goes on.
func (r *running) loop(body []*syntax.Stmt, more func() bool) {
	ok := true // of the body; as the loop ends
	for r.loops++; more() && !r.over; ok = r.ok {
		r.list(body)
		if r.over || r.jump == "break" {
			ok = r.ok
			break
		}
		r.jump = ""
	}
	r.loops--
	r.ok, r.jump = ok, ""
}

// condition runs the condition of a loop or of if, and reports whether it holds.
func (r *running) condition(stmts []*syntax.Stmt) bool {
	began := len(r.parts)
	r.list(stmts)
	handled(r.parts[min(began, len(r.parts)):])
	return r.ok && !r.over
}

// asks reports whether a command's exit code is an answer.
func asks(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		return true
	case *syntax.CallExpr:
		return len(c.Args) > 0 && (c.Args[0].Lit() == "[" || c.Args[0].Lit() == "test")
	}
	return false
}

func (r *running) pipeline(s *syntax.Stmt) {
	all := stages(s)
	if n := len(r.parts); n > 0 && silent(s) {
		r.parts[n-1].Codes = nil
	}
	for _, stage := range all {
		if n, _ := staged(stage); n > 0 || len(all) == 1 && !silent(stage) {
			r.step(beginningOf(r.line, stage))
		}
	}
	if r.over || r.at >= len(r.told) || s.Background {
		r.ok = true
		return
	}
	now := r.told[r.at]
	p := Part{Text: source(r.line, s), To: end(s), Codes: now.Pipe}
	if len(p.Codes) != len(all) {
		p.Codes = nil // bash told of another pipeline
	}
	for _, stage := range all {
		p.Names = append(p.Names, source(r.line, stage))
	}
	r.parts = append(r.parts, p)
	if r.ok = now.Exit == 0; p.Codes != nil { // $? may be that of a condition as a whole
		failed := p.Codes[len(p.Codes)-1] != 0
		if strings.Contains(r.line, "pipefail") {
			failed = slices.Max(p.Codes) != 0
		}
		r.ok = failed == s.Negated
	}
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && r.loops > 0 && len(c.Args) == 1 && (p.Text == "break" || p.Text == "continue") {
		r.jump = p.Text
	}
}

// headOf returns the beginning of what bash tells before each round of a loop.
func headOf(line string, f *syntax.ForClause) string {
	w, ok := f.Loop.(*syntax.WordIter)
	if !ok {
		return ""
	}
	return beginning(line, []string{"for", w.Name.Value, "in"}, w.Items)
}

// beginningOf returns the beginning of what bash tells before a simple command.
func beginningOf(line string, s *syntax.Stmt) string {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return Beginning(source(line, s))
	}
	var first []string
	for _, a := range c.Assigns {
		first = append(first, line[a.Pos().Offset():a.End().Offset()])
	}
	return beginning(line, first, c.Args)
}

func beginning(line string, first []string, words []*syntax.Word) string {
	for _, w := range words {
		first = append(first, line[w.Pos().Offset():w.End().Offset()])
	}
	return Beginning(strings.Join(first, " "))
}

// source returns the first line of a statement's text, without what ends it.
func source(line string, s *syntax.Stmt) string {
	text, _, _ := strings.Cut(line[s.Pos().Offset():end(s)], "\n")
	return text
}

func end(s *syntax.Stmt) int {
	if s.Semicolon.IsValid() {
		return int(s.Semicolon.Offset())
	}
	return int(s.End().Offset())
}
