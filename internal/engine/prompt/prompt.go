// Package prompt has the system prompts: of a session (system.md), of agents that only
// read (explore.md) and of other agents (agent.md). A run adds only facts that are fixed at
// a rebase (SPEC 5.7).
package prompt

import (
	_ "embed" // the texts
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/permission"
)

var (
	//go:embed system.md
	system string
	//go:embed explore.md
	explore string
	//go:embed agent.md
	agent string
)

// Facts is what a run adds.
type Facts struct {
	Dir   string          // the workspace
	OS    string          // linux, darwin
	Shell string          // the shell that the bash tool runs
	Git   string          // the state of the git repository that the workspace is in, "" if it is in none
	Date  string          // the day the session began, 2006-01-02
	Mode  permission.Mode // the permission mode the session began with
	// Languages are the most used ones; Servers the language servers that answer lsp tools.
	Languages, Servers []string
	// Checks are the commands that check the project. Run: pawl runs them after a turn that
	// changed files.
	Checks []string
	Run    bool
	// Lacking are checks of the project that cannot run on this machine, each with why.
	Lacking []string
	// Person: somebody is there to answer.
	Person bool
	// Confined: what commands may touch is confined, and $TMPDIR is theirs. Scratch: so are
	// new files in /tmp.
	Confined, Scratch bool
}

// The names of facts in a system prompt.
const (
	git       = "Git"
	languages = "Languages, by files"
	servers   = "Language servers"
	checks    = "Checks of the project"
	lacking   = "Checks that cannot run here"
	byThem    = "; pawl runs them when you end your turn, and compares with what failed before"
	onlyParts = ": run only the tests of what you change"
)

// Recall sets what the system prompt of an earlier session says of the repository and of its
// programs, which differs from day to day.
func (f *Facts) Recall(system string) {
	f.Git, f.Languages, f.Servers, f.Checks, f.Lacking, f.Run = "", nil, nil, nil, nil, false
	for l := range strings.Lines(system) {
		name, text, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(l, "\n"), "- "), ": ")
		switch name {
		case git:
			f.Git = text
		case languages:
			f.Languages = strings.Split(text, ", ")
		case servers:
			f.Servers = strings.Split(text, ", ")
		case lacking:
			f.Lacking = strings.Split(text, "; ")
		case checks:
			text, _, _ = strings.Cut(text, "`;")
			f.Checks, f.Run = strings.Split(strings.Trim(text, "`"), "`, `"), strings.Contains(l, byThem)
		}
	}
}

// System returns the system prompt of a session.
func System(f Facts) string {
	var b strings.Builder
	b.WriteString(system)
	fmt.Fprintf(&b, "\nThis session\n- Workspace: %s\n", f.Dir)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, text)
		}
	}
	line(git, f.Git)
	line(languages, strings.Join(f.Languages, ", "))
	line(servers, strings.Join(f.Servers, ", "))
	if len(f.Checks) > 0 {
		text := "`" + strings.Join(f.Checks, "`, `") + "`"
		if f.Run {
			text += byThem + onlyParts
		} else {
			text += "; nobody runs them but you"
		}
		line(checks, text)
	}
	line(lacking, strings.Join(f.Lacking, "; "))
	fmt.Fprintf(&b, "- System: %s, shell: %s, date: %s\n- Permission mode: %s: %s\n", f.OS, f.Shell, f.Date, f.Mode, f.Mode.Told())
	if f.Confined {
		b.WriteString(closed(f))
	}
	if !f.Person {
		b.WriteString("- Nobody is there to answer: decide by yourself, and say at the end what you decided. What would need a permission is denied.\n")
	}
	return b.String()
}

// ForAgent returns the system prompt of an agent, made of that of the session that starts
// it: its own beginning, and the same facts and rules. A prompt that is not pawl's own
// stays as it is.
func ForAgent(of string, readOnly bool) string {
	rest, ok := strings.CutPrefix(of, system)
	if !ok {
		rest, ok = strings.CutPrefix(of, agent) // an agent starts one
	}
	switch {
	case !ok:
		return of
	case readOnly:
		return explore + rest
	}
	return agent + rest
}

// closed says what the sandbox keeps from commands, and the way there is.
func closed(f Facts) string {
	out := "- Commands may create scratch files in $TMPDIR, not in /tmp."
	if f.Scratch {
		out = "- Commands may create files in /tmp and $TMPDIR, and run what they create in $TMPDIR."
	}
	out += " They can read the workspace, toolchains and libraries; not keys, key agents, other files, or hosts that were not granted.\n"
	if f.Person {
		out += "- A command that needs the user's keys (push over ssh, signing, gh, docker) is offered to them: run it as a call of its own. Where a registry wants a key, say \"needs\": [\"unconfined\"].\n"
	}
	return out
}
