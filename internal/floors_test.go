package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

const module = "github.com/pawl-agent/pawl/"

// floors, lowest first (doc/tour.md). Imports point down only.
var floors = []string{"core", "policy", "adapter", "engine", "team", "frontend"}

// core's packages, lowest first: each may import those before it.
var core = []string{"fsm", "fault", "process", "shellsyntax", "llm", "tool", "event"}

// badNames are package names that say nothing of what is inside.
var badNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "base"}

// A folder of the floor "adapter" may import itself and what is below it, and
// no other adapter.
func TestFloors(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		files++
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if slices.Contains(badNames, strings.TrimSuffix(f.Name.Name, "_test")) {
			t.Errorf("%s: a package named %s says nothing of what is in it", path, f.Name.Name)
		}
		if n := strings.Count(string(src), "\n"); n > 500 && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s has %d lines: split it by what it knows (at most 500)", path, n)
		}
		for _, im := range f.Imports {
			to, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				return err
			}
			if to, ok := strings.CutPrefix(to, module+"internal/"); ok {
				if why := arrow(filepath.ToSlash(filepath.Dir(path)), to); why != "" {
					t.Errorf("%s imports internal/%s: %s", path, to, why)
				}
			}
		}
		return nil
	})
	must.Do(t, err)
	if files < 20 {
		t.Fatalf("only %d files seen", files)
	}
}

// arrow says why an import is not allowed, "" where it is.
func arrow(from, to string) string {
	f, g := strings.Split(from, "/"), strings.Split(to, "/")
	a, b := slices.Index(floors, f[0]), slices.Index(floors, g[0])
	switch {
	case f[0] == "." || a < 0:
		return ""
	case b < 0:
		return "it is on no floor"
	case b > a:
		return "imports point down only"
	case f[0] == "adapter" && g[0] == "adapter" && f[1] != g[1]:
		return "an adapter does not know another"
	case f[0] == "core" && g[0] == "core" && slices.Index(core, g[1]) > slices.Index(core, f[1]):
		return "core's packages are ordered: " + strings.Join(core, ", ")
	}
	return ""
}

func TestArrow(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"engine/turn", "core/llm", true},
		{"engine/turn", "adapter/tools", true},
		{"policy/window", "adapter/tools", false},
		{"core/llm", "core/event", false},
		{"core/event", "core/llm", true},
		{"adapter/tools", "adapter/workspace", false},
		{"adapter/provider/gemini", "adapter/provider", true},
		{"frontend/cli", "frontend/line", true},
		{"policy/x", "elsewhere/y", false},
	} {
		if got := arrow(c.from, c.to); (got == "") != c.ok {
			t.Errorf("arrow(%s → %s) = %q", c.from, c.to, got)
		}
	}
}
