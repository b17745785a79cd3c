package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// split pushes text in pieces and returns what came out.
func split(pieces ...string) (thinking, text string, s *ThinkSplitter) {
	s = new(ThinkSplitter)
	for _, p := range pieces {
		a, b := s.Push(p)
		thinking, text = thinking+a, text+b
	}
	a, b := s.Close()
	return thinking + a, text + b, s
}

// SPEC 5.3
func TestThinkSplitter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, thinking, text string }{
		{"", "", ""},
		{"hello", "", "hello"},
		{"\n hello", "", "\n hello"},
		{"<think>a</think>b", "a", "b"},
		{"<thinking>\na\n</thinking>\n\nb\n", "a", "b\n"},
		{" \n<think>\n\na b\n\nc\n</think>\n\n<think>b", "a b\n\nc", "<think>b"},
		{"<think></think>b", "", "b"},
		{"<think>never closed", "never closed", ""},
		{"<think>a</thinking>b</think>c", "a</thinking>b", "c"},
		{"<think>half </thi", "half </thi", ""},
		{"<thin", "", "<thin"},
		{"<thinker>x</thinker>", "", "<thinker>x</thinker>"},
		{"a <think>b</think>", "", "a <think>b</think>"},
		{"<think>é</think>ü", "é", "ü"},
	} {
		for name, pieces := range map[string][]string{"whole": {c.in}, "bytes": strings.Split(c.in, "")} {
			thinking, text, s := split(pieces...)
			if thinking != c.thinking || text != c.text {
				t.Errorf("%q, %s: %q and %q, want %q and %q", c.in, name, thinking, text, c.thinking, c.text)
			}
			p, ok := s.Part()
			if tagged := strings.HasPrefix(strings.TrimSpace(c.in), "<think>") || strings.HasPrefix(c.in, "<thinking>"); ok != tagged {
				t.Errorf("%q: a part is %v", c.in, ok)
			}
			var raw string
			if ok && (json.Unmarshal(p.Raw, &raw) != nil || raw+text != c.in || p.Text != thinking || !p.Parsed) {
				t.Errorf("%q: the part %+v loses something (%q)", c.in, p, raw)
			}
		}
	}
}

func TestThinkSplitterNative(t *testing.T) {
	t.Parallel()
	var s ThinkSplitter
	if a, b := s.Push("\n<th"); a+b != "" {
		t.Errorf("half a tag was given out: %q %q", a, b)
	}
	if got := s.Native(); got != "\n<th" {
		t.Errorf("held text %q", got)
	}
	if a, b := s.Push("<think>x</think>"); a != "" || b != "<think>x</think>" {
		t.Errorf("split in spite of native reasoning: %q %q", a, b)
	}
}

// However the text is cut, the outcome is the same and nothing is lost.
func TestThinkSplitterSplitAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{"<think>", "</think>", "<thinking>", "</thinking>", "<", " ", "\n", "a", "é"}))
		pieces := words.Draw(t, "words")
		in := strings.Join(pieces, "")
		thinking, text, _ := split(in)
		a, b, s := split(pieces...)
		c, d, _ := split(strings.Split(in, "")...)
		if a != thinking || b != text || c != thinking || d != text {
			t.Fatalf("%q: %q %q, %q %q, %q %q", in, thinking, text, a, b, c, d)
		}
		raw := ""
		if p, ok := s.Part(); ok {
			must.Do(t, json.Unmarshal(p.Raw, &raw))
		}
		if raw+text != in {
			t.Fatalf("%q became %q and %q", in, raw, text)
		}
	})
}
