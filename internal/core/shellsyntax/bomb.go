package shellsyntax

import "mvdan.cc/sh/v3/syntax"

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
