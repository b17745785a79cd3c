package mention

import (
	"slices"
	"strings"
	"testing"
)

// SPEC 10.1: what a text mentions.
func TestMentions(t *testing.T) {
	for text, want := range map[string][]string{
		"@a.go": {"a.go"}, "see @a.go, and (@./b/c.md).": {"a.go", "./b/c.md"}, "@a.go twice @a.go": {"a.go"}, "@\"my file.txt\" now": {"my file.txt"},
		"write to bob@example.org": nil, "x@a.go": nil, "`@a.go` and ``x ` @b``": nil, "```\n@a.go\n```\n@b.go": {"b.go"}, "it`s @a.go": {"a.go"},
		"@a.go:10-20?": {"a.go:10-20"}, "@": nil, "@ a": nil, "@@a": nil, "@dir/": {"dir/"}, "line\n@a.go\n": {"a.go"}, "@alice!": {"alice"}, "@user@host": nil,
		"@\"open": nil, "": nil, "@ü.txt": {"ü.txt"}, "'@a.go'": {"a.go"},
	} {
		if got := mentions(text); !slices.Equal(got, want) {
			t.Errorf("%q mentions %q, want %q", text, got, want)
		}
	}
	if got := mentions(strings.Repeat("`", 100_000) + strings.Repeat("@a ", 100_000)); len(got) > 1 {
		t.Errorf("%d mentions", len(got))
	}
}

func TestMentionedLines(t *testing.T) {
	for m, want := range map[string]struct {
		name     string
		from, to int
	}{
		"a.go": {"a.go", 0, 0}, "a.go:10": {"a.go", 10, 10}, "a.go:10-20": {"a.go", 10, 20}, "a.go#L3-L9": {"a.go", 3, 9}, "a.go#L3": {"a.go", 3, 3}, ":1": {":1", 0, 0},
	} {
		if name, from, to := lines(m); name != want.name || from != want.from || to != want.to {
			t.Errorf("%s: %s %d %d", m, name, from, to)
		}
	}
}
