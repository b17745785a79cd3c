package route_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/route/labelled"
)

// SPEC 13.1: the labelled prompts. No request that needs more begins with fewer
// rights than it needs, no "don't change anything" is overheard, and the
// patterns leave little to a model.
func TestLabelledPrompts(t *testing.T) {
	for _, list := range []string{"prompts.txt", "heldout.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", list))
		if err != nil {
			t.Fatal(err)
		}
		ps, err := labelled.Parse(string(b))
		if err != nil {
			t.Fatal(err)
		}
		s := labelled.Of(ps)
		t.Logf("%s\n%s", list, s)
		for _, m := range s.Narrowed {
			t.Errorf("needs %s and begins as %s, by %q: %q", m.Route, m.Got.Route, m.Got.Why, m.Text)
		}
		for _, m := range s.Trapped {
			t.Errorf("nothing but a person would widen it, by %q: %q", m.Got.Why, m.Text)
		}
		for _, m := range s.NotExplicit {
			t.Errorf("it asks for no changes and was taken for %q: %q", m.Got.Route, m.Text)
		}
		if s.Prompts < 150 || s.Right*100 < s.Prompts*94 || s.Undecided*100 > s.Prompts*6 {
			t.Errorf("%s: %d of %d right, %d undecided", list, s.Right, s.Prompts, s.Undecided)
		}
	}
}
