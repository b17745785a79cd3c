package shellsyntax

import "mvdan.cc/sh/v3/syntax"

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
