package route

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/command"
)

// runTrajectory runs a command and reports its result.
func runTrajectory() Trajectory {
	return Trajectory{
		Name: Run, When: "a command to run", Nodes: []string{"run_command"}, Rights: []string{RightRead, RightRun},
		Reads:  "the request reads as a command to run",
		Note:   "[This request reads as a command to run: run it and say what came of it. Change files only if that is asked for as well; the user may be asked then.]",
		claims: claimsRun,
	}
}

func claimsRun(c clause) (string, bool) {
	first, second := c.first(), c.word(1)
	why := c.why(2)
	if c.need && first != "run" && first != "rerun" {
		return "", false
	}
	switch first {
	case "run", "rerun", "re-run", "execute":
		return why, !c.has("plan", "plans", "instructions", "todo", "todos", "steps", "step", "proposal")
	case "build", "compile", "rebuild":
		return why, len(c.words) == 1 || second == "it" || c.has("project", "app", "binary", "everything", "all", "image", "workspace", "again") && second != "a" && second != "an"
	case "start", "launch", "restart", "stop", "kill", "reload":
		return why, c.has("server", "app", "application", "container", "containers", "service", "services", "daemon", "database", "db", "watcher", "process", "emulator", "it", "docker") && !strings.HasSuffix(second, "ing")
	case "install", "uninstall":
		return why, true
	case "deploy", "commit", "push", "pull", "rebase", "stash", "checkout", "benchmark":
		return why, second != "a" && second != "an"
	case "check":
		if (second == "if" || second == "whether" || second == "that") && c.has(liveness()...) {
			return why, true
		}
		return why, second == "out" && c.has("branch", "main", "master", "commit", "tag")
	case "merge":
		return why, c.has("branch", "main", "master", "pr")
	case "make":
		return why, len(c.words) <= 3 && isMakeTarget(second)
	case "go":
		switch second {
		case "test", "build", "vet", "run", "fmt", "mod", "generate", "get", "install":
			return why, true
		}
	case "do":
		return c.why(3), c.has("git") && c.has("pull", "push", "commit", "status", "fetch", "rebase", "checkout")
	}
	return why, command.BeginsLine(first) && len(c.words) <= 6 && second != "," && second != ":" && !isEditVerb(second)
}

// isMakeTarget reports whether a word is a usual target of make.
func isMakeTarget(w string) bool {
	switch w {
	case "", "test", "tests", "check", "lint", "build", "all", "install", "clean", "run", "fmt", "vet", "bench", "ci", "release", "docs", "deploy":
		return true
	}
	return false
}

// isRunVerb reports whether a verb may ask for a command.
func isRunVerb(w string) bool {
	switch w {
	case "run", "rerun", "re-run", "execute", "build", "rebuild", "compile", "start", "launch", "restart", "reload", "stop", "kill", "install", "uninstall", "deploy", "commit", "push", "pull", "rebase", "stash", "checkout", "benchmark":
		return true
	}
	return false
}
