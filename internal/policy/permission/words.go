package permission

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// InWords says what a rule that a question offers covers, for a person who does not know how
// rules are written.
func InWords(rule string) string {
	var out []string
	for _, one := range splitRules(rule) {
		out = append(out, inWords(one))
	}
	if n := len(out) - 1; n > 0 {
		return strings.Join(out[:n], ", ") + " and " + out[n]
	}
	return strings.Join(out, "")
}

func inWords(rule string) string {
	name, what, brackets := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	if !brackets {
		return "each call of " + rule
	}
	where := " in " + what
	if dir, ok := strings.CutSuffix(what, "/**"); ok {
		where = " in " + dir
	} else if what == "." {
		where = " in this folder"
	}
	switch name {
	case tool.CommandFamily:
		return commandWords(what)
	case unconfined:
		return commandWords(what) + " outside the sandbox"
	case tool.EditFamily:
		return "edits" + where
	case tool.ReadFamily:
		return "reads" + where
	case tool.WebFamily:
		return "pages of " + what
	case network:
		return "connections to " + what
	}
	return rule
}

func commandWords(pattern string) string {
	if begin, ok := strings.CutSuffix(pattern, " *"); ok {
		return "commands that begin with `" + begin + "`"
	}
	return "`" + pattern + "`"
}
