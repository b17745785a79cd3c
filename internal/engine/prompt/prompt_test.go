package prompt

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
)

// SPEC 5.7
func TestSystem(t *testing.T) {
	for name, f := range map[string]Facts{
		"person":   {Dir: "/home/ada/engine", OS: "linux", Shell: "bash", Git: true, Date: "2026-11-21", Mode: "ask", Person: true, Confined: true, Scratch: true},
		"headless": {Dir: "/srv/app", OS: "darwin", Shell: "sh", Date: "2026-11-21", Mode: "accept-edits"},
	} {
		got, path := System(f), "testdata/"+name+".golden"
		golden.File(t, path, got)
		if len(got) > 4096 {
			t.Errorf("%s: %d bytes: it is paid for in every request, keep it short", name, len(got))
		}
	}
}
