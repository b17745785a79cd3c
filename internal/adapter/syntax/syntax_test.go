package syntax

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func content(s string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte(s), nil }
}

// look returns what is told of a change; before "" means that the file is new.
func look(t *testing.T, l *Look, name, before, after string) string {
	t.Helper()
	c := tool.CodeChange{Path: name, After: content(after)}
	if before != "" {
		c.Existed, c.Before = true, content(before)
	}
	text := ""
	for _, d := range l.Broken(t.Context(), []tool.CodeChange{c}) {
		text += fmt.Sprintf("%s:%d: %s", d.Path, d.Line, d.Message)
		if d.Line == 0 || d.Severity != tool.SeverityError {
			t.Errorf("%+v", d)
		}
	}
	return text
}

// SPEC 12.2, 20.2: what a change broke is known without a language server; what was broken
// before, and what nobody can tell, is not reported.
func TestBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := &Look{Root: dir, Limit: time.Hour}
	const fine = "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Println(1) }\n"
	for name, c := range map[string][4]string{
		"brace":               {"a.go", fine, fine + "func G() {\n", "a.go:6: expected '}', found 'EOF'"},
		"new":                 {"a.go", "", "package\n", "a.go:1: expected 'IDENT', found 'EOF'"},
		"fine":                {"a.go", fine, fine + "func G() {}\n", ""},
		"broken before":       {"a.go", "package a\nfunc {\n", "package a\nfunc {\nvar x\n", ""},
		"mended":              {"a.go", "package a\nfunc {\n", fine, ""},
		"json":                {"a.json", `{"a": 1}`, "{\n\"a\": 1 2\n}", "a.json:2: invalid character '2' after object key:value pair"},
		"json with comments":  {"tsconfig.json", "", "{\n// why\n\"a\": [1,],\n}", ""},
		"json that was odd":   {"a.json", "{{name}}", "{{name}} {{more}}", ""},
		"another language":    {"a.txt", "", "((((", ""},
		"not run: no sandbox": {"a.py", "", "def (", ""},
	} {
		if got := look(t, l, c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%s: %q, want %q", name, got, c[3])
		}
	}
	gone := tool.CodeChange{Path: "a.go", Existed: true, Before: content(fine)}
	unread := tool.CodeChange{Path: "a.go", After: func(context.Context) ([]byte, error) { return nil, errors.New("gone") }}
	unknown := tool.CodeChange{Path: "a.go", Existed: true, After: content("package")}
	if got := l.Broken(t.Context(), []tool.CodeChange{gone, unread, unknown}); got != nil {
		t.Errorf("%+v", got)
	}
	if got := look(t, l, "a.go", "", "package\n"+strings.Repeat("//\n", maxSize)); got != "" {
		t.Errorf("a large file: %q", got)
	}
}

// fake is a starter that starts nothing and remembers what it was to start.
type fake struct {
	starts []process.Program
}

func (f *fake) Start(_ context.Context, p process.Program) (process.Process, error) {
	f.starts = append(f.starts, p)
	return nil, exec.ErrNotFound
}

// SPEC 16.16: a parser is started read-only, with nothing of the workspace, the environment
// or PATH; without it nothing is said.
func TestParsersAreApart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.py", "a.js", "a.mjs", "a.sh"} {
		f := &fake{}
		if got := look(t, &Look{Root: "/work/x", Start: f, Limit: time.Hour}, name, "", "(((("); got != "" || len(f.starts) != 1 {
			t.Fatalf("%s: %q, %d starts", name, got, len(f.starts))
		}
		p := f.starts[0]
		if !p.Exact || p.Dir != "/" || p.Confine.Level != process.ReadOnly || len(p.Confine.Reads) > 0 || len(p.Apart) != 1 || p.Apart[0] != "/work/x" || strings.Contains(strings.Join(append(p.Args, p.Env...), " "), "/work") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	f := &fake{}
	if look(t, &Look{Root: "/work/x", Start: f, Limit: time.Hour}, "a.js", "", "let a = <b/>"); len(f.starts) != 0 {
		t.Error("JSX is not for node")
	}
}

