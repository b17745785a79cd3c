package window

import (
	"errors"
	"strings"
	"testing"
)

// A prompt that takes more than its share is shortened part by part, the
// longest most, and what a person typed last.
func TestFitPrompt(t *testing.T) {
	long, short := strings.Repeat("a line of a log\n", 2000), strings.Repeat("a line of a patch\n", 20)
	for _, c := range []struct {
		name, prompt string
		pasted       []string
		most         int
		asked, keeps []string
	}{
		{"it fits", "why? " + short, []string{short}, 1000, nil, []string{"why?", short}},
		{"only the long part is cut", "why? " + short + long, []string{long, short}, 1000, []string{"pasted-2"}, []string{"why?", short}},
		{"both are", "why? " + long + "and " + long + "x", []string{long, long + "x"}, 1000, []string{"pasted-1", "pasted-2"}, []string{"why?", "and "}},
		{"what was typed is", long, nil, 1000, []string{"prompt"}, nil},
		{"a part that is not in it, or is empty, is none", "why? " + long, []string{"", "gone"}, 1000, []string{"prompt"}, nil},
	} {
		var asked []string
		got, err := FitPrompt(c.prompt, c.pasted, c.most, func(name, _ string, tokens int) (string, error) {
			asked = append(asked, name)
			if tokens <= 0 || tokens > c.most {
				t.Errorf("%s: %s may have %d tokens of %d", c.name, name, tokens, c.most)
			}
			return "[in a file]", nil
		})
		if err != nil || strings.Join(asked, " ") != strings.Join(c.asked, " ") {
			t.Errorf("%s: asked for %q, %v", c.name, asked, err)
		}
		for _, k := range c.keeps {
			if !strings.Contains(got, k) {
				t.Errorf("%s: %q is not in %.80q", c.name, k, got)
			}
		}
	}
	full := errors.New("the disk is full")
	if got, err := FitPrompt(long, nil, 1000, func(string, string, int) (string, error) { return "", full }); !errors.Is(err, full) || got != "" {
		t.Errorf("%.40q, %v", got, err)
	}
}
