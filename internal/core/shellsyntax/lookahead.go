package shellsyntax

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// lookAhead collects facts about the whole text.
func (w *walker) lookAhead(st *state, file *syntax.File) {
	if w.declared == nil {
		w.declared = map[string]bool{}
	}
	if w.arrays == nil {
		w.arrays = map[string]bool{}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				w.declared[n.Name.Value] = true
			}
		case *syntax.DeclClause:
			if flags := declFlags(n); strings.Contains(flags, "i") {
				w.declaresInteger(st)
			} else if strings.ContainsAny(flags, "aA") {
				for _, a := range n.Args {
					if a.Name != nil {
						w.declaresArray(st, a.Name.Value)
					}
				}
			}
		case *syntax.Assign:
			if n.Name != nil && (n.Array != nil || n.Index != nil) {
				w.declaresArray(st, n.Name.Value)
			}
		}
		return true
	})
	w.moves = w.moves || w.changesIn(file).moves
}

// declaresInteger records that a variable has or may have the integer attribute: text
// that is assigned to it is evaluated.
func (w *walker) declaresInteger(st *state) {
	if !w.integers && w.evaluable {
		w.unknownCode(st, "declare -i")
	}
	w.integers = true
}

// declaresArray records that a variable is an array.
func (w *walker) declaresArray(st *state, name string) {
	if !w.arrays[name] && slices.Contains(w.bracketed, name) {
		w.unknownCode(st, "declare -a "+name)
	}
	w.arrays[name] = true
}

// strange refuses text that the parser and bash read differently: a carriage return
// outside quotes.
func strange(file *syntax.File) error {
	quoted := map[*syntax.Lit]bool{}
	quote := func(parts []syntax.WordPart) {
		for _, p := range parts {
			if l, ok := p.(*syntax.Lit); ok {
				quoted[l] = true
			}
		}
	}
	bad := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DblQuoted:
			quote(n.Parts)
		case *syntax.Redirect:
			if n.Hdoc != nil {
				quote(n.Hdoc.Parts)
			}
		case *syntax.Lit:
			bad = bad || strings.Contains(n.Value, carriage) && !quoted[n]
		}
		return !bad
	})
	if bad {
		return fmt.Errorf("%w: it holds a carriage return outside quotes", ErrSyntax)
	}
	return nil
}

// bombs reports whether a function's body calls the function in the background or in
// a pipe. It walks the body once.
func bombs(body *syntax.Stmt, name string) bool {
	type frame struct {
		node  syntax.Node
		calls bool // the function is called below
		sides int  // how many children call it
	}
	found := false
	var path []frame
	syntax.Walk(body, func(n syntax.Node) bool {
		if n != nil {
			c, ok := n.(*syntax.CallExpr)
			path = append(path, frame{node: n, calls: ok && len(c.Args) > 0 && c.Args[0].Lit() == name})
			return true
		}
		f := path[len(path)-1]
		path = path[:len(path)-1]
		if !f.calls {
			return true
		}
		switch n := f.node.(type) {
		case *syntax.Stmt:
			found = found || n.Background
		case *syntax.BinaryCmd:
			found = found || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && f.sides > 1
		}
		if len(path) > 0 {
			up := &path[len(path)-1]
			up.calls = true
			up.sides++
		}
		return true
	})
	return found
}

// changes is what code may change: the variables (false for those that are only set
// to integers); everything; the folder.
type changes struct {
	names map[string]bool
	all   bool
	moves bool
}

// changesIn finds the changes in a loop's body, which hold at its next round too.
func (w *walker) changesIn(n syntax.Node) changes {
	c := changes{names: map[string]bool{}}
	lit := func(x syntax.ArithmExpr) {
		if word, ok := x.(*syntax.Word); ok {
			c.names[word.Lit()] = c.names[word.Lit()]
		}
	}
	nodes := 0
	syntax.Walk(n, func(n syntax.Node) bool {
		nodes++
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.Assign:
			switch {
			case n.Name != nil:
				c.names[n.Name.Value] = c.names[n.Name.Value] || !integer(n)
			case n.Value == nil || !begins(n.Value.Lit(), '-'):
				c.all = true
			}
		case *syntax.WordIter:
			c.names[n.Name.Value] = true
		case *syntax.BinaryArithm:
			if assigns(n.Op) {
				lit(n.X)
			}
		case *syntax.UnaryArithm:
			lit(n.X)
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				c.names[n.Param.Value] = true
			}
		case *syntax.Redirect:
			if n.N != nil && begins(n.N.Value, '{') {
				c.all = true
			}
		case *syntax.CoprocClause:
			c.all = true
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			name := n.Args[0].Lit()
			switch {
			case name == "cd" || name == "pushd" || name == "popd":
				c.moves = true
			case w.declared[name]:
				c.all, c.moves = true, c.moves || w.moves
			case name == "" || name == "eval" || name == "." || name == "source" || name == "command" || name == "builtin" || name[0] == '\\':
				c.all, c.moves = true, true
			case changesVars(name):
				c.all = true
			}
		}
		return true
	})
	w.spend(nodes)
	return c
}

// begins reports whether s begins with a byte.
func begins(s string, c byte) bool { return s != "" && s[0] == c }

// changesVars names the builtins that set variables by name.
func changesVars(name string) bool {
	switch name {
	case "read", "mapfile", "readarray", "printf", "getopts", "unset", "let", "set", "wait", "trap", "shift", "alias", "shopt", "enable", "unalias",
		"export", "declare", "local", "readonly", "typeset", "exec":
		return true
	}
	return false
}

// integer reports whether an assignment assigns nothing but an integer.
func integer(a *syntax.Assign) bool {
	if a.Naked {
		return true // it keeps its value
	}
	if a.Append || a.Array != nil || a.Index != nil || a.Value == nil || len(a.Value.Parts) != 1 {
		return false
	}
	switch p := a.Value.Parts[0].(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.Lit:
		return isNumber(p.Value)
	}
	return false
}
