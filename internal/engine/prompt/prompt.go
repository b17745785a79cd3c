// Package prompt has the system prompt. The text is in system.md; a run adds
// only facts that are fixed at a rebase (SPEC 5.7).
package prompt

import (
	_ "embed" // the text
	"fmt"
	"strings"
)

//go:embed system.md
var system string

// Facts is what a run adds.
type Facts struct {
	Dir   string // the workspace
	OS    string // linux, darwin
	Shell string // the shell that the bash tool runs
	Git   bool   // the workspace is in a git repository
	Date  string // the day the session began, 2006-01-02
	Mode  string // the permission mode the session began with
	// Person: somebody is there to answer.
	Person bool
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
	fmt.Fprintf(&b, "\n- System: %s, shell: %s\n- Date: %s\n- Permission mode: %s\n", f.OS, f.Shell, f.Date, f.Mode)
	if !f.Person {
		b.WriteString("- Nobody is there to answer: decide by yourself, and say at the end what you decided. What would need a permission is denied.\n")
	}
	return b.String()
}
