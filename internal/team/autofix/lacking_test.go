package autofix

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 13.3, 20.2: what is known to be unable to run is not started; the others run, and the
// closing line names both.
func TestLacking(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-- package.json --\n{\"scripts\": {\"test\": \"node --test\", \"lint\": \"nosuchlinter .\"}}", write("a.js", "1"), llmtest.Say("done"))
	r.program("npm", `echo "$*" >>`+r.Dir+`/ran; printf '\n> shop@1.0.0 test\n> node --test\n\nTAP version 13\nok 1 - adds\n1..1\n'`)
	r.program("node", "exit 1")
	r.fix.Lacks = r.finder.Lacks
	r.told(r.run(nil), "0 npm run lint → it could not run: nosuchlinter is not installed (there is no node_modules)", "0 npm test → 0", "done")
	if got := r.File("ran"); got != "test\n" {
		t.Errorf("started: %q", got)
	}
	if got, want := r.View().Evidence().Proof(), "verified: npm test, exit code 0, 1 test; npm run lint could not run: nosuchlinter is not installed (there is no node_modules)"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
