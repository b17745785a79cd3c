package chat

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Only a word that stands alone allows anything.
func TestMeaning(t *testing.T) {
	for in, want := range map[string]struct {
		scope event.Scope
		why   string
	}{
		"y": {event.Once, ""}, " YES ": {event.Once, ""}, "yes.": {event.Once, ""},
		"s": {event.Session, ""}, "always": {event.Always, ""}, "A": {event.Always, ""},
		"n": {event.No, ""}, "No": {event.No, ""}, "no, use make": {event.No, "use make"}, "n because": {event.No, "because"},
		"use npm instead": {event.No, "use npm instead"}, "nothing like that": {event.No, "nothing like that"},
		"yes but carefully": {}, "always, please": {}, "e": {Edits, ""}, "All edits from now on.": {Edits, ""}, "every edit": {Edits, ""}, "edit it by hand": {event.No, "edit it by hand"},
		"ok": {}, "ok then": {}, "": {}, "x": {}, "yn": {}, "  ": {}, "sure thing": {}, "o": {},
	} {
		scope, why := parseAnswer(in)
		if scope != want.scope || why != want.why {
			t.Errorf("%q means %q %q, want %q %q", in, scope, why, want.scope, want.why)
		}
	}
}

// SPEC 10.1: a command of the shell, a slash command, a word to leave, nothing,
// or else a prompt: a path is not a command.
func TestReadInput(t *testing.T) {
	for in, want := range map[string]Input{
		"": {}, " \n ": {}, "exit": {Leave: true}, " quit ": {Leave: true}, "exit now": {Text: "exit now"},
		"!ls -l": {Shell: true, Text: "ls -l"}, " ! ": {Shell: true}, "/mode  auto": {Command: "mode", Text: "auto"}, "/": {Command: "help"},
		"/etc/hosts is wrong": {Text: "/etc/hosts is wrong"}, "/a\nb": {Text: "/a\nb"},
		"# use tabs ": {Command: "memory", Text: "add use tabs"}, "#12 is not fixed": {Text: "#12 is not fixed"}, "#": {Text: "#"}, " # ": {Text: "#"},
		"# Plan\n\n1. a": {Text: "# Plan\n\n1. a"}, "## part": {Text: "## part"}, "#!/bin/sh": {Text: "#!/bin/sh"}, " fix it ": {Text: "fix it"},
	} {
		if got := ReadInput(in); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}
