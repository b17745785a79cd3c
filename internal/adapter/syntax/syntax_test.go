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
	if err := os.WriteFile(filepath.Join(dir, "other.go"), []byte("package a\n\nvar log logger\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := &Look{Root: dir, Limit: time.Hour}
	const fine = "package a\n\nimport \"fmt\"\n\nfunc F() { fmt.Println(1) }\n"
	for name, c := range map[string][4]string{
		"brace":               {"a.go", fine, fine + "func G() {\n", "a.go:6: expected '}', found 'EOF'"},
		"new":                 {"a.go", "", "package\n", "a.go:1: expected 'IDENT', found 'EOF'"},
		"fine":                {"a.go", fine, fine + "func G() {}\n", ""},
		"broken before":       {"a.go", "package a\nfunc {\n", "package a\nfunc {\nvar x\n", ""},
		"mended":              {"a.go", "package a\nfunc {\n", fine, ""},
		"not imported":        {"a.go", fine, strings.Replace(fine, "fmt.Println(1)", "fmt.Println(strings.ToUpper(`x`))", 1), "a.go:5: undefined: strings (the package is not imported)"},
		"not used":            {"a.go", fine, strings.Replace(fine, "fmt.Println(1)", "", 1), `a.go:3: "fmt" imported and not used`},
		"imported":            {"a.go", "", "package a\n\nimport \"math/rand/v2\"\n\nvar X = rand.Int()\n", ""},
		"under a name":        {"a.go", "", "package a\n\nimport str \"strings\"\n\nvar X = str.ToUpper(``)\n", ""},
		"a name of another":   {"a.go", "", "package a\n\nimport \"github.com/goccy/go-json\"\n\nvar X = json.Marshal\n", ""},
		"of the package":      {"a.go", "", "package a\n\nfunc F() { log.Print() }\n", ""},
		"a variable":          {"a.go", "", "package a\n\nfunc F(path T) { path.Join() }\n", ""},
		"for its effects":     {"a.go", "", "package a\n\nimport _ \"embed\"\n", ""},
		"a dot":               {"a.go", "", "package a\n\nimport . \"strings\"\n\nvar X = ToUpper(``)\n", ""},
		"C":                   {"a.go", "", "package a\n\nimport \"C\"\n", ""},
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
