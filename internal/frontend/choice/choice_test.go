package choice

import (
	"errors"
	"strings"
	"testing"
)

// A question ends whatever is answered: after an empty answer at once, after others that
// are none after a few.
//
// SPEC 18.3
func TestLines(t *testing.T) {
	words := append(YesNo(), Option{Key: "w", Text: "your own words", Typed: true})
	for name, c := range map[string]struct {
		options []Option
		answers []string
		want    string
		asked   int
	}{
		"a word":       {YesNo(), []string{"yes"}, "y", 1},
		"in capitals":  {YesNo(), []string{" N "}, "n", 1},
		"nothing":      {YesNo(), []string{""}, "", 1},
		"blanks":       {YesNo(), []string{" \n"}, "", 1},
		"then a word":  {YesNo(), []string{"maybe", "y"}, "y", 2},
		"no word":      {YesNo(), []string{"maybe", "maybe", "maybe", "y"}, "", 3},
		"own words":    {words, []string{" Do it Otherwise"}, "Do it Otherwise", 1},
		"a key of own": {words, []string{"n"}, "n", 1},
	} {
		asked := 0
		got, err := Lines(func(prompt string) (string, error) {
			if asked++; asked > 1 && !strings.HasPrefix(prompt, "not understood: answer y or n; do it? [y]es, [n]o: ") {
				t.Errorf("%s: asked %q", name, prompt)
			}
			return c.answers[asked-1], nil
		})("do it?", c.options...)
		if got != c.want || asked != c.asked || err != nil {
			t.Errorf("%s: %q after %d questions, %v", name, got, asked, err)
		}
	}
	gone := errors.New("gone")
	if _, err := Lines(func(string) (string, error) { return "", gone })("do it?", YesNo()...); !errors.Is(err, gone) {
		t.Error(err)
	}
}
