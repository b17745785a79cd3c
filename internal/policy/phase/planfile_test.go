package phase

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 7.2: what a plan file may look like.
func TestParsePlan(t *testing.T) {
	t.Parallel()
	show := func(steps []event.PhaseStep) string {
		var out []string
		for _, s := range steps {
			if s.Expected > 0 {
				s.Text += fmt.Sprintf(" <%v>", s.Expected)
			}
			out = append(out, s.Text)
		}
		return strings.Join(out, "|")
	}
	for text, want := range map[string]string{
		"# Plan\n\n## Parse\ntext\n## Wire it (20m)\n### detail\n":                  "Parse|Wire it <20m0s>",
		"1. Parse\n   1. inner\n2. **Wire** `it` (1h30m)\n10) Test\n":               "Parse|Wire it <1h30m0s>|Test",
		"# Phase 1: Parse\nsome words\n## Notes\n# Phase 2 - Wire\n## More notes\n": "Parse|Wire",
		"### phase 3. Test it (5 apples)\n":                                         "Test it (5 apples)",
		"- [ ] one\n- [x] was done\n* [ ] two\n":                                    "one|two",
		"1. [x] was done\n2. [ ] to do\n":                                           "to do",
		"```\n1. in code\n## in code\n```\n1. Real\n":                               "Real",
		"~~~\n```\n1. in code\n~~~\n1. Real\n":                                      "Real",
		"## Phase 12\n## Phase 13:\n":                                               "Phase 12|Phase 13:",
		"## Größe prüfen\r\n## 終わり\r\n":                                             "Größe prüfen|終わり",
		"1.5 is a number\n2020. was a year that is long ago\n":                      "was a year that is long ago",
		"no plan at all\n- a\n- b\n":                                                "",
		"":                                                                          "",
		"## \n##\n1. \n":                                                            "",
		"\xff\xfe## x\n## y\xff":                                                    "y\uFFFD",
	} {
		steps, err := ParsePlan(text)
		if got := show(steps); got != want || (want == "") != errors.Is(err, ErrNoPhases) {
			t.Errorf("%q gave %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := ParsePlan(strings.Repeat("1. x\n", 201)); err == nil {
		t.Error("201 phases are taken")
	}
	if steps, err := ParsePlan("1. " + strings.Repeat("é", 500)); err != nil || len([]rune(steps[0].Text)) != titleLimit+1 {
		t.Errorf("%v, %d runes", err, len([]rune(steps[0].Text)))
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add("## a (20m)\n1. b\n- [ ] c\n```\n")
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := ParsePlan(text)
		if (err == nil) != (len(steps) > 0) {
			t.Fatalf("%v, %v", steps, err)
		}
		for _, s := range steps {
			if strings.TrimSpace(s.Text) == "" || strings.ContainsAny(s.Text, "\n") || s.Expected < 0 {
				t.Fatalf("%q gave %+v", text, s)
			}
		}
	})
}
