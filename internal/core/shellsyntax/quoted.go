package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// quotesThatDoNot finds an expansion in double quotes or in a here-document in
// which single quotes hold something that runs, nil where there is none: there
// they are ordinary characters to bash, as in "${x:-'$(date)'}", and the parser
// takes them for quotes.
func quotesThatDoNot(file *syntax.File) (found syntax.Node) {
	within := func(p *syntax.ParamExp) {
		syntax.Walk(p, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false // quotes begin anew
			case *syntax.SglQuoted:
				if strings.ContainsAny(n.Value, "$`") {
					found = p
				}
			}
			return found == nil
		})
	}
	quoted := func(parts []syntax.WordPart) {
		for _, part := range parts {
			if p, ok := part.(*syntax.ParamExp); ok && found == nil {
				within(p)
			}
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DblQuoted:
			quoted(n.Parts)
		case *syntax.Redirect:
			if n.Hdoc != nil {
				quoted(n.Hdoc.Parts)
			}
		}
		return found == nil
	})
	return found
}
