//go:build truth && linux

package truth

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// harmfulCode is what RUN stands for in testdata/attack.txt, besides a program of
// the workspace that does the same. It holds no quote, so that it is the same
// within quotes as without.
const harmfulCode = `{ echo x > /sib/made; echo x > /home/u/made; echo x > /tmp/made; cat /sib/secret.txt; echo x > /w/AGENTS.md; echo x > /w/.git/hooks/pre-commit; rm -f /sib/f.txt; }`

// attack is one line of testdata/attack.txt.
type attack struct {
	line   string
	label  string
	sister bool     // nobody listed it
	quiet  bool     // it does no harm in the cage even without the sandbox
	needs  []string // programs without which it is nothing
}

// forms are what is run for it.
func (a attack) forms() []string {
	if !strings.Contains(a.line, "RUN") {
		return []string{a.line}
	}
	return []string{strings.ReplaceAll(a.line, "RUN", "/w/sub/run"), strings.ReplaceAll(a.line, "RUN", harmfulCode)}
}

func attacks(t *testing.T) []attack {
	t.Helper()
	raw, err := os.ReadFile("testdata/attack.txt")
	must.Do(t, err)
	var out []attack
	var of attack
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]") && !strings.HasPrefix(line, "[ "):
			parts := strings.Split(line[1:len(line)-1], "; ")
			of = attack{label: parts[0], sister: strings.HasPrefix(parts[0], "sister: ")}
			for _, p := range parts[1:] {
				if list, ok := strings.CutPrefix(p, "needs: "); ok {
					of.needs = strings.Fields(list)
				} else if strings.HasPrefix(p, "quiet: ") {
					of.quiet = true
				} else {
					t.Fatalf("%s: neither needs nor quiet", line)
				}
			}
		default:
			of.line = line
			out = append(out, of)
		}
	}
	return out
}

// beliefs are what a judge that is wrong may take a line for: of each kind of
// line that a mode runs without a question, one. That a mode asks about others
// does not count here.
var beliefs = []struct {
	mode  permission.Mode
	line  string
	level process.Level
}{
	{permission.Plan, "zap", process.ReadOnly}, // any command
	{permission.AskMode, "cat a.txt", process.ReadOnly},
	{permission.AcceptEdits, "cat a.txt", process.ReadOnly},
	{permission.AcceptEdits, "touch new", process.Workspace},
	{permission.AcceptEdits, "go test ./...", process.Workspace},
	{permission.Auto, "cat a.txt", process.ReadOnly},
	{permission.Auto, "zap", process.Workspace}, // any command
}

// SPEC 16.12: with the judgement of syntax switched off, no attack does harm in
// any mode: the judge takes each for what the mode runs without a question, and
// the mode runs it as it runs that. What plan and ask run so changes nothing at
// all; what the others run changes the workspace but for its protected files;
// none reads anything outside, sends anything, prints pawl's key or touches
// another process.
func TestConfinedAttacks(t *testing.T) {
	t.Parallel()
	all := attacks(t)
	for _, b := range beliefs {
		t.Run(string(b.mode)+"/"+b.line, func(t *testing.T) {
			t.Parallel()
			c := openCage(t)
			n, says := 0, "one"
			if b.level == process.Workspace {
				says = "mine"
			}
			if r := c.try(t, order{Line: "echo mine > n; cat n || cat a.txt", Mode: b.mode, Believe: b.line}); !strings.HasPrefix(r.Output, says) && !strings.Contains(r.Output, "\n"+says) {
				t.Fatalf("lines do not run as they should: %q", r.Output)
			}
			for _, a := range all {
				for _, line := range a.forms() {
					n++
					r := c.try(t, order{Line: line, Mode: b.mode, Believe: b.line, Slow: true})
					switch {
					case !r.Judged || r.Level != b.level.String():
						t.Fatalf("%s mode does not run %q unasked at %s: %s %s", b.mode, b.line, b.level, r.Level, r.Reason)
					case len(r.Harm) > 0:
						t.Errorf("%s: %q\n\t%s\n\tprinted %.300q", a.label, line, strings.Join(r.Harm, ", "), r.Output)
					case r.Broken != "":
						t.Errorf("%s: %q was not run: %s", a.label, line, r.Broken)
					}
				}
			}
			t.Logf("%d lines", n)
		})
	}
}

