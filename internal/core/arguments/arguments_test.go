package arguments

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, " \t ": nil, "a": {"a"}, " a  b\tc ": {"a", "b", "c"}, `"a b" c`: {"a b", "c"}, `a' 'b`: {"a b"}, `""`: {""}, `'' x`: {"", "x"},
		`"it's"`: {"it's"}, `'open end`: {"open end"}, `a\ b`: {`a\`, "b"}, "a\nb": {"a\nb"}, "漢 字": {"漢", "字"},
	} {
		if got := Split(in, " \t"); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Split("a\nb 'c\nd'", " \t\n"); !slices.Equal(got, []string{"a", "b", "c\nd"}) {
		t.Errorf("%q", got)
	}
}
