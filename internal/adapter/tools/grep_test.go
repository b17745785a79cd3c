package tools

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// grepped reports whether the result of a search has a line below its path.
func grepped(text, path string, n int, line string) bool {
	_, rest, ok := strings.Cut("\n"+text+"\n", "\n"+path+"\n")
	for l := range strings.Lines(rest) {
		numbers, found, more := strings.Cut(bare(l), ":")
		if !more {
			return false // the next path
		}
		for _, k := range strings.Split(numbers, ", ") {
			if k == itoa(n) && found == line {
				return ok
			}
		}
	}
	return false
}

// SPEC 20.3: what a search found is written without saying anything twice.
func TestGrepWritesNothingTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files map[string]string
		args  string
		want  string
	}{
		{"paths", map[string]string{"a/b.go": "x\nxy\n", "c.go": "x\n"}, `{"pattern":"x"}`, "a/b.go\n1:x\n2:xy\nc.go\n1:x"},
		{"equal lines", map[string]string{"a": "return x\ny\nreturn x\nx\nreturn x\n"}, `{"pattern":"x"}`, "a\n1, 3, 5:return x\n4:x"},
		{"equal but for blanks", map[string]string{"a": "x\n x\n"}, `{"pattern":"x"}`, "a\n1:x\n2: x"},
		{"files only", map[string]string{"a": "x\nx\n", "b": "x\n"}, `{"pattern":"x","files_only":true}`, "a\nb"},
		{"a binary file with a match", map[string]string{"a": "x\n", "b\n": "x\x00", "c": "y\x00"}, `{"pattern":"x"}`, "a\n1:x\n[found in 1 binary file, whose lines are not shown: \"b\\n\"]"},
		{"only in a binary file", map[string]string{"a": "y\n", "b": "x\x00"}, `{"pattern":"x"}`, "no matches in 1 file (1 binary or too large); [found in 1 binary file, whose lines are not shown: b]"},
		{"a line like a path", map[string]string{"a": "b:1:x\n"}, `{"pattern":"x"}`, "a\n1:b:1:x"},
	} {
		env, fs := memEnv(c.files)
		r := call(t, env, Grep(), c.args)
		if r.Text != c.want {
			t.Errorf("%s: %q, want %q", c.name, r.Text, c.want)
		}
		checkSeen(t, c.name, r, fs)
	}
	var b strings.Builder
	writeMatches(&b, grepArgs{Context: 1}, []tool.Match{{Path: "a", Line: 1, Text: "x", Hit: true}, {Path: "a", Line: 2, Text: "y"}, {Path: "a", Line: 8, Text: "x", Hit: true}, {Path: "b", Line: 9, Text: "x", Hit: true}})
	if want := "a\n1:x\n2-y\n--\n8:x\nb\n9:x\n"; b.String() != want {
		t.Errorf("with context: %q, want %q", b.String(), want)
	}
}

// SPEC 20.3: a search that finds too much to read is answered by counts, and by the lines
// that most likely matter.
func TestGrepTooWide(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 60 {
		var b strings.Builder
		for n := range 10 {
			fmt.Fprintf(&b, "var isEqual%d = the text of a line that is not short\n", n)
		}
		files[fmt.Sprintf("lib/part%d/f%d.go", i%3, i)] = b.String()
	}
	files["core/z.go"] = "func Equal(a, b int) bool\n"
	for _, c := range []struct {
		name, args string
		limit      int
		want       []string
		most       int
	}{
		{"lines", `{"pattern":"Equal"}`, 0, []string{"601 matches in 61 files, too many to show. By folder:\n   200 lib/part0/\n   200 lib/part1/\n   200 lib/part2/\n     1 core/\n50 of them:\n", "core/z.go\n1:func Equal(a, b int) bool\n", "[to see others, name one of these folders"}, 5_000},
		{"literal", `{"pattern":"Equal","literal":true}`, 0, []string{"core/z.go\n1:func Equal"}, 5_000},
		{"with context", `{"pattern":"(?i)equal","context":3}`, 0, []string{"core/z.go\n1:func Equal"}, 5_000},
		{"one folder", `{"pattern":"is"}`, 0, []string{"50 of them"}, 5_000},
		{"little room", `{"pattern":"Equal"}`, 2_000, []string{"601 matches", "core/z.go", "[to see others"}, 2_000},
		{"files only", `{"pattern":"Equal","files_only":true}`, 700, []string{"61 files with a match, too many to show", "    20 lib/part1/"}, 700},
	} {
		env, fs := memEnv(files)
		env.Limit = c.limit
		r := call(t, env, Grep(), c.args)
		for _, w := range c.want {
			if !strings.Contains(r.Text, w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, r.Text)
			}
		}
		if len(r.Text) > c.most {
			t.Errorf("%s: %d bytes", c.name, len(r.Text))
		}
		checkSeen(t, c.name, r, fs)
	}
	env, _ := memEnv(map[string]string{"a": strings.Repeat("x", 100_000) + "\n"})
	if r := call(t, env, Grep(), `{"pattern":"x"}`); len(r.Text) > 60_000 || !strings.Contains(r.Text, "a\n1:xxx") {
		t.Errorf("one long line: %d bytes", len(r.Text))
	}
}

// SPEC 4.10: of the lines around the matches as many are shown as fit, more of those behind
// them, and it is said how many that are.
func TestContextThatFits(t *testing.T) {
	t.Parallel()
	var all []tool.Match
	for file := range 2 {
		for line := 1; line <= 400; line++ {
			all = append(all, tool.Match{Path: fmt.Sprint("f", file), Line: line, Text: strings.Repeat("x", 40), Hit: line == 150 || line == 350})
		}
	}
	for _, c := range []struct{ context, room, before, after int }{{100, 1 << 20, 25, 100}, {50, 1 << 20, 50, 50}, {100, 20_000, 25, 100}, {100, 12_000, 12, 50}, {60, 5000, 3, 15}, {3, 600, 0, 1}, {3, 250, 0, 0}} {
		var b strings.Builder
		shown := showMatches(&b, grepArgs{Context: c.context}, tool.Matches{Lines: nearby(all, c.context, c.context), Files: 2, Hits: 4}, c.room)
		before, after := 0, 0
		for _, l := range shown {
			if l.Path == "f0" && l.Line < 250 {
				before, after = max(before, 150-l.Line), max(after, l.Line-150)
			}
		}
		note := fmt.Sprintf("[of each match %s before it, %d behind: more would not fit]\n", plural.Of(c.before, "line"), c.after)
		if before != c.before || after != min(c.after, 99) || strings.HasSuffix(b.String(), note) != (c.before < c.context) || !slices.ContainsFunc(shown, func(l tool.Match) bool { return l.Path == "f1" && l.Line == 350 }) {
			t.Errorf("%d in %d: %d and %d lines, %d bytes, %q", c.context, c.room, before, after, b.Len(), b.String()[max(0, b.Len()-80):])
		}
	}
}
