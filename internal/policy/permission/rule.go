package permission

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// List is the effect of a rule.
type List string

// The lists.
const (
	Allows List = "allow"
	Asks   List = "ask"
	Denies List = "deny"
)

// Source is where a rule comes from.
type Source string

// The sources.
const (
	User    Source = "user"    // the user's own settings, and permanent grants
	Project Source = "project" // the repository's; they only restrict
	Flag    Source = "flag"
	Granted Source = "session" // granted in this session
)

// Rule is one rule. Text is its normal form, which parses to the same rule.
type Rule struct {
	List List
	From Source
	Tool string // a family, or a tool's name or alias: todo, todowrite, mcp__server__tool
	// Pattern is the text in the brackets; Bare: there are no brackets.
	Pattern string
	Bare    bool
	Text    string
	// Origin is the rule as it was written, and where, for people; "" for a rule that
	// was written in this form.
	Origin string

	agreed moment // when a person gave it; 0: not known
	turn   bool   // it ends with the turn

	words []string // of a bash rule
	plain string   // Tool, folded
}

// ErrRule means that a rule cannot be read.
var ErrRule = errors.New("not a permission rule")

func ruleError(text, why string) error {
	return fmt.Errorf("%w: %q: %s; rules look like bash(go test *), edit(src/**), web_fetch(example.com) or read", ErrRule, text, why)
}

// ParseRules reads one rule, or several separated by commas or spaces, as in
// --allowed-tools.
func ParseRules(list List, from Source, text string) ([]Rule, error) {
	var out []Rule
	for _, one := range splitRules(text) {
		r, err := ParseRule(list, from, one)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, ruleError(text, "it is empty")
	}
	return out, nil
}

// splitRules splits at commas and blanks outside brackets. Brackets inside a
// pattern count, so that sh(a (b) c) stays whole; quotes hide brackets.
func splitRules(text string) []string {
	var out []string
	depth, begin := 0, 0
	quote := byte(0)
	flush := func(end int) {
		if s := strings.TrimSpace(text[begin:end]); s != "" {
			out = append(out, s)
		}
		begin = end + 1
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case depth > 0 && c == '\\':
			i++
		case depth > 0 && (c == '\'' || c == '"') && strings.IndexByte(text[i+1:], c) >= 0:
			quote = c
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n'):
			flush(i)
		}
	}
	if begin < len(text) {
		flush(len(text))
	}
	return out
}

// ParseRule reads one rule.
func ParseRule(list List, from Source, text string) (Rule, error) {
	text = strings.TrimSpace(text)
	name, rest, brackets := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	switch {
	case text == "":
		return Rule{}, ruleError(text, "it is empty")
	case brackets && !strings.HasSuffix(rest, ")"):
		return Rule{}, ruleError(text, "the bracket is not closed")
	case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.*") != "":
		return Rule{}, ruleError(text, "a tool's name comes first")
	}
	of := toolName(name)
	if strings.Contains(of, "*") && !strings.HasPrefix(of, "mcp__") {
		return Rule{}, ruleError(text, "only names of MCP tools may hold *")
	}
	if !brackets {
		return newRule(list, from, of, "", of)
	}
	pattern := strings.TrimSpace(strings.TrimSuffix(rest, ")"))
	if pattern == "" {
		return Rule{}, ruleError(text, "nothing is between the brackets")
	}
	return newRule(list, from, of, pattern, of+"("+pattern+")")
}

func newRule(list List, from Source, of, pattern, text string) (Rule, error) {
	r := Rule{List: list, From: from, Tool: of, plain: tool.PlainName(of), Pattern: pattern, Bare: pattern == "" || pattern == "*" || pattern == "**", Text: text}
	if strings.ContainsAny(text, "\x00\n\r") {
		return Rule{}, ruleError(text, "it holds a control character")
	}
	if r.Bare {
		return r, nil
	}
	switch {
	case of == tool.CommandFamily || of == unconfined:
		var ok bool
		if r.words, ok = patternWords(pattern); !ok {
			return Rule{}, ruleError(text, "a quotation mark is not closed")
		}
		if why := guardsNothing(r.words); list != Allows && why != "" {
			return Rule{}, ruleError(text, why)
		}
		if r.words[0] == "*" && list == Allows { // a guard may be about any program
			return Rule{}, ruleError(text, "the program's name comes first")
		}
	case of == tool.EditFamily && list == Allows && gitControl(pattern):
		return Rule{}, ruleError(text, "pawl never writes what decides which programs git runs: do it yourself")
	case of == network:
		if _, err := host.ParseGrant(pattern); err != nil {
			return Rule{}, ruleError(text, err.Error())
		}
		r.Pattern = strings.ToLower(pattern)
	case of == tool.WebFamily:
		h := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(pattern), "domain:"), "*.")
		if h == "" || strings.ContainsAny(h, "/*@ ") {
			return Rule{}, ruleError(text, "a host such as example.com or *.example.com goes between the brackets")
		}
		r.Pattern = strings.TrimPrefix(strings.ToLower(pattern), "domain:")
	}
	return r, nil
}

// guardsNothing returns why a pattern that denies or asks would match no command, "" if
// it can match one.
func guardsNothing(words []string) string {
	for _, w := range words {
		if strings.Trim(w, "|;&<>") == "" {
			return "each command of a line is judged by itself, so a rule is about one command without " + w
		}
	}
	if command.Assignment(words[0]) {
		return "it begins with a variable, and what follows is compared"
	}
	return ""
}

// toolName returns the name of what a rule covers: pawl's name for a family, and
// otherwise the name as written.
func toolName(s string) string {
	if family := tool.FamilyOf(s); family != "" {
		return family
	}
	if l := strings.ToLower(s); !strings.HasPrefix(l, "mcp__") {
		return l
	}
	return s
}

// patternWords splits a command pattern at blanks. Quotes keep a word together,
// and "prog sub:*" is "prog sub *".
func patternWords(s string) ([]string, bool) {
	if p, ok := strings.CutSuffix(s, ":*"); ok {
		s = p + " *"
	}
	var out []string
	var cur strings.Builder
	quote, in := byte(0), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'' || quote != 0 && c != '\\':
			putPattern(&cur, c, true)
		case c == '\\' && i+1 < len(s):
			i++
			putPattern(&cur, s[i], true)
			in = true
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			if in {
				out = append(out, cur.String())
				cur.Reset()
				in = false
			}
		default:
			putPattern(&cur, c, false)
			in = true
		}
	}
	if in {
		out = append(out, cur.String())
	}
	return out, quote == 0 && len(out) > 0
}

const quotedStar = confine.QuotedStar

func putPattern(b *strings.Builder, c byte, quoted bool) {
	if quoted && c == '*' {
		c = quotedStar
	}
	b.WriteByte(c)
}
