package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// readers are the packages that read files of a workspace or of a repository's .git. They
// open these with core/plainfile, which never waits for a named pipe and reads no more than
// it was asked for. Named are the files that open something else, each with its reason.
var readers = map[string]map[string]string{
	"adapter/agents": nil, "adapter/checks": nil, "adapter/folder": nil, "adapter/past": nil, "adapter/rules": nil, "adapter/skills": nil, "adapter/taskgraph": nil,
	"adapter/lsp": {"memory_linux.go": "/proc", "trust.go": "a folder, to list it"},
	"adapter/settings": {
		"grants.go": "the person's own", "told.go": "the person's own", "trust.go": "the person's own",
	},
	"adapter/workspace/gitobjects": {"gitobjects.go": "a folder, to list it"},
	"adapter/workspace/journal": {
		"disk.go": "pawl's own", "watch_linux.go": "/proc", "os_other.go": "folders, and files that are regular",
	},
	"adapter/workspace/trees": {"checkout.go": "pawl's own index"},
}

// SPEC 15.1: no file of a workspace makes pawl wait.
func TestWorkspaceFilesOpenPlainly(t *testing.T) {
	used := map[string]bool{}
	for dir, others := range readers {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
			for _, open := range opensIn(f) {
				if others[filepath.Base(path)] != "" {
					used[path] = true
					continue
				}
				t.Errorf("%s uses %s: use plainfile, or name the file in readers with a reason", path, open)
			}
		}
		for name := range others {
			if path := filepath.Join(dir, name); !used[path] {
				t.Errorf("%s opens nothing any more: take it out of readers", path)
			}
		}
	}
	if len(opensIn(parsed(t, `package p; import "os"; func f() { os.Open("x"); os.ReadFile("x"); os.Stat("x") }`))) != 2 {
		t.Error("the search finds nothing")
	}
}

func parsed(t *testing.T, src string) *ast.File {
	t.Helper()
	f := must.Get(parser.ParseFile(token.NewFileSet(), "", src, 0))(t)
	return f
}

// opensIn are the calls in a file that open a file for reading and may wait.
func opensIn(f *ast.File) (out []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "os" && (sel.Sel.Name == "Open" || sel.Sel.Name == "ReadFile") {
				out = append(out, "os."+sel.Sel.Name)
			}
		}
		return true
	})
	return out
}
