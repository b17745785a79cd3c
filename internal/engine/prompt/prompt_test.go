package prompt

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// SPEC 5.7
func TestSystem(t *testing.T) {
	for name, f := range map[string]Facts{
		"person":   {Dir: "/home/ada/engine", OS: "linux", Shell: "bash", Git: true, Date: "2026-11-21", Mode: "ask", Person: true},
		"headless": {Dir: "/srv/app", OS: "darwin", Shell: "sh", Date: "2026-11-21", Mode: "accept-edits"},
	} {
		got, path := System(f), "testdata/"+name+".golden"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the system prompt changed; look at it and run with -update:\n%s", name, got)
		}
		if len(got) > 4096 {
			t.Errorf("%s: %d bytes: it is paid for in every request, keep it short", name, len(got))
		}
	}
}
