//go:build truth && linux

package truth

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// modes are those in which something runs unasked that is not everything.
var modes = []permission.Mode{permission.Plan, permission.AcceptEdits, permission.Auto}

// SPEC 4.15, 16.5: what plan mode runs without a question changes nothing and
// reads no secret; what accept-edits and auto run changes nothing outside the
// workspace and nothing protected, and runs no code but the project's checks.
// The lines are composed from a grammar and by changing lines that were judged
// harmless before, since what is new beside what is known is where a judge
// errs. PAWL_TRUTH is how long for each mode, PAWL_SEED where it begins,
// PAWL_MODE the only mode.
func TestComposed(t *testing.T) {
	long, seed := 20*time.Second, uint64(1)
	if v := os.Getenv("PAWL_TRUTH"); v != "" {
		d, err := time.ParseDuration(v)
		must.Do(t, err)
		long = d
	}
	if v := os.Getenv("PAWL_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		must.Do(t, err)
		seed = n
	}
	c := openCage(t)
	for _, mode := range modes {
		if only := os.Getenv("PAWL_MODE"); only != "" && only != string(mode) {
			continue
		}
		t.Run(string(mode), func(t *testing.T) { compose(t, c, mode, long, seed) })
	}
}

func compose(t *testing.T, c *cage, mode permission.Mode, long time.Duration, seed uint64) {
	g := &grammar{r: rand.New(rand.NewPCG(seed, 0)), known: known(lines(t)), table: table(t)}
	end := time.Now().Add(long)
	tries, ran, found, projects := 0, 0, 0, 0
	harmless := map[string]int{}
	kept := len(g.known)
	for time.Now().Before(end) && found < 40 {
		line := g.line()
		tries++
		r := c.try(t, order{Line: line, Mode: mode})
		switch {
		case !r.Judged:
			continue
		case r.Project && mode != permission.Plan:
			projects++
			continue
		}
		ran++
		if len(r.Harm) > 0 {
			found++
			t.Errorf("%s runs unasked: %q\n\t%s\n\tprinted %.200q", mode, line, strings.Join(r.Harm, ", "), r.Output)
			continue
		}
		for _, p := range r.Programs {
			harmless[p]++
		}
		// Only some are kept, so that the lines that people write stay most.
		if len(g.known) < 4*kept && g.r.IntN(8) == 0 && len(line) < 200 {
			g.known = append(g.known, line)
		}
	}
	t.Logf("%s, seed %d: %d lines composed, %d run unasked, %d of them did harm; %d more run the project's code by design", mode, seed, tries, ran, found, projects)
	if ran < 100 {
		t.Errorf("only %d lines were run: this proves nothing", ran)
	}
	var never []string
	for _, name := range tabled(t) {
		if harmless[name] == 0 {
			never = append(never, name)
		}
	}
	t.Logf("%d programs ran, never of the table: %s", len(harmless), strings.Join(never, " "))
}

// Every line that is known to be harmless or to do harm, as it stands.
func TestKnown(t *testing.T) {
	c := openCage(t)
	all := lines(t)
	for _, mode := range modes {
		judged, projects := 0, 0
		for _, l := range all {
			r := c.try(t, order{Line: l.text, Mode: mode})
			switch {
			case !r.Judged:
				continue
			case r.Project && mode != permission.Plan:
				projects++
				continue
			}
			judged++
			if len(r.Harm) > 0 {
				t.Errorf("%s runs unasked: %q\n\t%s\n\tprinted %.200q", mode, l.text, strings.Join(r.Harm, ", "), r.Output)
			}
		}
		t.Logf("%s: %d lines, %d of them run unasked and %d more of the project's code", mode, len(all), judged, projects)
	}
}

// SPEC 4.15: the table of everyday commands against the truth: what is said
// there to read changes nothing when it is run. Without a sandbox plan mode runs at least
// a hundred of them; with one it runs all (TestOrdinary of policy/permission). The world is as a project's is: with the traps
// of the others about, a search of the whole folder is refused, rightly.
func TestEveryday(t *testing.T) {
	c := openCage(t)
	n, held := 0, []string(nil)
	for _, l := range lines(t) {
		if l.key != "read" {
			continue
		}
		r := c.try(t, order{Line: l.text, Mode: permission.Plan, Always: true, Plain: true})
		switch {
		case len(r.Harm) > 0 && r.Judged:
			t.Errorf("judged harmless: %q\n\t%s", l.text, strings.Join(r.Harm, ", "))
		case len(r.Harm) > 0:
			t.Logf("rightly refused: %q\n\t%s", l.text, strings.Join(r.Harm, ", "))
		default:
			if n++; !r.Judged {
				held = append(held, l.text+" ("+r.Reason+")")
			}
		}
	}
	t.Logf("%d everyday commands only read, %d of them (%.1f %%) are refused in plan:\n%s", n, len(held), 100*float64(len(held))/float64(n), strings.Join(held, "\n"))
	if n < 200 || n-len(held) < 100 {
		t.Errorf("%d of %d everyday commands that only read are refused", len(held), n)
	}
}

