package tools

import (
	"regexp"
	"strings"
	"sync"
)

// Models omit text and write a placeholder instead, such as "// ... existing
// code ..." or "(rest of methods ...)". Written to a file, it would delete the
// omitted text.

// placeholder matches a whole line that is a comment or in parentheses, has an
// ellipsis, and means that something was omitted.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	const (
		dots  = `(?:\.{3,}|…)`
		thing = `(?:code|codes|methods?|functions?|implementations?|logic|lines|content|contents|imports|fields|tests|cases|file|class|body|definitions?|declarations?|properties|props|section|module|script|text|parts?|statements?|items|entries|rows|rules|styles|config|configuration|routes|handlers|helpers|setup|stuff)`
		adj   = `(?:rest|remaining|remainder|existing|unchanged|previous|other|same|original|omitted|unmodified)`
		words = `(?:[a-z_'` + "`" + `(),-]+\s+){0,5}`
	)
	said := `(?:(?:the\s+)?(?:rest|remainder)\s+of\s+` + words + `[a-z_'` + "`" + `()-]+` +
		`|` + words + adj + `\s+` + words + thing + `(?:\s+(?:here|above|below|unchanged|omitted|as before|remains?(?: (?:unchanged|the same))?|stays? (?:unchanged|the same)))?` +
		`|` + thing + `\s+(?:unchanged|omitted|as before|remains?(?: (?:unchanged|the same))?)` +
		`|(?:unchanged|omitted|as before)(?:\s+` + thing + `)?)`
	inner := `(?:\[|\()?\s*(?:` + dots + `\s*\(?` + said + `\)?\s*(?:` + dots + `)?|` + said + `\s*` + dots + `)\s*(?:\]|\))?\s*\.?`
	return regexp.MustCompile(`(?i)^\s*(?:(?://+|#+|--|;+|%+|/\*+|\{/\*|<!--|\*)\s*` + inner + `\s*(?:\*/\}?|-->)?|\(\s*` + inner + `\s*\))\s*$`)
})

// omission returns a line of a new text that is a placeholder and is not in the old text.
func omission(old, text string) (string, bool) {
	if !strings.Contains(text, "...") && !strings.Contains(text, "…") {
		return "", false
	}
	var had map[string]bool
	for line := range strings.Lines(text) {
		l := strip(line)
		if len(l) > 200 || !strings.Contains(l, "...") && !strings.Contains(l, "…") || !placeholder().MatchString(l) {
			continue
		}
		if had == nil {
			had = map[string]bool{}
			for o := range strings.Lines(old) {
				had[strip(o)] = true
			}
		}
		if !had[l] {
			return l, true
		}
	}
	return "", false
}

// complete returns an error for a new text that contains a placeholder.
func complete(p, old, text string) error {
	if l, ok := omission(old, text); ok {
		return failf("the new text of %s has the line %q, which stands for text that was left out: it would be written as it is; "+
			"give the text itself, or a smaller edit. Nothing was written", p, l)
	}
	return nil
}
