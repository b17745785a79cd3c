package symbols

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// running answers like a language server.
type running []tool.SymbolPosition

func (r running) Known(_ context.Context, name string) []tool.SymbolPosition { return r }

// files are those of a workspace, by their paths.
type files struct {
	tool.Files
	text map[string]string
}

func (f files) Grep(ctx context.Context, q tool.Query) (m tool.Matches, err error) {
	if q.Glob != "**/*.go" || !q.Literal || !q.FilesOnly {
		return m, fmt.Errorf("an odd search: %+v", q)
	}
	for _, path := range slices.Sorted(maps.Keys(f.text)) {
		text, word := f.text[path], q.Pattern
		if q.IgnoreCase {
			text, word = strings.ToLower(text), strings.ToLower(word)
		}
		if strings.HasSuffix(path, ".go") && strings.Contains(text, word) {
			m.Lines = append(m.Lines, tool.Match{Path: path})
		}
	}
	return m, ctx.Err()
}

func (f files) Read(_ context.Context, path string, most int64) (tool.File, error) {
	if int64(len(f.text[path])) > most {
		return tool.File{}, errors.New("too large")
	}
	return tool.File{Data: []byte(f.text[path])}, nil
}

func finder(s Servers, text map[string]string) *Finder { return New(files{text: text}, s) }

func found(spots []tool.SymbolPosition) string {
	var out []string
	for _, s := range spots {
		out = append(out, fmt.Sprintf("%s %s:%d-%d", strings.TrimPrefix(s.In+"."+s.Name, "."), s.Path, s.Line, s.EndLine))
	}
	return strings.Join(out, "\n")
}

const calc = `// Package calc adds.
package calc

// Add adds.
func Add(a, b int) int {
	return a + b
}

// Server serves; Close is said here.
type Server struct{ Closed bool }

func (s *Server) Close() error { return nil }

func (Box[T]) Close() {}

type (
	// Box is generic.
	Box[T any] struct{}
	addr string
)

const (
	Adds = iota
	// Adder is one.
	Adder
)

var Additive, _ = 1, 2

// Closely is only said: "func Closer() {}"
`

// A declaration has all its lines and what is said above it; what is only
// mentioned is none.
//
// SPEC 10.1
func TestFind(t *testing.T) {
	f := finder(nil, map[string]string{
		"calc.go": calc, "sub/calc_test.go": "package calc_test\nfunc TestAdd() {}\nfunc closeAll() {}\n",
		"half.go": "package half\n\nfunc Whole() {}\n\nfunc Addled( {\n", "notes.md": "func Add() {}\n", "x.py": "def Add(): pass\n",
		"line.go": "package line\n\n//line other.y:700\nfunc Moved() {}\n", "empty.go": "", "huge.go": "package huge\nfunc Hugest() {}\n" + strings.Repeat("// x\n", 500_000),
	})
	for _, c := range [][2]string{
		{"Add", "Add calc.go:4-7\nAdds calc.go:23-23\nAdder calc.go:24-25\nAdditive calc.go:28-28"},
		{"add", "Add calc.go:4-7\nAdds calc.go:23-23\naddr calc.go:19-19\nAdder calc.go:24-25\nAdditive calc.go:28-28"},
		{"addr", "addr calc.go:19-19"},
		{"calc.Add", "Add calc.go:4-7\nAdds calc.go:23-23\nAdder calc.go:24-25\nAdditive calc.go:28-28"},
		{"Server.", "Server.Close calc.go:12-12"},
		{"server.cl", "Server.Close calc.go:12-12"},
		{"Box.Close", "Box.Close calc.go:14-14"},
		{"calc.Box.Close", "Box.Close calc.go:14-14"},
		{"Close", "Server.Close calc.go:12-12\nBox.Close calc.go:14-14"},
		{"Whole", "Whole half.go:3-3"},
		{"Moved", "Moved line.go:3-4"},
		{"Hugest", ""},
		{"Closely", ""}, {"Closer", ""}, {"iota", ""}, {"_", ""}, {"", ""}, {".", ""}, {"(", ""}, {"a b", ""}, {"Server.Close.x", ""},
	} {
		got := found(f.Find(t.Context(), c[0], 50))
		if got != c[1] {
			t.Errorf("%q (-want +got):\n%s", c[0], cmp.Diff(c[1], got))
		}
	}
	if got := f.Find(t.Context(), "Add", 2); len(got) != 2 {
		t.Errorf("%d of at most 2", len(got))
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if got := f.Find(gone, "Add", 5); len(got) > 0 {
		t.Errorf("found after it was cancelled: %v", got)
	}
}

// Servers add what they know of other languages, and nothing twice. What does not
// begin so is left out, however well it matches.
//
// SPEC 10.1
func TestFindAsksServers(t *testing.T) {
	f := finder(running{
		{Path: "calc.go", Line: 4, EndLine: 7, Name: "Add", In: "example.com/calc"},
		{Path: "x.py", Line: 3, EndLine: 9, Name: "Adding", In: "Sum"},
		{Path: "x.py", Line: 1, EndLine: 2, Name: "loadAdd"},
	}, map[string]string{"calc.go": "package calc\n\n\n// Add adds.\nfunc Add() {\n\n}\n"})
	if got := found(f.Find(t.Context(), "Add", 9)); got != "Add calc.go:4-7\nSum.Adding x.py:3-9" {
		t.Error(got)
	}
	if got := found(f.Find(t.Context(), "Sum.a", 9)); got != "" { // an upper-case letter: letters fit as they are
		t.Error(got)
	}
	if got := found(f.Find(t.Context(), "sum.a", 9)); got != "Sum.Adding x.py:3-9" {
		t.Error(got)
	}
}