// The cage can tell: lines that do harm are seen to do it. They are run as
// they are, whatever the judge says.
func TestCageSees(t *testing.T) {
	c := openCage(t)
	const p, e, a = permission.Plan, permission.AcceptEdits, permission.Auto
	for _, x := range []struct {
		mode       permission.Mode
		line, want string
	}{
		{p, "zap", "made /w/RAN"},
		{p, "echo x > a.txt", "changed /w/a.txt"},
		{p, "rm b.txt", "removed /w/b.txt"},
		{p, "cat outdir/secret.txt", "read /sib/secret.txt"},
		{p, "cat .pgpass | rev", "read /w/.pgpass"},
		{p, "chmod 600 a.txt", "changed /w/a.txt"},
		{p, "chmod 700 sub", "changed /w/sub"},
		{p, "touch -r b.txt a.txt", "changed /w/a.txt"},
		{p, "touch sub/q; rm sub/q", "changed /w/sub"},
		{p, "ln -s x y", "made /w/y"},
		{p, "mkdir -p /tmp/q", "made /tmp/q"},
		{p, "sort ~/.ssh/id_rsa", "read /home/u/.ssh/id_rsa"},
		{p, "GIT_CONFIG_COUNT=0 git status", "made /w/RAN"},
		{p, "GIT_CONFIG_COUNT=0 git diff --ext-diff", "made /w/RAN"},
		{p, "cd bare && GIT_CONFIG_COUNT=0 git status", "made /w/RAN"},
		{p, "bzip2 -td z.bz2", "removed /w/z.bz2"},
		{p, "(sleep 0.01; zap) & wait", "made /w/RAN"},
		{e, "zap", "made /w/RAN"},
		{e, "echo x > outdir/f.txt", "changed /sib/f.txt"},
		{e, "echo x > hk/post-commit", "made /w/.git/hooks/post-commit"},
		{e, "echo x > ag", "changed /w/AGENTS.md"},
		{e, "rm b.txt", "removed /w/b.txt"},
		{e, "cp -P outdir up3; echo x > up3/new", "made /sib/new"},
		{e, "echo x > .envrc", "changed /w/.envrc"},
		{a, "mkdir .vscode", "made /w/.vscode"},
		{a, "rm -r /tmp/../sib/sub", "removed /sib/sub"},
		{a, "mv .git/config x", "removed /w/.git/config"},
	} {
		r := c.try(t, order{Line: x.line, Mode: x.mode, Always: true})
		if !slices.Contains(r.Harm, x.want) {
			t.Errorf("%q in %s: want %q, seen %q (printed %.300q)", x.line, x.mode, x.want, r.Harm, r.Output)
		}
	}
	for _, x := range []order{
		{Mode: p, Line: "cat a.txt; ls -la . sub; grep -rn one sub/n.txt"},
		{Mode: p, Line: "cat a.txt | tac"},
		{Mode: e, Line: "echo x > a.txt; mkdir q; cp a.txt q; sed -i s/x/y/ sub/n.txt"},
		{Mode: a, Line: "mv a.txt q; rm b.txt; rm -r sub"},
	} {
		x.Always = true
		if r := c.try(t, x); len(r.Harm) > 0 {
			t.Errorf("%q in %s: seen %q", x.Line, x.Mode, r.Harm)
		}
	}
}

// line is a command line to try; key is what the table that it comes from says
// of it.
type line struct{ key, text string }

func known(all []line) (texts []string) {
	for _, l := range all {
		texts = append(texts, l.text)
	}
	return texts
}

// lines are the lines of testdata and of the policy's own suites: a command
// line each, "⏎" for a newline and "⇥" for a tab; what stands before a bar in
// the suites says what it is.
func lines(t *testing.T) []line {
	t.Helper()
	var out []line
	for _, name := range []string{"testdata/lines.txt", "../policy/permission/testdata/held.txt", "../policy/permission/testdata/ordinary.txt"} {
		raw, err := os.ReadFile(name)
		must.Do(t, err)
		before := len(out)
		for l := range strings.SplitSeq(string(raw), "\n") {
			if strings.TrimSpace(l) == "" || l[0] == '#' {
				continue
			}
			key := ""
			if strings.HasPrefix(name, "..") {
				k, text, ok := strings.Cut(l, " | ")
				if !ok {
					t.Fatalf("%s: %q is no row", name, l)
				}
				key, l = strings.TrimSpace(k), text
			}
			out = append(out, line{key, strings.NewReplacer("⏎", "\n", "⇥", "\t").Replace(l)})
		}
		if len(out)-before < 100 {
			t.Fatalf("only %d lines are in %s", len(out)-before, name)
		}
	}
	return out
}
