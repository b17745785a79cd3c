package trust

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// This file knows the hooks that a folder configures for pawl. A hook runs its
// command line and the files of the folder that the line names: when one of
// them changes, pawl asks again.

// HookFiles are the files, relative to a folder, that configure hooks. pawl
// runs these hooks where they are trusted.
var HookFiles = []string{".claude/settings.json", ".claude/settings.local.json", ".pawl/config.json"}

// Hooks returns the hooks that one of HookFiles configures. An unreadable file has none.
func Hooks(s Source) []hook.Rule {
	if s.Unread {
		return nil
	}
	all, _ := object(s)
	rules, err := hook.Rules(s.Name, all["hooks"])
	if err != nil {
		return nil
	}
	for i := range rules {
		rules[i].Free = false // only a person's own hook leaves the sandbox
	}
	return rules
}

// HookPart returns the part for a hook. named are the files that it runs.
func HookPart(r hook.Rule, named []Source) Part {
	return Define(Hook, r.Name+" ("+r.From+")", []string{r.Command}, append([]Source{{Name: r.From, Text: r.Config}}, named...))
}

// hookParts returns the hooks of a settings file. Those that pawl does not run
// count as another program's, of this kind.
func hookParts(s Source, raw json.RawMessage, kind Kind) []Part {
	rules, err := hook.Rules(s.Name, raw)
	if err != nil {
		return []Part{Define(Editor, "hooks ("+s.Name+")", nil, []Source{{Name: s.Name, Text: string(raw)}})}
	}
	var out []Part
	for _, r := range rules {
		p := HookPart(r, nil)
		if kind != Hook || r.InactiveBecause != "" {
			p = Define(Editor, "hook "+r.Name+" ("+r.From+")", []string{r.Command}, []Source{{Name: s.Name, Text: r.Config}})
		}
		out = append(out, p)
	}
	return out
}

// Named returns the files of a folder that a command line may run, relative to the
// folder, whether they exist or not. surely are those in the position of a command and
// the arguments of an interpreter; maybe are all other files that it names, which are
// often files that it writes.
func Named(line string) (surely, maybe []string) {
	for _, v := range []string{"CLAUDE_PROJECT_DIR", "PAWL_PROJECT_DIR"} {
		for _, form := range []string{`"${` + v + `}"/`, `"$` + v + `"/`, "${" + v + "}/", "$" + v + "/"} {
			line = strings.ReplaceAll(line, form, "./")
		}
	}
	add := func(to *[]string, name string) {
		if name = path.Clean(name); filepath.IsLocal(name) && name != "." && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";|&\n()`", r) }) {
		first, runs, written := true, false, false
		for _, w := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" \t\"'", r) }) {
			name, assigns, _ := strings.Cut(w, "=")
			switch {
			case strings.Contains(w, ">"):
				at := strings.LastIndex(w, ">") + 1
				add(&maybe, w[at:])
				written = at == len(w)
				continue
			case written:
				add(&maybe, w)
			case first && assigns != "": // NAME=value before a command
				add(&maybe, assigns)
				continue
			case first || runs:
				add(&surely, w)
				for _, b := range command.BuildFileOf(w).Files() {
					add(&surely, b)
				}
				runs = runs || command.RunsArguments(path.Base(w))
			default:
				add(&maybe, name)
				add(&maybe, assigns)
			}
			first, written = false, false
		}
	}
	return surely, maybe
}

// Script reports whether a file that a command line names looks like a program.
func Script(name, text string, executable bool) bool {
	switch path.Ext(name) {
	case ".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".ps1", ".awk", ".sed", ".jq", ".bat", ".cmd":
		return true
	}
	return executable || strings.HasPrefix(text, "#!")
}

// Words returns the words of a command line that could be file names: the texts
// between blanks, quotes and the shell's punctuation.
func Words(command string) []string {
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`<>|&;()=", r) })
}
