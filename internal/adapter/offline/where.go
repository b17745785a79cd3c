package offline

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// planWhere reports where a name is defined and used, and quotes the lines: from the
// language server, otherwise from a search of the text.
func planWhere(h *hands, in intent) {
	if h.serves("lsp_definition") && h.serves("lsp_references") {
		err := whereServed(h, in)
		if err == nil {
			return
		}
		if errors.Is(err, errNotAll) {
			whereText(h, in, "There are more projects here than one question can ask language servers about, or a server does not work, so I searched the text: comments and strings count.")
			return
		}
		if !errors.Is(err, errUnknown) {
			h.Stop(err)
			return
		}
		whereText(h, in, "No language server knows a symbol `"+in.name+"` here, so I searched the text: comments and strings count.")
		return
	}
	whereText(h, in, "This session has no language server, so I searched the text: comments, strings and other things of the same name count ("+noServer+").")
}

// definitionsShown is how many symbols of one name are examined.
const definitionsShown = 5

// whereServed asks the language server.
func whereServed(h *hands, in intent) error {
	symbols := []named{{symbol: in.name}}
	found, _, err := h.places("lsp_definition", symbols[0])
	notAll := false
	if s := (*several)(nil); errors.As(err, &s) {
		found, symbols, notAll, err = s.spots, nil, s.more, nil
		for _, d := range found[:min(len(found), definitionsShown)] {
			symbols = append(symbols, named{d.path, d.line, last(in.name)})
		}
		notAll = notAll || len(found) > definitionsShown
	}
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	defs, uses := lines(found, listed), []spot(nil)
	for _, n := range symbols {
		used, more, err := h.places("lsp_references", n)
		if err != nil {
			return err
		}
		notAll = notAll || more
		uses = append(uses, lines(used, listed)...)
	}
	h.Say(tellWhere(in, defs, uses))
	if notAll {
		h.Say("The language server gave more than one answer lists, so this is not all.")
	}
	return nil
}

// lines returns the spots on lines that are not listed yet, and lists them: a line
// with two uses is one line.
func lines(spots []spot, listed map[string]bool) []spot {
	var out []spot
	for _, s := range spots {
		if !listed[s.where()] {
			listed[s.where()] = true
			out = append(out, s)
		}
	}
	return out
}

// whereText searches the text. A line that looks like a definition is reported as one;
// why states how reliable the answer is.
func whereText(h *hands, in intent, why string) {
	hits, more, err := h.Grep(wordPattern(last(in.name)))
	if err != nil {
		h.Stop(err)
		return
	}
	var defs, uses []spot
	define := definition(last(in.name))
	for _, x := range hits {
		if define.MatchString(x.text) {
			defs = append(defs, x)
		} else {
			uses = append(uses, x)
		}
	}
	h.Say(why)
	h.Say(tellWhere(in, defs, uses))
	if more {
		h.Say("There are more matches than one search lists, so this is not all.")
	}
}

func tellWhere(in intent, defs, uses []spot) string {
	var b strings.Builder
	quoteAll := func(ps []spot, limit int) {
		for i, p := range ps {
			if i == limit {
				fmt.Fprintf(&b, "\n  and %d more", len(ps)-i)
				break
			}
			fmt.Fprintf(&b, "\n  %s:%d: %s", p.path, p.line, clip(strings.TrimSpace(p.text)))
		}
	}
	if len(defs)+len(uses) == 0 {
		return "`" + in.name + "` appears nowhere in the files that I can search here."
	}
	switch {
	case len(defs) == 0:
		fmt.Fprintf(&b, "I found no definition of `%s` here.", in.name)
	case len(defs) == 1:
		fmt.Fprintf(&b, "`%s` is defined at %s:", in.name, defs[0].where())
		quoteAll(defs, 1)
	default:
		fmt.Fprintf(&b, "`%s` is defined in %s:", in.name, count(len(defs), "place"))
		quoteAll(defs, 10)
	}
	if len(uses) == 0 {
		if len(defs) > 0 {
			b.WriteString("\nNothing here uses it.")
		}
	} else {
		fmt.Fprintf(&b, "\nIt is used on %s:", count(len(uses), "line"))
		quoteAll(uses, map[bool]int{true: 40, false: 15}[in.callers])
	}
	return b.String()
}

// clip shortens a line for quoting, at a rune's end.
func clip(s string) string {
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}

// definition matches a line that looks like a definition of a name, by the words around
// it: in most languages a keyword, a method of Go, a variable or function of a script.
func definition(name string) *regexp.Regexp {
	q := regexp.QuoteMeta(name)
	return regexp.MustCompile(`(?:^|` + notWord + `)(?:def|class|function|fn|struct|enum|trait|type|interface|module|mod|const|let|var|val|fun|func|static|#define|namespace|object|protocol|record|sub|defmodule|union)\s+[*&]?` + q +
		`(?:$|` + notWord + `)|^func \([^)]*\) ` + q + `[(\[]|^` + q + `(?:\(\)\s*\{|\s*=(?:[^=]|$))`)
}
