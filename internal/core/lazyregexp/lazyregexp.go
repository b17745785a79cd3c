// Package lazyregexp compiles regular expressions at their first use. pawl has
// more of them than any one run needs, and those at package level would be
// compiled at every start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the expression, compiled once. It panics at
// the first call where the pattern is not one: a test that calls it tells.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
