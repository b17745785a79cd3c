package brief

import (
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// kindNames are the kinds of programs of a folder, in singular and plural.
var kindNames = []struct{ kind, one, many string }{
	{"hook", "hook", "hooks"},
	{"mcp", "MCP server", "MCP servers"},
	{"lsp", "language server", "language servers"},
	{"env", "environment file", "environment files"},
	{"git", "git hook or setting", "git hooks or settings"},
	{"editor", "editor's task", "editors' tasks"},
	{"other", "program of another agent", "programs of other agents"},
}

// Inert describes the programs of a folder that do not run because nobody trusts them,
// "" if there are none. Environment files, git's programs, an editor's and another agent's are mentioned
// only together with others: nearly every folder has some.
func Inert(t event.FolderTrust) string {
	var parts, checks []string
	counts := map[string]int{}
	for _, p := range t.Inert {
		if counts[p.Kind]++; p.Kind == "check" {
			checks = append(checks, p.Runs...)
		}
	}
	if t.State == "trusted" || counts["check"]+counts["hook"]+counts["mcp"]+counts["lsp"] == 0 {
		return ""
	}
	if len(checks) > 0 {
		more := ""
		if len(checks) > 3 {
			checks, more = checks[:3], ", …"
		}
		parts = append(parts, "its checks ("+plain.Line(cut.Runes(strings.Join(checks, ", "), 200))+more+")")
	}
	for _, k := range kindNames {
		if n := counts[k.kind]; n > 0 {
			words := map[bool]string{true: k.one, false: k.many}[n == 1]
			parts = append(parts, strconv.Itoa(n)+" "+words)
		}
	}
	do := "do"
	if len(t.Inert) == 1 && len(checks) == 0 {
		do = "does"
	}
	why := "this folder is not trusted: "
	switch t.State {
	case "changed":
		why = "this folder changed since you trusted it: "
	case "nothing":
		why = ""
	}
	return why + list(parts) + " " + do + " not run (see pawl trust)"
}

// list joins words with commas and "and".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
