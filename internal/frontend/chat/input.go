package chat

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// Input is a person's entry. Exactly one of its parts is set; none for an empty entry.
type Input struct {
	Leave   bool
	Shell   bool   // a command of the person's own, which is Text
	Command string // a slash command, whose arguments are Text
	Text    string // otherwise: a prompt
}

// ReadInput classifies an entry (SPEC 10.1).
func ReadInput(text string) Input {
	text = strings.TrimSpace(text)
	switch text {
	case "exit", "quit": // what people type to leave, everywhere
		return Input{Leave: true}
	}
	if command, ok := strings.CutPrefix(text, "!"); ok {
		return Input{Shell: true, Text: strings.TrimSpace(command)}
	}
	if words, ok := strings.CutPrefix(text, "# "); ok && !strings.Contains(text, "\n") { // more lines are a text with a heading
		return Input{Command: "memory", Text: "add " + strings.TrimSpace(words)}
	}
	if name, args, ok := slash.Parse(text); ok {
		if name == "" {
			name = "help"
		}
		return Input{Command: name, Text: args}
	}
	return Input{Text: text}
}

// Edits is the answer that allows this edit and all later ones: it changes the
// mode, and is not a scope of a grant.
const Edits event.Scope = "edits"

// parseAnswer reads an answer to a permission question. Only a single word allows
// anything. A sentence that does not begin like a yes is a no with its reason,
// since people type it when they want something else. For anything else the
// scope is empty.
func parseAnswer(in string) (scope event.Scope, why string) {
	in = strings.TrimSpace(in)
	switch strings.ToLower(strings.TrimRight(in, ".!")) {
	case "e", "edits", "all edits", "every edit", "edits from now on", "all edits from now on", "every edit from now on", "yes to all edits", "accept edits", "accept-edits":
		return Edits, ""
	}
	word, rest := in, ""
	if i := strings.IndexAny(in, " ,:;.\n"); i >= 0 {
		word, rest = in[:i], strings.TrimLeft(in[i:], " ,:;.\n")
	}
	switch strings.ToLower(word) {
	case "y", "yes":
		scope = event.Once
	case "s", "session":
		scope = event.Session
	case "a", "always":
		scope = event.Always
	case "n", "no":
		return event.No, rest
	case "", "o", "one", "ok", "okay", "sure", "yep", "yeah", "allow":
		return "", ""
	default:
		if rest == "" {
			return "", "" // a slip of the finger is not a reason
		}
		return event.No, in
	}
	if rest != "" {
		return "", "" // "yes, but …" is not a yes
	}
	return scope, ""
}
