package shellsyntax

import (
	"hash/maphash"
	"path"
	"slices"
)

// state is what is known of the shell at one point of the line. A copy shares its
// content with the original: nothing in it is changed in place.
type state struct {
	vars     tree[value]
	env      *tree[value]   // of a child shell: what its parent had set
	funcs    tree[struct{}] // certainly declared
	dirs     []string       // the folders it may be in
	dirKnown bool
	ifs      bool // IFS is not the default
	wild     bool // unseen code ran: nothing is known of other variables
	trapped  bool // a trap may set any variable between any two commands
	function bool // its commands are a function's body
	posn     bool // $1 was set by a caller
	stdin    []int
	piped    bool
}

// value is what is known of a variable's value.
type value struct {
	known         bool
	text          string
	glob, num     bool // of an unknown value: a path from a glob; an integer
	prefix, blank string
	from          []int
	exported      bool
	readonly      bool
}

func valueOf(w Word, from []int) value {
	return value{known: w.Known, text: w.Text, glob: w.Glob, num: w.Num, prefix: w.Prefix, blank: w.Blank, from: from}
}

// integer reports whether it is certainly an integer.
func (v value) integer() bool { return v.num || v.known && isNumber(v.text) }

// decimal reports whether it is an integer that bash can read: 08 is not. A number
// that bash counts never begins with 0.
func (v value) decimal() bool {
	return v.num || v.known && isNumber(v.text) && (v.text[0] != '0' || v.text == "0") && len(v.text) < 18
}

const maxDirs = 8

func newState(dir string) *state {
	seed := maphash.MakeSeed()
	s := &state{vars: newTree[value](seed), funcs: newTree[struct{}](seed)}
	if path.IsAbs(dir) {
		s.dirs, s.dirKnown = []string{path.Clean(dir)}, true
	}
	return s
}

func (s *state) clone() *state {
	c := *s
	return &c
}

// get returns a variable that the line set.
func (s *state) get(name string) (value, bool) {
	v, ok := s.vars.get(name)
	if !ok && s.env != nil {
		if v, ok = s.env.get(name); !v.exported {
			v = value{from: v.from} // the environment may have had it before
		}
		v.readonly = false
	}
	return v, ok
}

// set records an assignment. Walkers assign by walker.put, which also handles code
// that the assignment itself runs.
func (s *state) set(name string, v value) {
	if name == "IFS" {
		s.ifs = true
	}
	old, was := s.get(name)
	v.exported = v.exported || old.exported
	switch {
	case s.trapped:
		v = value{exported: v.exported}
	case old.readonly:
		v = either(old, v) // bash refuses, and may go on
	}
	v.readonly = v.readonly || was && old.readonly
	s.vars = s.vars.with(name, v)
}

// inherit passes what a parent knows to a child of a child shell.
func (s *state) inherit(parent *state) {
	env := parent.env.merge(parent.vars, func(name string, _, _ *value) (value, bool, bool) {
		v, ok := parent.get(name)
		return v, ok, false
	})
	s.env = &env
}

// forget records that any variable may have any value, and if moved, that any folder
// may be the current one.
func (s *state) forget(moved bool) {
	s.vars.root, s.env = nil, nil
	s.wild, s.ifs = true, true
	if moved {
		s.dirKnown, s.dirs = false, nil
	}
}

// merge sets s to what is known if either s or o may apply.
func (s *state) merge(o *state) {
	s.vars = s.vars.merge(o.vars, func(_ string, a, b *value) (value, bool, bool) {
		if a != nil && b != nil && same(*a, *b) {
			return *a, true, true
		}
		return eitherOf(a, b), true, false
	})
	s.funcs = s.funcs.merge(o.funcs, func(_ string, a, b *struct{}) (struct{}, bool, bool) {
		return struct{}{}, a != nil && b != nil, true
	})
	s.mergeRest(o)
}

// mergeStep is merge for an s that may already contain before: only the differences
// between before and after are visited.
func (s *state) mergeStep(before, after *state) {
	before.vars.diff(after.vars, func(name string, _, b *value) {
		a, ok := s.vars.get(name)
		switch {
		case !ok:
			s.vars = s.vars.with(name, eitherOf(nil, b))
		case b == nil || !same(a, *b):
			s.vars = s.vars.with(name, eitherOf(&a, b))
		}
	})
	before.funcs.diff(after.funcs, func(name string, _, b *struct{}) {
		if b == nil {
			s.funcs = s.funcs.without(name)
		}
	})
	s.mergeRest(after)
}

// eitherOf is either; nil is a variable that the line did not set.
func eitherOf(a, b *value) value {
	switch {
	case a == nil && b == nil:
		return value{}
	case a == nil:
		a = b
	case b != nil:
		return either(*a, *b)
	}
	return value{from: a.from, exported: a.exported, readonly: a.readonly}
}

func (s *state) mergeRest(o *state) {
	if s.env != o.env {
		s.env = nil
		s.wild = true
	}
	s.ifs, s.wild, s.trapped, s.posn = s.ifs || o.ifs, s.wild || o.wild, s.trapped || o.trapped, s.posn || o.posn
	if !o.dirKnown {
		s.dirKnown, s.dirs = false, nil
	}
	for _, d := range o.dirs {
		if s.dirKnown && !slices.Contains(s.dirs, d) {
			s.dirs = append(slices.Clip(s.dirs), d)
		}
	}
	if len(s.dirs) > maxDirs {
		s.dirKnown, s.dirs = false, nil
	}
}

// either returns what is known of a variable that has one of two values.
func either(a, b value) value {
	return value{
		num: a.integer() && b.integer(), from: union(a.from, b.from),
		exported: a.exported || b.exported, readonly: a.readonly || b.readonly,
	}
}

func same(a, b value) bool {
	return a.known == b.known && a.text == b.text && a.glob == b.glob && a.num == b.num && a.readonly == b.readonly &&
		a.prefix == b.prefix && a.blank == b.blank && a.exported == b.exported && slices.Equal(a.from, b.from)
}

// union returns the indexes of both lists, sorted and without duplicates.
func union(a, b []int) []int {
	switch {
	case len(b) == 0:
		return slices.Clip(a)
	case len(a) == 0:
		return slices.Clip(b)
	}
	return tidy(slices.Concat(a, b))
}

// tidy sorts indexes and removes duplicates.
func tidy(from []int) []int {
	if !slices.IsSorted(from) {
		from = slices.Clone(from)
		slices.Sort(from)
	}
	return slices.Clip(slices.Compact(from))
}

// apply forgets the values that the changes may affect.
func (s *state) apply(c changes) {
	if c.all {
		s.forget(false)
	}
	for n, free := range c.names {
		old, set := s.get(n)
		num := !free && !c.all && (old.integer() || !set && !s.wild && !filled(n))
		s.set(n, value{num: num})
	}
	if c.moves {
		s.dirKnown, s.dirs = false, nil
	}
}
