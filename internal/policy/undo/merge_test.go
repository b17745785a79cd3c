package undo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// SPEC 11.2: what somebody else wrote stays, beside what is put back.
func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name, base, ours, theirs, want string
		conflicts                      int
	}{
		{name: "both at different places", base: "a\nb\nc\nd\n", ours: "A\nb\nc\nd\n", theirs: "a\nb\nc\nD\n", want: "A\nb\nc\nD\n"},
		{name: "they touch", base: "a\nb\n", ours: "A\nb\n", theirs: "a\nB\n", want: "A\nB\n"},
		{name: "appended behind what goes", base: "a\nagent\n", ours: "a\nagent\nmine\n", theirs: "a\n", want: "a\nmine\n"},
		{name: "put in before what goes", base: "agent\nz\n", ours: "mine\nagent\nz\n", theirs: "z\n", want: "mine\nz\n"},
		{name: "put in the middle of what goes", base: "1\n2\n", ours: "1\nmine\n2\n", theirs: "", conflicts: 1},
		{name: "the same on both sides", base: "a\nb\n", ours: "a\nx\n", theirs: "a\nx\n", want: "a\nx\n"},
		{name: "the same line", base: "a\nb\nc\n", ours: "a\nx\nc\n", theirs: "a\ny\nc\n", conflicts: 1},
		{name: "two things at one place", base: "a\nb\n", ours: "a\nx\nb\n", theirs: "a\ny\nb\n", conflicts: 1},
		{name: "one conflict of two changes", base: "a\nb\nc\nd\ne\n", ours: "1\nb\nc\nd\n5\n", theirs: "2\nb\nc\nd\ne\n", conflicts: 1},
		{name: "CRLF stays", base: "a\r\nb\r\nc\r\n", ours: "a\r\nb\r\nC\r\n", theirs: "A\r\nb\r\nc\r\n", want: "A\r\nb\r\nC\r\n"},
		{name: "line endings changed", base: "a\nb\n", ours: "a\r\nb\r\n", theirs: "a\nx\n", conflicts: 1},
		{name: "no final newline", base: "a\nb\nc", ours: "A\nb\nc", theirs: "a\nb\nC", want: "A\nb\nC"},
		{name: "no line becomes one with the next", base: "a\nb\n", ours: "a\nb", theirs: "a\nb\nc\n", conflicts: 1},
		{name: "from nothing", base: "", ours: "mine\n", theirs: "", want: "mine\n"},
		{name: "deleted by somebody, changed by the agent", base: "a\nagent\nb\n", ours: "a\nb\n", theirs: "a\nbefore\nb\n", conflicts: 1},
		{name: "deleted with the lines around it", base: "a\nb\nagent\nc\nd\n", ours: "a\nd\n", theirs: "a\nb\nbefore\nc\nd\n", conflicts: 1},
		{name: "deleted at the end", base: "a\nagent\n", ours: "a\n", theirs: "a\nbefore\n", conflicts: 1},
		{name: "all deleted, one line changed by the agent", base: "a\nagent\nb\n", ours: "", theirs: "a\nbefore\nb\n", conflicts: 1},
		{name: "one of several deleted that the agent changed", base: "1\n2\n3\n", ours: "1\n3\n", theirs: "x\ny\nz\n", conflicts: 1},
		{name: "deleted by both", base: "a\nagent\nb\n", ours: "a\nb\n", theirs: "a\nb\n", want: "a\nb\n"},
		{name: "changed by somebody, put in by the agent", base: "a\nagent\nb\n", ours: "a\nmine\nb\n", theirs: "a\nb\n", conflicts: 1},
		{name: "all gone on one side", base: "a\n", ours: "a\n", theirs: "", want: ""},
	} {
		m := merge([]byte(c.base), []byte(c.ours), []byte(c.theirs))
		if len(m.Conflicts) != c.conflicts || c.conflicts == 0 && string(m.Text) != c.want {
			t.Errorf("%s: %q, %d conflicts %v; want %q, %d", c.name, m.Text, len(m.Conflicts), m.Conflicts, c.want, c.conflicts)
		}
	}
	m := merge([]byte("a\nb\nc\n"), []byte("0\na\nx\nc\n"), []byte("a\ny\nc\n"))
	if len(m.Conflicts) != 1 || m.Conflicts[0].Line != 3 || string(m.Conflicts[0].Ours) != "x\n" || string(m.Conflicts[0].Theirs) != "y\n" {
		t.Errorf("%+v", m.Conflicts)
	}
}

// text draws a content with many equal lines, some without a final newline.
func text(t *rapid.T, name string) []byte {
	ls := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "}\n", "\n", "c\r\n", "d\n"}), 0, 12).Draw(t, name)
	s := strings.Join(ls, "")
	if rapid.IntRange(0, 4).Draw(t, name+" cut") == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	return []byte(s)
}

func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, o, th := text(t, "base"), text(t, "ours"), text(t, "theirs")
		lawful(t, b, o, th)
	})
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nx"), []byte("\r\nb"))
	f.Fuzz(func(t *testing.T, b, o, th []byte) { lawful(t, b, o, th) })
}

type failer interface {
	Errorf(format string, args ...any)
}

