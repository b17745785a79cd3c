package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// GitSettings returns settings that override what a repository's own configuration
// could make git run: hooks, fsmonitor, external diff, signature programs, other
// repositories (SPEC 16.6).
func GitSettings() [][2]string {
	return [][2]string{
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"diff.external", ""},
		{"diff.ignoreSubmodules", "dirty"},
		{"diff.submodule", "short"},
		{"status.submoduleSummary", "false"},
		{"submodule.recurse", "false"},
		{"log.showSignature", "false"},
		{"gpg.program", "false"},
		{"gpg.openpgp.program", "false"},
		{"gpg.ssh.program", "false"},
		{"gpg.x509.program", "false"},
		{"safe.bareRepository", "explicit"},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
	}
}

// ClosedEnv returns the environment variables that complete GitSettings: under them, a
// command that is judged to only read runs nothing and fetches nothing that the folder
// names.
func ClosedEnv(cmds []shellsyntax.Command) []string {
	env := []string{
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat", "LESSOPEN=", "LESSCLOSE=", "LESSSECURE=1",
		"GOTOOLCHAIN=local", "npm_config_update_notifier=false", "npm_config_logs_max=0", "npm_config_onload_script=", "npm_config_node_options=", "npm_config_offline=true",
		"PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
	}
	for _, c := range cmds {
		name, _ := c.Program()
		if p := known(name); p != nil && p.env != "" && len(c.Words) > 1 && !isOneOf(c.Words[1], strings.Fields(p.tellsEnv)...) {
			return append(env, strings.Fields(p.env)...)
		}
	}
	return env
}

// Closed reports whether a line of commands runs under ClosedEnv and GitSettings: it
// contains a git, go, npm or pip that only reads, and no command whose meaning a closed
// configuration would change. A check, and a git command that changes the repository,
// run the project's own programs by design, and keep their environment.
func Closed(cmds []shellsyntax.Command) bool {
	closed := false
	for _, c := range cmds {
		name, _ := c.Program()
		switch {
		case known(name).has(closes):
			if Effects(c).Kind != Reads {
				return false
			}
			closed = true
		case (Checks{Changed: func(...string) bool { return false }}).Is(c):
			return false
		}
	}
	return closed
}
