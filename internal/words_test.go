package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// wordless are folders whose texts nobody reads as sentences: tables of programs and
// languages, SQL, and what only tests use.
var wordless = []string{
	"adapter/store", "adapter/tokenizer", "adapter/nats/natstest", "adapter/provider/codectest", "adapter/provider/wiretest",
	"core/event/eventtest", "core/golden", "core/kv", "core/llm/llmtest", "engine/session/sessiontest", "frontend/syntax",
	"frontend/tui/emulator", "policy/command", "policy/confine/seatbelt", "truth",
}

// sentence matches a text of more than one word.
var sentence = regexp.MustCompile(`[A-Za-z]{2,}[,;:']? [A-Za-z%…]+`)

// TestSentences holds every sentence that a person or a model can meet in one file, by
// package, so that each new one is read beside the others; go test -update writes it.
// What help texts say has a catalogue of its own (frontend/cli/testdata/words).
func TestSentences(t *testing.T) {
	files := sources(t, ".go")
	var b strings.Builder
	last := ""
	for _, name := range slices.Sorted(maps.Keys(files)) {
		in, ok := strings.CutPrefix(name, "internal/")
		if !ok || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata") ||
			slices.ContainsFunc(wordless, func(p string) bool { return strings.HasPrefix(in, p) }) {
			continue
		}
		for _, s := range sentences(t, in, files[name]) {
			if dir := path.Dir(in); dir != last {
				fmt.Fprintf(&b, "\n# %s\n", dir)
				last = dir
			}
			b.WriteString(strings.Trim(strconv.Quote(s), `"`) + "\n")
		}
	}
	golden.File(t, "testdata/sentences.golden", b.String())
}

// sentences returns the texts of a file that have more than one word, with … for what
// is put into them, and checks the form of errors.
func sentences(t *testing.T, name, src string) (out []string) {
	t.Helper()
	set := token.NewFileSet()
	f := must.Get(parser.ParseFile(set, name, src, parser.SkipObjectResolution))(t)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.CallExpr:
			pkg, called := called(n)
			if called == "panic" || called == "MustCompile" || called == "Fields" { // pawl's own faults, and tables
				return false
			}
			if pkg == "errors" || pkg == "fault" || pkg+called == "fmtErrorf" {
				checkForm(t, set, n)
			}
		case *ast.BinaryExpr, *ast.BasicLit:
			text, ok := joined(n.(ast.Expr))
			if ok && sentence.MatchString(text) {
				out = append(out, text)
			}
			return !ok
		}
		return true
	})
	return out
}

// called returns the package and the name of a function that is called.
func called(c *ast.CallExpr) (pkg, name string) {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return "", f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			pkg = x.Name
		}
		return pkg, f.Sel.Name
	}
	return "", ""
}

// joined returns a text that is put together with +, … for each part that is no literal.
// ok reports whether it has a literal.
func joined(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			a, left := joined(e.X)
			b, right := joined(e.Y)
			return a + b, left || right
		}
	}
	return "…", false
}

// unclear are words that a message has a plainer form for.
var unclear = regexp.MustCompile(`(?i)\bplease\b|\bmakes? no sense\b`)

// checkForm checks an error: it begins small, unless with a name, ends without a full
// stop, and has no word that is known to be unclear.
func checkForm(t *testing.T, set *token.FileSet, call *ast.CallExpr) {
	t.Helper()
	for _, arg := range call.Args {
		text, ok := joined(arg)
		if !ok || !sentence.MatchString(text) {
			continue
		}
		if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || unclear.MatchString(text) {
			t.Errorf("%s: %q: an error ends without a full stop, in plain words", set.Position(call.Pos()), text)
		}
	}
}
