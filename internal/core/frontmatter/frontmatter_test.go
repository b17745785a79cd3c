package frontmatter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, src string
		fields    string // name=value, sorted
		body      string
		err       error
	}{
		{"none", "# Title\n", "", "# Title\n", nil},
		{"empty", "", "", "", nil},
		{"plain", "---\nname: a\nModel: sonnet\n---\n\nBody.\n", "model=sonnet name=a", "Body.\n", nil},
		{"windows", "\ufeff---\r\nname: a\r\n---\r\nBody.\r\n", "name=a", "Body.\n", nil},
		{"a number", "---\nbudget: 0.5\n---\n", "budget=0.5", "", nil},
		{"folded", "---\ndescription: >\n  one\n  two\n---\n", "description=one two", "", nil},
		{"a colon without quotes", "---\nname: a\ndescription: Use it when: x. Examples: <example>user: \"hi\"</example>\ntools: Read, Grep\n---\nB", `description=Use it when: x. Examples: <example>user: "hi"</example> name=a tools=Read, Grep`, "B", nil},
		{"a second line without quotes", "---\ndescription: a: b\n  more: text\nname: x\n---\n", "description=a: b\nmore: text name=x", "", nil},
		{"a rule below", "---\nname: a\n---\ntext\n---\nmore\n", "name=a", "text\n---\nmore\n", nil},
		{"no end", "---\nname: a\n", "", "---\nname: a\n", ErrOpen},
		{"aliases", "---\na: &x [1,1]\nb: [*x,*x]\n---\n", "", "", ErrAlias},
		{"large", "---\na: " + strings.Repeat("x", maxHead) + "\n---\n", "", "", ErrLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, body, err := Parse(c.src)
			if !errors.Is(err, c.err) || body != c.body {
				t.Errorf("%q %v", body, err)
			}
			var got []string
			for _, k := range []string{"budget", "description", "model", "name", "tools"} {
				if v := f.Text(k); v != "" {
					got = append(got, k+"="+v)
				}
			}
			if s := strings.Join(got, " "); s != c.fields {
				t.Errorf("fields %q, want %q", s, c.fields)
			}
		})
	}
}

func TestList(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"Read, Grep,Glob", "[Read Grep Glob] true"},
		{"[Read, Grep]", "[Read Grep] true"},
		{"\n  - Read\n  - Bash(git:*, go test)", "[Read Bash(git:*, go test)] true"},
		{"Bash(a,b), Read", "[Bash(a,b) Read] true"},
		{"", "[] true"},
	} {
		f, _, err := Parse("---\ntools: " + c.yaml + "\n---\n")
		names, set := f.List("tools")
		if got := fmt.Sprint(names, set); err != nil || got != c.want {
			t.Errorf("%q: %s %v, want %s", c.yaml, got, err, c.want)
		}
	}
	if names, set := (Fields{}).List("tools"); set || names != nil {
		t.Error("a list that is not there")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\n---\nb")
	f.Add("---\na: &x [1]\nb: *x\n---\n")
	f.Add("---\n? - : {\n---\n")
	f.Fuzz(func(t *testing.T, src string) {
		fields, body, _ := Parse(src)
		if len(body) > len(src) {
			t.Error("the body is longer than the file")
		}
		for k := range fields {
			fields.Text(k)
			fields.List(k)
		}
	})
}
