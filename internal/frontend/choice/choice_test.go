package choice

import (
	"errors"
	"testing"
)

// A question ends whatever is answered: after an empty answer at once, after others that
// are none after a few.
func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		want    string
		asked   int
	}{
		"a word":      {[]string{"yes"}, "y", 1},
		"in capitals": {[]string{" N "}, "n", 1},
		"nothing":     {[]string{""}, "", 1},
		"blanks":      {[]string{" \n"}, "", 1},
		"then a word": {[]string{"maybe", "y"}, "y", 2},
		"no word":     {[]string{"maybe", "maybe", "maybe", "y"}, "", 3},
	} {
		asked := 0
		got, err := Of(func(string) (string, error) { asked++; return c.answers[asked-1], nil }, "do it? ", "y or n", "y", "yes", "n", "no")
		if got != c.want || asked != c.asked || err != nil {
			t.Errorf("%s: %q after %d questions, %v", name, got, asked, err)
		}
	}
	gone := errors.New("gone")
	if _, err := Of(func(string) (string, error) { return "", gone }, "do it? ", "y or n", "y"); !errors.Is(err, gone) {
		t.Error(err)
	}
}
