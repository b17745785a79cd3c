package shellsyntax

import (
	"slices"
	"strings"
	"sync"
)

// A call's line is parsed about a dozen times: for its footprint, its permission, its
// progress, its evidence. Parsing is pure, so the last results are cached. Long lines
// are not, which limits the cache's size.
const (
	memoLines  = 64
	memoLength = 2 << 10
	memoResult = 64 // commands
)

type memoKey struct {
	line     string
	opts     Options
	programs Programs
}

type memoValue struct {
	cmds []Command
	err  error
}

var memo struct {
	sync.Mutex
	values map[memoKey]memoValue
	keys   [memoLines]memoKey // a ring: the oldest is replaced
	next   int
}

func remembered(k memoKey) (memoValue, bool) {
	memo.Lock()
	defer memo.Unlock()
	v, ok := memo.values[k]
	return v, ok
}

// remember caches a result. Cached slices have no spare capacity, so an append to a
// field of a command copies it.
func remember(k memoKey, v memoValue) {
	if len(v.cmds) > memoResult {
		return
	}
	for i := range v.cmds {
		v.cmds[i].clip()
	}
	k.line = strings.Clone(k.line) // it may be part of a large text
	memo.Lock()
	defer memo.Unlock()
	if _, ok := memo.values[k]; ok { // another goroutine was first
		return
	}
	if memo.values == nil {
		memo.values = make(map[memoKey]memoValue, memoLines)
	}
	delete(memo.values, memo.keys[memo.next])
	memo.keys[memo.next] = k
	memo.next = (memo.next + 1) % memoLines
	memo.values[k] = v
}

func (c *Command) clip() {
	c.Words, c.Via, c.Wrappers = slices.Clip(c.Words), slices.Clip(c.Via), slices.Clip(c.Wrappers)
	c.Assigns, c.Redirects, c.Alt, c.From = slices.Clip(c.Assigns), slices.Clip(c.Redirects), slices.Clip(c.Alt), slices.Clip(c.From)
}
