package route_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// fact is what a report says, in whatever form.
type fact struct{ title, happens, wanted, step, question string }

func facts(t *testing.T) []fact {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/facts.txt"))(t)
	var out []fact
	for line := range strings.Lines(string(b)) {
		if line[0] == '#' {
			continue
		}
		p := strings.Split(strings.TrimSpace(line), " | ")
		if len(p) != 5 {
			t.Fatalf("%q has %d parts", line, len(p))
		}
		out = append(out, fact{p[0], p[1], p[2], p[3], strings.TrimPrefix(p[4], "-")})
	}
	return out
}

// reports are the forms in which people write reports.
var reports = map[string]func(f fact) string{
	"a form": func(f fact) string {
		return fmt.Sprintf("%s\n\n### Is there an existing issue for this?\n\n- [X] I have searched the existing issues\n\n### What happened?\n\n%s\n\n### How can we reproduce it?\n\n1. %s\n2. Look.\n\n### What did you expect?\n\n%s\n\n### Anything else?\n\n%s\n", f.title, f.happens, f.step, f.wanted, f.question)
	},
	"an old template": func(f fact) string {
		return fmt.Sprintf("**Do you want to request a *feature* or report a *bug*?**\n%s\n\n**What is the current behavior?**\n%s\n\n**What is the expected behavior?**\n%s\n\n<!-- Which versions are affected? Do not edit anything below. -->\n%s", f.title, f.happens, f.wanted, f.question)
	},
	"labels": func(f fact) string {
		return fmt.Sprintf("%s\nSteps: %s\nExpected: %s\nActual: %s\n%s", f.title, f.step, f.wanted, f.happens, f.question)
	},
	"a tracker's list": func(f fact) string {
		return fmt.Sprintf("Fix this: %s\n\n- %s\n- Do not change anything else in the dialog.\n- %s\n\n%s", f.title, f.step, f.happens, f.question)
	},
	"prose": func(f fact) string { return f.title + "\n\n" + f.happens + " " + f.question },
	"prose that ends in a step": func(f fact) string {
		return "Hi! " + f.happens + " " + f.question + " " + f.step + " Thanks"
	},
	"with a trace": func(f fact) string {
		return fmt.Sprintf("%s\n\n%s\n\n```\nTraceback (most recent call last):\n  File \"main.py\", line 3, in <module>\nValueError: see above\n```\n\nVersion: 2.3.1\nOS: Debian 12\n\n%s", f.title, f.question, f.step)
	},
}

// SPEC 13.1: reports are work to do, whatever questions stand in them or in the form that
// their writers were given.
func TestReportsAreEdits(t *testing.T) {
	n, wrong := 0, 0
	for _, f := range facts(t) {
		for form, write := range reports {
			text := write(f)
			n++
			if m := route.Classify(text); m.Explicit || m.Route != "" && m.Route != route.Edit {
				wrong++
				t.Logf("%s, taken for %s by %q:\n%s", form, m.Route, m.Why, text)
			}
		}
	}
	t.Logf("%d reports, %d are not taken for edits", n, wrong)
	if n < 200 || wrong*200 > n {
		t.Errorf("%d of %d", wrong, n)
	}
}

// SPEC 13.1: the question of a person who wants to know something is answered by reading.
func TestQuestionsAreRead(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/questions.txt"))(t)
	n, read := 0, 0
	for line := range strings.Lines(string(b)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), `\n`, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		n++
		if m := route.Classify(line); m.Route == route.Read && !m.Explicit {
			read++
		} else if m.Route != "" && m.Route != route.Edit {
			t.Errorf("%q is taken for %+v", line, m)
		} else {
			t.Logf("%q: %q", line, m.Why)
		}
	}
	t.Logf("%d questions, %d are taken for ones", n, read)
	if n < 100 || read*100 < n*80 {
		t.Errorf("%d of %d", read, n)
	}
}
