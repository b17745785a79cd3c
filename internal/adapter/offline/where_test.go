package offline

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 5.2: names of any script are found as words, and longer ones are not.
func TestWhereAnyScript(t *testing.T) {
	r := workspace(t, "go.mod", mod,
		"a.go", "package x\n\nfunc 名前() {}\n\nfunc 名前表() { 名前() }\n\nfunc café() {}\n\nfunc 数2(größe int) int { return größe }\n",
		"b.py", "def नाम():\n    pass\n\nनाम()\nनामी = 1\n")
	for name, want := range map[string][]string{
		"名前":    {"defined at a.go:3", "a.go:5"},
		"café":  {"defined at a.go:7"},
		"größe": {"a.go:9"},
		"数2":    {"defined at a.go:9"},
		"नाम":   {"defined at b.py:1", "used on 1 line", "b.py:4"},
	} {
		_, last := r.do("where is `" + name + "` defined?")
		contains(t, last, want...)
	}
	for _, name := range []string{"前", "caf", "größ", "नामी2"} {
		_, last := r.do("where is `" + name + "` defined?")
		contains(t, last, "appears nowhere")
	}
}

func TestReplaceWord(t *testing.T) {
	for _, c := range []struct {
		text, old, new, want string
		n                    int
	}{
		{"foo foofoo foo", "foo", "bar", "bar foofoo bar", 2},
		{"“foo”→foo", "foo", "bar", "“bar”→bar", 2},
		{"名前 名前表", "名前", "x", "x 名前表", 1},
		{"caf cafe\u0301", "cafe", "x", "caf cafe\u0301", 0},
		{"foo\xe9 foo", "foo", "bar", "foo\xe9 bar", 1},
		{"foo", "", "bar", "foo", 0},
	} {
		if got, n := replaceWord(c.text, c.old, c.new); got != c.want || n != c.n {
			t.Errorf("%q: %q, %d", c.text, got, n)
		}
	}
}

// served is a session whose language server answers each tool with a text; an
// answer that begins with "error" is a failure.
func served(answers map[string]string) (*hands, *[]string) {
	asked := &[]string{}
	h := &hands{seen: map[string]string{}}
	for name := range answers {
		h.tools = append(h.tools, name)
	}
	h.ask = func(a ask) []llm.Result {
		var out []llm.Result
		for _, c := range a.calls {
			*asked = append(*asked, c.Name)
			text := answers[c.Name]
			out = append(out, llm.Result{ID: c.ID, Name: c.Name, Text: text, Error: strings.HasPrefix(text, "error")})
		}
		return out
	}
	return h, asked
}

// A line with two uses is one line.
func TestWhereListsLinesOnce(t *testing.T) {
	h, _ := served(map[string]string{
		"lsp_definition": "a.go:3:6:func Foo() {\n",
		"lsp_references": "a.go:3:6:func Foo() {\na.go:5:2:Foo(Foo())\na.go:5:6:Foo(Foo())\nb.go:1:1:Foo()\nb.go:1:7:Foo()\n",
	})
	planWhere(h, intent{name: "Foo"})
	text := h.text.String()
	contains(t, text, "defined at a.go:3", "used on 2 lines")
	if strings.Count(text, "a.go:5") != 1 || strings.Count(text, "b.go:1") != 1 {
		t.Error(text)
	}
}

// SPEC 12.2: where not every project was asked nothing is renamed, and nothing is
// said not to exist.
func TestNotAllProjects(t *testing.T) {
	for name, answer := range map[string]string{
		"found nowhere": "error: Foo may be in a project that was not asked; not asked were these projects: c: give path and line",
		"found once":    "error: Foo stands for one of these symbols; there may be others, for not asked were these projects: c; give path and line:\na.go:3: function x.Foo\n…",
		"of that kind":  "error: Foo stands for one of these symbols; there may be others, for not asked were these projects: c; give path and line:\na.go:3: field x.T.Foo\n…",
	} {
		all := map[string]string{"lsp_definition": answer, "lsp_references": answer, "lsp_rename": "ok", "grep": "a.go\n3:func Foo() {\n"}
		h, asked := served(all)
		planRename(h, intent{old: "Foo", new: "Bar", what: "function"})
		for _, a := range *asked {
			if a == "lsp_rename" {
				t.Errorf("%s: it renamed", name)
			}
		}
		text := h.text.String()
		contains(t, text, "nothing was changed")
		if !h.declined || strings.Contains(text, "No language server knows") {
			t.Errorf("%s: %s", name, text)
		}
	}
	h, _ := served(map[string]string{"lsp_definition": "error: Foo may be in a project that was not asked; not asked were these projects: c", "lsp_references": "", "grep": "a.go\n3:func Foo() {\n"})
	planWhere(h, intent{name: "Foo"})
	contains(t, h.text.String(), "defined at a.go:3", "searched the text")
}