func lawful(t failer, b, o, th []byte) {
	if m := merge(b, b, th); !bytes.Equal(m.Text, th) || m.Conflicts != nil {
		t.Errorf("Merge(b, b, t) of %q and %q is %q %v", b, th, m.Text, m.Conflicts)
	}
	if m := merge(b, o, b); !bytes.Equal(m.Text, o) || m.Conflicts != nil {
		t.Errorf("Merge(b, o, b) of %q and %q is %q %v", b, o, m.Text, m.Conflicts)
	}
	if m := merge(b, o, o); !bytes.Equal(m.Text, o) || m.Conflicts != nil {
		t.Errorf("Merge(b, o, o) of %q and %q is %q %v", b, o, m.Text, m.Conflicts)
	}
	m := merge(b, o, th)
	if len(m.Conflicts) > 0 {
		if m.Text != nil {
			t.Errorf("a text beside conflicts: %q", m.Text)
		}
		return
	}
	// Every line of ours is there but for those of the base that theirs took.
	have, took := count(m.Text), map[string]int{}
	for _, h := range compare(lines(b), lines(th)) {
		for _, l := range lines(b)[h.from:h.to] {
			took[string(l)]++
		}
	}
	for l, n := range count(o) {
		if lost := n - have[l]; lost > took[l] {
			t.Errorf("Merge(%q, %q, %q) = %q lost %q", b, o, th, m.Text, l)
		}
	}
	// And no line is there that neither side has.
	for l, n := range have {
		if n > count(o)[l]+count(th)[l] {
			t.Errorf("Merge(%q, %q, %q) = %q made up %q", b, o, th, m.Text, l)
		}
	}
}

func count(b []byte) map[string]int {
	out := map[string]int{}
	for l := range bytes.Lines(b) {
		out[string(l)]++
	}
	return out
}

// Edits of different lines of a long file are both kept, however it is cut.
func TestMergeApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b, o, th strings.Builder
		for i := range rapid.IntRange(1, 60).Draw(t, "lines") {
			line := rapid.SampledFrom([]string{"x\n", "y\n", strings.Repeat("u", i) + "\n"}).Draw(t, "line")
			b.WriteString(line)
			mine, yours := line, line
			switch rapid.SampledFrom([]string{"", "", "", "ours", "theirs"}).Draw(t, "who") {
			case "ours":
				mine = "mine " + line
			case "theirs":
				yours = "yours " + line
			}
			o.WriteString(mine)
			th.WriteString(yours)
		}
		m := merge([]byte(b.String()), []byte(o.String()), []byte(th.String()))
		if len(m.Conflicts) == 0 && strings.Count(string(m.Text), "mine ") != strings.Count(o.String(), "mine ") {
			t.Errorf("lost a line: %q", m.Text)
		}
		if len(m.Conflicts) == 0 && strings.Count(string(m.Text), "yours ") != strings.Count(th.String(), "yours ") {
			t.Errorf("lost a line of theirs: %q", m.Text)
		}
	})
}

// SPEC 11.2: a merge of lines that stand apart is what it is for each of them
// alone: who alone changed or deleted it has his way, and where both did, and not
// alike, it is a conflict. What one side deleted never comes back.
func TestMergeAsEachLineAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b, o, th, want strings.Builder
		conflicts := 0
		for i := range rapid.IntRange(1, 20).Draw(t, "lines") {
			line := fmt.Sprintf("line %d\n", i)
			draw := func(who string) string {
				return rapid.SampledFrom([]string{line, line, "", "changed " + line, who + " " + line}).Draw(t, who)
			}
			mine, yours := draw("mine"), draw("yours")
			anchor := fmt.Sprintf("anchor %d\n", i)
			b.WriteString(anchor + line)
			o.WriteString(anchor + mine)
			th.WriteString(anchor + yours)
			switch {
			case yours == line, mine == yours:
				want.WriteString(anchor + mine)
			case mine == line:
				want.WriteString(anchor + yours)
			default:
				conflicts++
			}
		}
		m := merge([]byte(b.String()), []byte(o.String()), []byte(th.String()))
		if len(m.Conflicts) != conflicts || conflicts == 0 && string(m.Text) != want.String() {
			t.Errorf("Merge(%q, %q, %q) = %q, %d conflicts; want %q, %d", b.String(), o.String(), th.String(), m.Text, len(m.Conflicts), want.String(), conflicts)
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	var base bytes.Buffer
	for i := range 20_000 {
		base.WriteString(strings.Repeat("}\n", 1+i%3))
		base.WriteString(strings.Repeat("x", i%50) + "\n")
	}
	ours := bytes.Replace(base.Bytes(), []byte("xxx\n"), []byte("ours\n"), 40)
	theirs := append(bytes.Clone(base.Bytes()), "end\n"...)
	for b.Loop() {
		merge(base.Bytes(), ours, theirs)
	}
}

// SPEC 11.2: lines that any two files may have are no sign that one came from
// the other.
func TestGone(t *testing.T) {
	got := removedLines([]byte("1\n}\n\n});\n  end\nreturn\nelse {\nP1\nx = 1\n12345\nfunc f() {\n"), []byte("x = 1\n"))
	for _, l := range []string{"P1", "12345", "func f() {"} {
		if !got[l] {
			t.Errorf("%q is not told from others", l)
		}
	}
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
}
