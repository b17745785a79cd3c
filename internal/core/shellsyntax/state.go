package shellsyntax

import (
	"maps"
	"path"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// state is what is known of the shell at one point of the line.
type state struct {
	vars     map[string]value
	funcs    map[string]bool // surely declared
	dirs     []string        // the folders it may be in
	dirKnown bool
	ifs      bool // IFS is not the default
	wild     bool // code that was not seen ran: nothing is known of variables
	posn     bool // inside a function: $1 is a caller's
	stdin    []int
	piped    bool
}

const maxDirs = 8

func newState(dir string) *state {
	s := &state{vars: map[string]value{}, funcs: map[string]bool{}}
	if path.IsAbs(dir) {
		s.dirs, s.dirKnown = []string{path.Clean(dir)}, true
	}
	return s
}

func (s *state) clone() *state {
	c := *s
	c.vars, c.funcs, c.dirs = maps.Clone(s.vars), maps.Clone(s.funcs), slices.Clone(s.dirs)
	return &c
}

// set notes an assignment.
func (s *state) set(name string, v value) {
	if name == "IFS" {
		s.ifs = true
	}
	v.exported = v.exported || s.vars[name].exported
	s.vars[name] = v
}

// forget says that any variable may have any value, and any folder may be the
// current one if moved.
func (s *state) forget(moved bool) {
	for n := range s.vars {
		s.vars[n] = value{unsettled: true}
	}
	s.wild, s.ifs = true, true
	if moved {
		s.dirKnown, s.dirs = false, nil
	}
}

// merge makes s what is known when either s or o may be the case.
func (s *state) merge(o *state) {
	for n, v := range s.vars {
		if ov, ok := o.vars[n]; !ok || !same(v, ov) {
			s.vars[n] = value{num: v.num && ov.num, from: append(slices.Clone(v.from), ov.from...), exported: v.exported || ov.exported}
		}
	}
	for n, ov := range o.vars {
		if _, ok := s.vars[n]; !ok {
			s.vars[n] = value{from: ov.from, exported: ov.exported}
		}
	}
	for f := range s.funcs {
		if !o.funcs[f] {
			delete(s.funcs, f)
		}
	}
	s.ifs, s.wild = s.ifs || o.ifs, s.wild || o.wild
	if !o.dirKnown {
		s.dirKnown, s.dirs = false, nil
	}
	for _, d := range o.dirs {
		if s.dirKnown && !slices.Contains(s.dirs, d) {
			s.dirs = append(s.dirs, d)
		}
	}
	if len(s.dirs) > maxDirs {
		s.dirKnown, s.dirs = false, nil
	}
}

func same(a, b value) bool {
	return a.known == b.known && a.text == b.text && a.glob == b.glob && a.num == b.num &&
		a.prefix == b.prefix && a.blank == b.blank && a.exported == b.exported && slices.Equal(a.from, b.from)
}

// moves says whether a node may change the shell's folder or run code that is
// not seen; sets collects the variables that it may change, nil in names
// standing for all.
type changes struct {
	names map[string]bool // false: only ever set to an integer
	all   bool
	moves bool
}

// changesIn looks ahead into a loop's body, whose end reaches its beginning.
func (w *walker) changesIn(n syntax.Node) changes {
	c := changes{names: map[string]bool{}}
	lit := func(x syntax.ArithmExpr) {
		if word, ok := x.(*syntax.Word); ok {
			c.names[word.Lit()] = c.names[word.Lit()]
		}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.Assign:
			if n.Name != nil {
				c.names[n.Name.Value] = c.names[n.Name.Value] || !integer(n)
			} else {
				c.all = true
			}
		case *syntax.WordIter:
			c.names[n.Name.Value] = true
		case *syntax.BinaryArithm:
			if n.Op >= syntax.Assgn {
				lit(n.X)
			}
		case *syntax.UnaryArithm:
			lit(n.X)
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				c.names[n.Param.Value] = true
			}
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
			case name == "" || name == "eval" || name == "." || name == "source" || name == "command" || name == "builtin":
				c.all, c.moves = true, true
			case changesVars(name):
				c.all = true
			}
		}
		return true
	})
	return c
}

// changesVars names the builtins that set variables by name.
func changesVars(name string) bool {
	switch name {
	case "read", "mapfile", "readarray", "printf", "getopts", "unset", "let", "set", "wait", "trap", "shift", "alias", "shopt", "enable", "unalias":
		return true
	}
	return false
}

// apply forgets what the changes may touch.
func (s *state) apply(c changes) {
	if c.all {
		s.forget(false)
	}
	for n, free := range c.names {
		old, set := s.vars[n]
		num := !free && !c.all && (!set || old.num || old.known && isFD(old.text))
		s.set(n, value{num: num, unsettled: true})
	}
	if c.moves {
		s.dirKnown, s.dirs = false, nil
	}
}

// integer says whether an assignment gives nothing but an integer.
func integer(a *syntax.Assign) bool {
	if a.Append || a.Array != nil || a.Index != nil || a.Value == nil || len(a.Value.Parts) != 1 {
		return false
	}
	switch p := a.Value.Parts[0].(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.Lit:
		return p.Value != "" && isFD(p.Value)
	}
	return false
}
