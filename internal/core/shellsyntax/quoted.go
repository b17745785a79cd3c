package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// quotesThatDoNot finds an expansion in double quotes or in a here-document that has
// single quotes around something that runs, as in "${x:-'$(date)'}". It returns nil if
// there is none. Bash treats these single quotes as ordinary characters, but the parser
// treats them as quotes.
func quotesThatDoNot(file *syntax.File) (found syntax.Node) {
	within := func(p *syntax.ParamExp) {
		syntax.Walk(p, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ProcSubst:
				return false // quotes start again
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
