//go:build truth && linux

package truth

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// SPEC 4.15, 16.5: what plan mode runs without a question changes nothing and
// reads no secret. The lines are composed from a grammar and by changing lines
// that were judged harmless before, since what is new beside what is known is
// where a judge errs. PAWL_TRUTH is how long, PAWL_SEED where it begins.
func TestComposed(t *testing.T) {
	long := 20 * time.Second
	if v := os.Getenv("PAWL_TRUTH"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			t.Fatal(err)
		}
		long = d
	}
	seed := uint64(1)
	if v := os.Getenv("PAWL_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	c := openCage(t)
	g := &grammar{r: rand.New(rand.NewPCG(seed, 0)), known: lines(t)}
	end := time.Now().Add(long)
	tries, ran, found := 0, 0, 0
	kept := len(g.known)
	for time.Now().Before(end) && found < 40 {
		line := g.line()
		tries++
		r := c.try(t, line)
		if !r.Judged {
			continue
		}
		ran++
		if len(r.Harm) > 0 {
			found++
			t.Errorf("judged harmless: %q\n\t%s\n\tprinted %.200q", line, strings.Join(r.Harm, ", "), r.Output)
			continue
		}
		// Only some are kept, so that the lines that people write stay most.
		if len(g.known) < 4*kept && g.r.IntN(8) == 0 && len(line) < 200 {
			g.known = append(g.known, line)
		}
	}
	t.Logf("seed %d: %d lines composed, %d judged harmless and run, %d of them were not", seed, tries, ran, found)
	if ran < 100 {
		t.Errorf("only %d lines were run: this proves nothing", ran)
	}
}

// Every line that is known to be harmless or to do harm, as it stands.
func TestKnown(t *testing.T) {
	c := openCage(t)
	judged := 0
	for _, line := range lines(t) {
		r := c.try(t, line)
		if !r.Judged {
			continue
		}
		judged++
		if len(r.Harm) > 0 {
			t.Errorf("judged harmless: %q\n\t%s\n\tprinted %.200q", line, strings.Join(r.Harm, ", "), r.Output)
		}
	}
	t.Logf("%d lines, %d of them judged harmless and run", len(lines(t)), judged)
}

// The cage can tell: lines that do harm are seen to do it. They are run as
// they are, whatever the judge says.
func TestCageSees(t *testing.T) {
	t.Setenv("PAWL_TRUTH_JUDGE", "off")
	c := openCage(t)
	for line, want := range map[string]string{
		"zap":                      "made /w/RAN",
		"echo x > a.txt":           "changed /w/a.txt",
		"rm b.txt":                 "removed /w/b.txt",
		"cat outdir/secret.txt":    "read /sib/secret.txt",
		"cat .env | rev":           "read /w/.env",
		"chmod 600 a.txt":          "changed /w/a.txt",
		"touch -r b.txt a.txt":     "changed /w/a.txt",
		"ln -s x y":                "made /w/y",
		"mkdir -p /tmp/q":          "made /tmp/q",
		"sort ~/.ssh/id_rsa":       "read /home/u/.ssh/id_rsa",
		"git status":               "made /w/RAN",
		"(sleep 0.01; zap) & wait": "made /w/RAN",
	} {
		r := c.try(t, line)
		if !strings.Contains(strings.Join(r.Harm, ", "), want) {
			t.Errorf("%q: want %q, seen %q (printed %.300q)", line, want, r.Harm, r.Output)
		}
	}
	if r := c.try(t, "cat a.txt; ls -la . sub; grep -rn one sub/n.txt"); len(r.Harm) > 0 {
		t.Errorf("a harmless line: %q", r.Harm)
	}
}

// lines are the lines of testdata and of the policy's own suite: a command line
// each, "⏎" for a newline, what stands before a bar are verdicts.
func lines(t *testing.T) []string {
	t.Helper()
	var out []string
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../policy/*/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, more...) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			l := sc.Text()
			if strings.HasPrefix(name, "..") {
				_, line, ok := strings.Cut(l, "|")
				if !ok {
					continue
				}
				l = line
			}
			l = strings.NewReplacer("⏎", "\n", "⇥", "\t").Replace(strings.TrimSpace(l))
			if l != "" && !strings.HasPrefix(l, "#") {
				out = append(out, l)
			}
		}
		if err := sc.Err(); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	if len(out) < 50 {
		t.Fatal(fmt.Sprint("only ", len(out), " lines were found"))
	}
	return out
}