// SPEC 12.2: the parsers that are installed here say what is broken, and accept what is not.
func TestParsers(t *testing.T) {
	t.Parallel()
	l := &Look{Root: t.TempDir(), Start: &processtest.Plain{}, Limit: time.Hour}
	for name, c := range map[string]struct{ program, file, before, after, want string }{
		"sh":               {"bash", "a.sh", "echo 1\n", "echo 1\nif true; then\n", "a.sh:3: syntax error: unexpected end of file"},
		"sh fine":          {"bash", "a.sh", "", "if true; then exit 2; fi\n", ""},
		"sh broken before": {"bash", "a.sh", "if\n", "if\nif\n", ""},
		"py":               {"python3", "a.py", "x = 1\n", "x = 1\ndef f(:\n", "a.py:2: invalid syntax"},
		"py indentation":   {"python3", "a.py", "x = 1\n", "def f():\nreturn 1\n", "a.py:2: expected an indented block"},
		"py fine":          {"python3", "a.py", "", "import sys\nsys.exit(9)\n", ""},
		"js script":        {"node", "a.js", "", "const a = require('x'); return;\n", ""},
		"js module":        {"node", "a.js", "", "import a from 'x';\nexport default await a();\n", ""},
		"js":               {"node", "a.js", "let a\n", "let a\nfunction (\n", "a.js:2: "},
		"js in a module":   {"node", "a.js", "", "import a from 'x';\nlet b = ;\n", "a.js:2: Unexpected token ';'"},
	} {
		if _, err := exec.LookPath(c.program); err != nil {
			continue // TestParsersAreApart has what does not need it
		}
		if got := look(t, l, c.file, c.before, c.after); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// SPEC 12.2: what go vet newly finds in the package of a change is known without a language
// server, once; what it found before, and what nobody can tell, is not reported.
func TestTypes(t *testing.T) {
	t.Parallel()
	const (
		whole  = "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\\n\", G(1)) }\n"
		g      = "package a\n\nfunc G(n int) int { return n }\n"
		broken = "package a\n\nfunc G() int { return 1 }\n"
		named  = "package a\n\nfunc G(n int) int { return m }\n"
		other  = "package a\n\nfunc G(n int) string { return `` }\n"
		said   = "a/a.go:5: too many arguments in call to G"
		printf = `a/a.go:5: fmt.Printf format %d has arg G(1) of wrong type string`
	)
	type step struct{ file, after, want string } // after "": the file goes
	for name, c := range map[string]struct {
		start map[string]string
		steps []step
	}{
		"a caller":      {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", broken, said}, {"a/g.go", broken + "\n", ""}}},
		"again":         {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", broken, said}, {"a/g.go", g, ""}, {"a/g.go", broken, said}}},
		"the next one":  {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", broken, said}, {"a/g.go", named, "a/g.go:3: undefined: m"}}},
		"before":        {map[string]string{"a/a.go": whole, "a/g.go": broken}, []step{{"a/g.go", broken + "\n", ""}, {"a/g.go", named, ""}, {"a/g.go", g, ""}, {"a/g.go", broken, said}}},
		"an analyzer":   {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", other, printf}, {"a/g.go", other + "\n", ""}}},
		"its old news":  {map[string]string{"a/a.go": whole, "a/g.go": other}, []step{{"a/g.go", other + "\n", ""}, {"a/g.go", broken, said}}},
		"a test":        {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/a_test.go", "package a_test\n\nimport \"x/a\"\n\nvar _ = a.H\n", "a/a_test.go:5: undefined: a.H"}}},
		"a new package": {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"b/b.go", "package b\n\nvar X = y\n", "b/b.go:3: undefined: y"}}},
		"a file goes":   {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", "", "a/a.go:5: undefined: G"}}},
		"not imported":  {map[string]string{"a/a.go": g}, []step{{"a/a.go", "package a\n\nvar X = strings.ToUpper(``)\n", "a/a.go:3: undefined: strings"}}},
		"not used":      {map[string]string{"a/a.go": g}, []step{{"a/a.go", "package a\n\nimport \"fmt\"\n", "a/a.go:3: \"fmt\" imported and not used"}}},
		"its syntax":    {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", "package a\n\nfunc G(\n", "a/g.go:3: expected ')', found 'EOF'"}}},
		"no dependency": {map[string]string{"a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", "package a\n\nimport \"example.com/y\"\n\nfunc G(n int) int { return y.Z(n) }\n", "a/g.go:3: no required module provides package example.com/y; to add it:"}}},
		"no module":     {map[string]string{"go.mod": "modul x\n", "a/a.go": whole, "a/g.go": g}, []step{{"a/g.go", broken, ""}}},
		"served":        {map[string]string{"a/served.go": g}, []step{{"a/served.go", named, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			save := func(name, text string) {
				t.Helper()
				must.Do(t, errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)))
			}
			save("go.mod", "module x\n\ngo 1.24\n")
			for name, text := range c.start {
				save(name, text)
			}
			l := &Look{Root: dir, Start: &processtest.Plain{}, Limit: time.Hour, TypeLimit: time.Hour, Served: func(path string) bool { return path == "a/served.go" }}
			for i, s := range c.steps {
				ch := tool.CodeChange{Path: s.file}
				if was, err := os.ReadFile(filepath.Join(dir, s.file)); err == nil {
					ch.Existed, ch.Before = true, content(string(was))
				}
				if s.after == "" {
					must.Do(t, os.Remove(filepath.Join(dir, s.file)))
				} else {
					save(s.file, s.after)
					ch.After = content(s.after)
				}
				text := ""
				for _, d := range l.Broken(t.Context(), []tool.CodeChange{ch}) {
					text += fmt.Sprintf("%s:%d: %s", d.Path, d.Line, d.Message)
				}
				if text != s.want {
					t.Errorf("step %d: %q, want %q", i, text, s.want)
				}
			}
		})
	}
}

// SPEC 16.16: go vet is confined as it is told to be, and does not look for its program in
// the workspace. Where it is stopped again and again, it is not started any more.
func TestVetIsConfined(t *testing.T) {
	t.Parallel()
	f := &fake{}
	l := &Look{Root: "/work/x", Start: f, Limit: time.Hour, TypeLimit: time.Hour, Confine: process.Confine{Level: process.Workspace}}
	if got := look(t, l, "a/a.go", "package a\n", "package a\n\nvar X = y\n"); got != "" || len(f.starts) != 1 {
		t.Fatalf("%q, %+v", got, f.starts)
	}
	if p := f.starts[0]; p.Confine.Level != process.Workspace || len(p.Confine.Hosts) > 0 || p.Dir != "/work/x/a" || len(p.Apart) != 1 || p.Apart[0] != "/work/x" {
		t.Errorf("%+v", p)
	}
	l.TypeLimit = 1
	for range 2 * maxLate {
		look(t, l, "a/a.go", "package a\n", "package a\n\nvar X = y\n")
	}
	if n := len(f.starts); n != 1+maxLate {
		t.Errorf("%d starts", n)
	}
	var many []tool.CodeChange
	for i := range maxFiles + 1 {
		many = append(many, tool.CodeChange{Path: fmt.Sprintf("b/%d.go", i), After: content("package b\n")})
	}
	if l.Broken(t.Context(), many); len(f.starts) != 1+maxLate {
		t.Error("after many changes nobody can tell which one it was")
	}
}
