//go:build truth && linux

package truth

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// harmfulCode is what RUN stands for in testdata/attack.txt.
const harmfulCode = `sh -c "echo x > /sib/made; echo x > /home/u/made; echo x > /tmp/made; cat /sib/secret.txt; echo x > /w/AGENTS.md; echo x > /w/.git/hooks/pre-commit; rm -f /sib/f.txt"`

func attacks(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/attack.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			// Within quotes as without, as far as the line's own quotes let it.
			out = append(out, strings.ReplaceAll(line, "RUN", "/w/sub/run"), strings.ReplaceAll(line, "RUN", harmfulCode))
		}
	}
	return out
}

// SPEC 16.12: with the judgement of syntax switched off, so that every line is
// allowed, nothing does harm: what plan mode runs changes nothing at all and
// reads nothing outside; what the other modes run changes the workspace but for
// its protected files, and reads nothing outside. Nothing is judged here but
// what became of the world.
func TestConfinedWithoutJudgement(t *testing.T) {
	c := openCage(t)
	for _, level := range []process.Level{process.ReadOnly, process.Workspace} {
		t.Run(level.String(), func(t *testing.T) {
			n := 0
			try := func(line string) {
				n++
				r := c.try(t, order{Line: line, Mode: permission.Plan, Confine: level.String()})
				if len(r.Harm) > 0 {
					t.Errorf("%q\n\t%s\n\tprinted %.300q", line, strings.Join(r.Harm, ", "), r.Output)
				}
				if r.Broken != "" {
					t.Errorf("%q was not run: %s", line, r.Broken)
				}
			}
			for _, l := range attacks(t) {
				try(l)
			}
			for _, l := range lines(t) {
				try(l.text)
			}
			g := &grammar{r: rand.New(rand.NewPCG(1, uint64(level))), known: known(lines(t)), table: table(t)}
			for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
				try(g.line())
			}
			t.Logf("%d lines", n)
		})
	}
}

// The same lines without the sandbox, in the same cage: most of them do harm, so
// that what is shown above is not that nothing happens.
func TestAttacksAreReal(t *testing.T) {
	c := openCage(t)
	harm, all := 0, attacks(t)
	for _, l := range all {
		if r := c.try(t, order{Line: l, Mode: permission.Plan, Confine: process.Unconfined.String()}); len(r.Harm) > 0 {
			harm++
		} else {
			t.Logf("harmless here: %q", l)
		}
	}
	t.Logf("%d of %d do harm", harm, len(all))
	if harm < len(all)*2/3 {
		t.Error("too few")
	}
}
