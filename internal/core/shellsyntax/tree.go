package shellsyntax

import "hash/maphash"

// tree is an immutable map by name. A copy of a state costs nothing, and merging two
// states costs only as much as they differ. It is a treap whose priorities are hashes,
// so its shape depends only on its names. The zero tree is empty; merged trees must
// come from the same grow.
type tree[V any] struct {
	root *node[V]
	seed maphash.Seed
}

type node[V any] struct {
	name        string
	priority    uint64
	value       *V
	left, right *node[V]
}

func newTree[V any](seed maphash.Seed) tree[V] { return tree[V]{seed: seed} }

func (t tree[V]) get(name string) (v V, ok bool) {
	for n := t.root; n != nil; {
		switch {
		case name == n.name:
			return *n.value, true
		case name < n.name:
			n = n.left
		default:
			n = n.right
		}
	}
	return v, false
}

// with returns the tree with the value added under the name.
func (t tree[V]) with(name string, v V) tree[V] {
	l, _, r := split(t.root, name)
	t.root = join2(join2(l, &node[V]{name: name, priority: maphash.String(t.seed, name), value: &v}), r)
	return t
}

func (t tree[V]) without(name string) tree[V] {
	l, m, r := split(t.root, name)
	if m != nil {
		t.root = join2(l, r)
	}
	return t
}

// merge returns a tree of what may apply if either t or o does. Shared parts are not
// visited. For a name that only one tree has, the other value is nil. keep false drops
// the name; same true retains the first value.
func (t tree[V]) merge(o tree[V], value func(name string, a, b *V) (v V, keep, same bool)) tree[V] {
	t.root = merge(t.root, o.root, value)
	return t
}

func merge[V any](a, b *node[V], value func(name string, a, b *V) (V, bool, bool)) *node[V] {
	if a == b {
		return a
	}
	top, al, ma, ar, bl, mb, br := pair(a, b)
	l, r := merge(al, bl, value), merge(ar, br, value)
	va, vb := ma.held(), mb.held()
	if va == nil || va != vb {
		v, keep, same := value(top.name, va, vb)
		if !keep {
			return join2(l, r)
		}
		if !same {
			va = &v
		}
	}
	if ma != nil && va == ma.value && l == ma.left && r == ma.right {
		return ma
	}
	return &node[V]{name: top.name, priority: top.priority, value: va, left: l, right: r}
}

// pair splits two trees, not both empty, at the higher of their tops.
func pair[V any](a, b *node[V]) (top, al, ma, ar, bl, mb, br *node[V]) {
	if b == nil || a != nil && a.above(b) {
		bl, mb, br = split(b, a.name)
		return a, a.left, a, a.right, bl, mb, br
	}
	al, ma, ar = split(a, b.name)
	return b, al, ma, ar, b.left, b, b.right
}

func (n *node[V]) held() *V {
	if n == nil {
		return nil
	}
	return n.value
}

// diff visits the names under which t and o differ, with nil if one has none. Shared
// parts are not visited.
func (t tree[V]) diff(o tree[V], visit func(name string, a, b *V)) { diff(t.root, o.root, visit) }

func diff[V any](a, b *node[V], visit func(string, *V, *V)) {
	if a == b {
		return
	}
	top, al, ma, ar, bl, mb, br := pair(a, b)
	diff(al, bl, visit)
	if va, vb := ma.held(), mb.held(); va != vb {
		visit(top.name, va, vb)
	}
	diff(ar, br, visit)
}

func (n *node[V]) above(o *node[V]) bool {
	return n.priority > o.priority || n.priority == o.priority && n.name <= o.name
}

// split returns what is before, at and after a name.
func split[V any](n *node[V], name string) (l, m, r *node[V]) {
	switch {
	case n == nil:
		return nil, nil, nil
	case name == n.name:
		return n.left, n, n.right
	case name < n.name:
		l, m, r = split(n.left, name)
		if l == nil && m == nil {
			return nil, nil, n
		}
		c := *n
		c.left = r
		return l, m, &c
	}
	l, m, r = split(n.right, name)
	if r == nil && m == nil {
		return n, nil, nil
	}
	c := *n
	c.right = l
	return &c, m, r
}

// join2 joins two trees, all of l before all of r.
func join2[V any](l, r *node[V]) *node[V] {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.above(r):
		c := *l
		c.right = join2(l.right, r)
		return &c
	}
	c := *r
	c.left = join2(l, r.left)
	return &c
}
