// Package prompt has the system prompt. The text is in system.md; a run adds
// only facts that are fixed at a rebase (SPEC 5.7).
package prompt

import (
	_ "embed" // the text
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/permission"
)

//go:embed system.md
var system string

// Facts is what a run adds.
type Facts struct {
	Dir   string          // the workspace
	OS    string          // linux, darwin
	Shell string          // the shell that the bash tool runs
	Git   bool            // the workspace is in a git repository
	Date  string          // the day the session began, 2006-01-02
	Mode  permission.Mode // the permission mode the session began with
	// Person: somebody is there to answer.
	Person bool
	// Confined: what commands may touch is confined, and $TMPDIR is theirs. Scratch: so are
	// new files in /tmp.
	Confined, Scratch bool
}

// System returns the system prompt.
func System(f Facts) string {
	var b strings.Builder
	b.WriteString(system)
	b.WriteString("\nThis session\n")
	fmt.Fprintf(&b, "- Workspace: %s", f.Dir)
	if f.Git {
		b.WriteString(" (a git repository)")
	}
	fmt.Fprintf(&b, "\n- System: %s, shell: %s\n- Date: %s\n- Permission mode: %s: %s\n", f.OS, f.Shell, f.Date, f.Mode, f.Mode.Told())
	if f.Confined {
		b.WriteString(closed(f))
	}
	if !f.Person {
		b.WriteString("- Nobody is there to answer: decide by yourself, and say at the end what you decided. What would need a permission is denied.\n")
	}
	return b.String()
}

// closed says what the sandbox keeps from commands, and the way there is.
func closed(f Facts) string {
	out := "- Commands: scratch files go to $TMPDIR, not /tmp."
	if f.Scratch {
		out = "- Commands: new files in /tmp and $TMPDIR are yours (what is to be run goes to $TMPDIR)."
	}
	out += " Closed are keys and agents, files elsewhere but for toolchains and libraries, and the network but for granted hosts.\n"
	if f.Person {
		out += "- A command that needs the user's keys (push over ssh, signing, gh, docker) is offered to them to run as them: run it as a call of its own. Where a registry wants a key, say \"needs\": [\"unconfined\"].\n"
	}
	return out
}
