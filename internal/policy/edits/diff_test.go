package edits

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// apply is the plainest reading of a unified diff: every line number counts.
func apply(before, patch string) (string, error) {
	lines := strings.SplitAfter(before, "\n")
	var out strings.Builder
	at := 0
	ps := strings.SplitAfter(patch, "\n")
	for i, p := range ps {
		switch {
		case i < 2 || p == "":
		case p[0] == '@':
			var a, n, c, d int
			if _, err := fmt.Sscanf(p, "@@ -%d,%d +%d,%d @@", &a, &n, &c, &d); err != nil {
				return "", err
			}
			if n > 0 {
				a--
			}
			for ; at < a; at++ {
				out.WriteString(lines[at])
			}
			if got := strings.Count(out.String(), "\n"); d > 0 && got != c-1 || d == 0 && got != c {
				return "", fmt.Errorf("%q begins at line %d", p, got)
			}
		case p[0] == '\\':
		default:
			text := p[1:]
			if i+1 < len(ps) && strings.HasPrefix(ps[i+1], "\\") {
				text = strings.TrimSuffix(text, "\n")
			}
			if p[0] != '+' {
				if lines[at] != text {
					return "", fmt.Errorf("line %d is %q, the diff says %q", at, lines[at], text)
				}
				at++
			}
			if p[0] != '-' {
				out.WriteString(text)
			}
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String(), nil
}

// A diff, applied, gives the other content, and shows no more than its context.
func TestDiff(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "", " ", "\r", "x\ty", "long line"})
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "newline") {
			s += "\n"
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		head, tail := text.Draw(t, "head"), text.Draw(t, "tail")
		before, after := head+text.Draw(t, "before")+tail, head+text.Draw(t, "after")+tail
		d, added, removed := Diff("a/f", "b/f", []byte(before), []byte(after))
		if before == after {
			if d != "" {
				t.Fatalf("%q", d)
			}
			return
		}
		got, err := apply(before, d)
		if err != nil || got != after {
			t.Fatalf("%q with\n%s\ngives %q, want %q: %v", before, d, got, after, err)
		}
		if lines := strings.Count(after, "\n") - strings.Count(before, "\n"); added-removed < lines-1 || added-removed > lines+1 {
			t.Fatalf("+%d -%d for %d lines more", added, removed, lines)
		}
		if from, to := Touched(d); from > 0 { // what lies above and below is as before
			old, now := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
			below := now[to+added-removed:]
			if !slices.Equal(old[:from-1], now[:from-1]) || !slices.Equal(old[to:], below) {
				t.Fatalf("%q to %q: lines %d to %d", before, after, from, to)
			}
		} else if before != "" {
			t.Fatalf("%q to %q: no lines", before, after)
		}
	})
	long := strings.Repeat("line\n", 1000)
	d, added, removed := Diff("a", "b", []byte(long+"x\n"+long), []byte(long+"y\n"+long))
	if want := "--- a\n+++ b\n@@ -998,7 +998,7 @@\n line\n line\n line\n-x\n+y\n line\n line\n line\n"; d != want || added != 1 || removed != 1 {
		t.Errorf("%s", d)
	}
}
