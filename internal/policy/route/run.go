package route

import (
	"strings"
)

// runTrajectory runs a command and reports its result.
func runTrajectory() Trajectory {
	return Trajectory{
		Name: Run, When: "a command to run", Nodes: []string{"run_command"}, Rights: []string{RightRead, RightRun},
		Reads:  "the request reads as a command to run",
		Note:   "[This request reads as a command to run, by its words, which may be wrong: run it and say what came of it. If it asks for a change of files as well, make it; the user may be asked then.]",
		claims: claimsRun,
	}
}

var (
	runs  = pattern(`^` + courtesy + `(?:(?:can|could|would) you )?(?:please )?(?:run|rerun|re-run) [^,:]+$|^go (?:test|build|vet|run|fmt|mod|generate|get|install|list)\b`)
	joins = pattern(` (?:and|then|until|so|if|but|or|after|before|when|while) |[,:]|\b(?:plan|steps|instructions|todos?)\b`)
)

// programs begin a command line, where a prompt begins with their names.
const programs = " apt apt-get brew bundle cargo docker git gradle helm kubectl mvn npm npx pip pip3 pnpm pytest rake rustup terraform yarn "

// claimsRun: one sentence that says to run something, or is a command line.
func claimsRun(p said) string {
	if len(p.sentences) != 1 || p.words > longCommand || p.find(joins()) != "" {
		return ""
	}
	if first, _, _ := strings.Cut(p.sentences[0], " "); strings.Contains(programs, " "+first+" ") {
		return p.sentences[0]
	}
	return p.find(runs())
}
