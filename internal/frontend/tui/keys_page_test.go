package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
)

// taken returns the names of keys that this package's code compares with, and
// where: the cases of switches over a key's name, comparisons with it, and the
// table of actions.
func taken(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob("*.go")
	must.Do(t, err)
	isName := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok || s.Sel.Name != "Name" {
			return false
		}
		of, ok := s.X.(*ast.Ident)
		return ok && of.Name == "k"
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		must.Do(t, err)
		add := func(e ast.Expr) {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				name, err := strconv.Unquote(lit.Value)
				must.Do(t, err)
				out[name] = set.Position(lit.Pos()).String()
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SwitchStmt:
				if n.Tag != nil && isName(n.Tag) {
					for _, c := range n.Body.List {
						for _, e := range c.(*ast.CaseClause).List {
							add(e)
						}
					}
				}
			case *ast.BinaryExpr:
				if n.Op == token.EQL && isName(n.X) {
					add(n.Y)
				}
			}
			return true
		})
	}
	for _, a := range actions() {
		for _, k := range a.keys {
			out[k] = "bindings.go: " + a.name
		}
	}
	return out
}

var ofTicks = regexp.MustCompile("`[^`]*` and ")

// written returns the keys in the first column of the page's tables.
func written(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../../doc/keys.md")
	must.Do(t, err)
	before, rest, _ := strings.Cut(string(page), viSection)
	_, after, _ := strings.Cut(rest, "\n## ")
	var out []string
	for l := range strings.Lines(before + after) {
		cells := strings.Split(l, "|")
		if len(cells) < 4 || strings.TrimSpace(cells[1]) == "key" || strings.HasPrefix(cells[1], "---") {
			continue
		}
		first := ofTicks.ReplaceAllString(cells[1], "")
		for name := range strings.FieldsFuncSeq(first, func(r rune) bool { return r == ',' || r == ';' }) {
			name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "then ")
			if name == "space" {
				name = " "
			}
			out = append(out, name)
		}
	}
	return out
}

// SPEC 18.3: the page of keys has every key that the screen takes, and no other.
func TestPageOfKeys(t *testing.T) {
	keys, page := taken(t), written(t)
	if len(keys) < 40 {
		t.Fatalf("only %d keys were found in the code: this test sees too little", len(keys))
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(page, k) {
			t.Errorf("%s: the key %q is not in doc/keys.md", keys[k], k)
		}
	}
	for _, k := range page {
		if keys[k] == "" {
			t.Errorf("doc/keys.md: nothing takes the key %q", k)
		}
	}
}

// SPEC 18.3: the page names each action beside its keys, for the setting screen.keys.
func TestPageNamesActions(t *testing.T) {
	page, err := os.ReadFile("../../../doc/keys.md")
	must.Do(t, err)
	rows := map[string]string{}
	for l := range strings.Lines(string(page)) {
		cells := strings.Split(strings.ReplaceAll(l, `\|`, ""), "|")
		if len(cells) < 5 {
			continue
		}
		for name := range strings.FieldsFuncSeq(cells[3], func(r rune) bool { return strings.ContainsRune(" `,;", r) }) {
			rows[name] = strings.ToLower(cells[1])
		}
	}
	for _, a := range actions() {
		for _, k := range a.keys {
			if !strings.Contains(rows[a.name], k) {
				t.Errorf("%s: the page has %q, without %q", a.name, rows[a.name], k)
			}
		}
		delete(rows, a.name)
	}
	delete(rows, "action")
	for name := range rows {
		if strings.Trim(name, "-") != "" {
			t.Errorf("the page has %q, which is no action", name)
		}
	}
}

const viSection = "## Vim mode"

// SPEC 18.3: the page has every key of vi's that the prompt takes, and no other.
func TestPageOfViKeys(t *testing.T) {
	page, err := os.ReadFile("../../../doc/keys.md")
	must.Do(t, err)
	_, section, _ := strings.Cut(string(page), viSection)
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, f := range regexp.MustCompile("`(.)[^` ]?`").FindAllStringSubmatch(section, -1) {
		listed[f[1]] = true
	}
	for c := byte('!'); c <= '~'; c++ {
		e := editor.New()
		e.Type("one two\nthree")
		m := editor.NewModal(e)
		m.Escape()
		key := string(c)
		if takes := m.Command(key, 80); takes != listed[key] && (c < '2' || c > '8') {
			t.Errorf("%q: the prompt takes it: %t; the page has it: %t", key, takes, listed[key])
		}
	}
}
