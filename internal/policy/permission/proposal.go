package permission

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// proposal returns the rule that a grant adds: program and subcommand with any arguments,
// where the same with other arguments does as little (again); otherwise exactly this line; "" if
// words are unknown.
func proposal(c shellsyntax.Command, again bool) string {
	if len(c.Words) == 0 || c.Code || !c.Words[0].Known || command.Feeds(c) {
		return ""
	}
	plain := command.Transparent(c) && len(command.Executing(c)) == 0 && !slices.ContainsFunc(c.Assigns, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return !command.SafeVariable(name)
	})
	keep := 1
	for n := command.Subcommands(c); keep < len(c.Words) && keep <= n && c.Words[keep].Known && plainSub(c.Words[keep].Text); {
		keep++
	}
	switch {
	case !plain || !again || command.ExactOnly(base(c)):
		return exactRule(c)
	case len(c.Words) == 1:
		return ruleOf(c.Words[:keep], "")
	}
	return ruleOf(c.Words[:keep], " *")
}

func plainSub(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-:_") == ""
}

// exactRule returns the rule for exactly this command, with its wrappers and assignments.
func exactRule(c shellsyntax.Command) string {
	var words []shellsyntax.Word
	if len(c.Via) == 0 {
		for _, a := range c.Assigns {
			words = append(words, shellsyntax.Word{Text: a, Known: true})
		}
	} else if !command.Transparent(c) {
		words = slices.Clone(c.Via)
	}
	words = append(words, c.Words...)
	n := 0
	for _, w := range words {
		n += len(w.Text)
	}
	if n > 300 {
		return ""
	}
	return ruleOf(words, "")
}

// ruleOf returns the rule for these words, "" if one is unknown or cannot be shown.
func ruleOf(words []shellsyntax.Word, more string) string {
	var parts []string
	for _, w := range words {
		if !w.Known || !printable(w.Text) {
			return ""
		}
		parts = append(parts, quoteStar(w.Text))
	}
	return tool.CommandFamily + "(" + strings.Join(parts, " ") + more + ")"
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// quoteStar quotes a word of a pattern that would have another meaning.
func quoteStar(s string) string {
	if s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@%+:~^{}") != "" || strings.HasSuffix(s, ":") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
