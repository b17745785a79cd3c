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

type parsed struct {
	cmds []Command
	err  error
}

var memo struct {
	sync.Mutex
	lines map[memoKey]parsed
}

func remembered(k memoKey) (parsed, bool) {
	memo.Lock()
	defer memo.Unlock()
	v, ok := memo.lines[k]
	return v, ok
}

// remember caches a result. Cached slices have no spare capacity, so an append to a
// field of a command copies it.
func remember(k memoKey, v parsed) {
	if len(v.cmds) > memoResult {
		return
	}
	for i := range v.cmds {
		c := &v.cmds[i]
		c.Words, c.Via, c.Wrappers = slices.Clip(c.Words), slices.Clip(c.Via), slices.Clip(c.Wrappers)
		c.Assigns, c.Redirects, c.Alt, c.From = slices.Clip(c.Assigns), slices.Clip(c.Redirects), slices.Clip(c.Alt), slices.Clip(c.From)
	}
	k.line = strings.Clone(k.line) // it may be part of a large text
	memo.Lock()
	defer memo.Unlock()
	if memo.lines == nil || len(memo.lines) >= memoLines { // a new line is asked about many times, an old one hardly
		memo.lines = make(map[memoKey]parsed, memoLines)
	}
	memo.lines[k] = v
}
