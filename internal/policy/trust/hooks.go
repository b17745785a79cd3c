package trust

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// This file knows the hooks that a folder configures for pawl. A hook runs its
// command line and the files of the folder that the line names: when one of
// them changes, pawl asks again.

// HookFiles are the files, relative to a folder, that configure hooks. pawl
// runs these hooks where they are trusted.
var HookFiles = guidance.Hooks

// Hooks returns the hooks that one of HookFiles configures; none if it cannot be read, or
// has one that pawl does not know, which is the error.
func Hooks(s Source) ([]hook.Rule, error) {
	if s.Unread {
		return nil, nil
	}
	all, _ := object(s)
	rules, err := hook.Rules(s.Name, all["hooks"])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	for i := range rules {
		rules[i].Free = false // only a person's own hook leaves the sandbox
	}
	return rules, nil
}

// HookPart returns the part for a hook. named are the files that it runs.
func HookPart(r hook.Rule, named []Source) Part {
	return Define(Hook, r.Name+" ("+r.From+")", []string{r.Command}, append([]Source{{Name: r.From, Text: r.Config}}, named...))
}

// hookParts returns the hooks of a settings file. Those that pawl does not run
// count as another program's.
func hookParts(s Source, raw json.RawMessage, kind Kind) []Part {
	rules, err := hook.Rules(s.Name, raw)
	if err != nil {
		return []Part{Define(Other, "hooks ("+s.Name+")", nil, []Source{{Name: s.Name, Text: string(raw)}})}
	}
	var out []Part
	for _, r := range rules {
		p := HookPart(r, nil)
		if kind != Hook || r.InactiveBecause != "" {
			p = Define(Other, "hook "+r.Name+" ("+r.From+")", []string{r.Command}, []Source{{Name: s.Name, Text: r.Config}})
		}
		out = append(out, p)
	}
	return out
}

// Words returns the words of a command line that could be file names: the texts
// between blanks, quotes and the shell's punctuation.
func Words(command string) []string {
	return strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`<>|&;()=", r) })
}
