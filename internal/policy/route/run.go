package route

import (
	"strings"
	"sync"
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
	runs = sync.OnceValue(func() phrase {
		return seq(begin, either(
			seq(courtesy, maybe(one("can you|could you|would you")), maybe(one("please")), one("run|rerun|re-run"), word, skip, end),
			head("go test|go build|go vet|go run|go fmt|go mod|go generate|go get|go install|go list")))
	})
	joins = sync.OnceValue(func() phrase {
		return either(seq(word, one("and|then|until|so|if|but|or|after|before|when|while"), word), one(mark), head("plan|steps|instructions|todo|todos"))
	})
)

// programs begin a command line, where a prompt begins with their names.
const programs = " apt apt-get brew bundle cargo docker git gradle helm kubectl mvn npm npx pip pip3 pnpm pytest rake rustup terraform yarn "

// claimsRun: one sentence that says to run something, or is a command line.
func claimsRun(p said) string {
	if len(p.sentences) != 1 || p.words > longCommand || p.sentences[0].has(joins()) {
		return ""
	}
	s := p.sentences[0]
	if strings.Contains(programs, " "+s[0]+" ") {
		return strings.Join(s, " ")
	}
	return s.find(runs())
}