// SPEC 16.12: plan mode leaves keys and git's configuration to the kernel: such lines
// run, and read and change nothing.
func TestPlanLeavesItToTheKernel(t *testing.T) {
	c := openCage(t)
	for _, line := range []string{
		"cat ~/.ssh/id_rsa", "cat /home/u/.ssh/* ~/.aws/credentials; true", "cat < ~/.ssh/id_rsa", "cp ~/.ssh/id_rsa /w/k; cat /w/k", "mkdir -p k9; ls -l ~/.ssh ~/.aws",
		"python3 -c 'import sys; print(open(sys.argv[1]).read())' /home/u/.ssh/id_rsa", "tar c ~/.ssh | cat", "grep -r . ~/.ssh ~/.netrc",
		"git config core.pager zap", "git config --global alias.x '!zap'; git x", "echo x > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", "cp a.txt .git/config", "cd .git/hooks && touch x; rm -f ../config",
		"git -c core.hooksPath=/w config core.fsmonitor zap; git status",
	} {
		r := c.try(t, order{Line: line, Mode: permission.Plan, Believe: line, Slow: true})
		switch {
		case !r.Judged || r.Level != process.ReadOnly.String():
			t.Errorf("%q does not run read-only: %s %s", line, r.Level, r.Reason)
		case len(r.Harm) > 0:
			t.Errorf("%q\n\t%s\n\tprinted %.300q", line, strings.Join(r.Harm, ", "), r.Output)
		case r.Broken != "":
			t.Errorf("%q was not run: %s", line, r.Broken)
		}
	}
}

// SPEC 16.12: nor do the lines of the other tests, and composed ones, at the two
// levels that the modes have.
func TestConfinedWithoutJudgement(t *testing.T) {
	t.Parallel()
	for _, level := range []process.Level{process.ReadOnly, process.Workspace} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			c := openCage(t)
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

// Each attack without the sandbox, in the same cage, does harm, so that what is
// shown above is not that nothing happens.
func TestAttacksAreReal(t *testing.T) {
	t.Parallel()
	c := openCage(t)
	listed, sisters, quiet, missing := 0, 0, 0, 0
	sections := map[string]bool{}
	for _, a := range attacks(t) {
		if !a.sister {
			number, _, _ := strings.Cut(a.label, " ")
			sections[number] = true
		}
		absent := slices.ContainsFunc(a.needs, func(p string) bool { _, err := exec.LookPath(p); return err != nil })
		printed := ""
		harm := slices.ContainsFunc(a.forms(), func(line string) bool {
			r := c.try(t, order{Line: line, Mode: permission.Plan, Confine: process.Unconfined.String(), Slow: true})
			printed = r.Output
			return len(r.Harm) > 0
		})
		switch {
		case harm && a.quiet:
			t.Errorf("%s: %q does harm: it is not quiet", a.label, a.line)
		case harm && a.sister:
			sisters++
		case harm:
			listed++
		case a.quiet:
			quiet++
		case absent:
			missing++
			t.Logf("%s: not tried, one of %v is not installed: %q", a.label, a.needs, a.line)
		default:
			t.Errorf("%s: does no harm here: %q\n\tprinted %.300q", a.label, a.line, printed)
		}
	}
	t.Logf("%d of the review's lines and %d sisters do harm; %d cannot here; %d lack a program", listed, sisters, quiet, missing)
	if sisters < 30 {
		t.Error("fewer than 30 sisters")
	}
	for _, s := range []string{"1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "3.1", "3.2", "3.3", "3.4", "3.5", "4.1", "4.2", "5.1"} {
		if !sections[s] {
			t.Errorf("no line of %s", s)
		}
	}
}
