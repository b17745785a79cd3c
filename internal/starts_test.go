package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// starts are the files that may start processes, or hold one that is not started
// yet, each with its reason. All others ask core/process for a Starter, so that
// what runs is confined as permission decided (SPEC 16.12).
var starts = map[string]string{
	"core/process/process.go":   "the contract with the sandbox: a Confiner gets the command",
	"core/process/processtest/": "the Starter of tests, and the git that makes their repositories",
	"core/kv/kvtest/killed.go":  "a test that kills a process of its own",
	"adapter/shell/":            "the Starter",
	"adapter/sandbox/":          "the Confiner",
	"frontend/cli/sandbox.go":   "pawl sandbox -- COMMAND: what a person typed, in a box that is opened for it",
	"frontend/cli/pictures.go":  "the program that prints the person's clipboard, at their key",
	"frontend/cli/screen.go":    "the person's own editor, on their terminal",
}

// looks are the names of os/exec that start nothing.
var looks = []string{"LookPath", "ErrNotFound", "ErrDot", "ErrWaitDelay", "Error", "ExitError"}

// starters are names of other packages that start processes.
var starters = map[string][]string{
	"os":                    {"StartProcess"},
	"syscall":               {"Exec", "ForkExec", "StartProcess"},
	"golang.org/x/sys/unix": {"Exec"},
}

// SPEC 16.12: everything that runs goes through the one starter of processes.
func TestWhoStartsProcesses(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || name == "bench" || name == "tools" || name == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../internal/")
		for _, start := range startsIn(f) {
			allowed := false
			for where := range starts {
				if name == where || strings.HasSuffix(where, "/") && strings.HasPrefix(name, where) {
					used[where], allowed = true, true
				}
			}
			if !allowed {
				t.Errorf("%s uses %s: start it by process.Starter, or name the file in starts with a reason", path, start)
			}
		}
		return nil
	})
	must.Do(t, err)
	for where := range starts {
		if !used[where] {
			t.Errorf("%s starts nothing any more: take it out of starts", where)
		}
	}
}

// startsIn are the names in a file that start processes.
func startsIn(f *ast.File) []string {
	calls := map[string]string{} // the name of a package in the file → its path
	for _, im := range f.Imports {
		path, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if im.Name != nil {
			name = im.Name.Name
		}
		if path == "os/exec" || starters[path] != nil {
			calls[name] = path
		}
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok {
			path := calls[pkg.Name]
			if path == "os/exec" && !slices.Contains(looks, sel.Sel.Name) || slices.Contains(starters[path], sel.Sel.Name) {
				out = append(out, pkg.Name+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return out
}

func TestStartsIn(t *testing.T) {
	for src, want := range map[string]string{
		`import "os/exec"; var _ = exec.Command`:                  "exec.Command",
		`import x "os/exec"; var _ = x.CommandContext`:            "x.CommandContext",
		`import "os/exec"; var _ exec.Cmd`:                        "exec.Cmd",
		`import "os/exec"; var _, _ = exec.LookPath, exec.ErrDot`: "",
		`import "os"; var _ = os.StartProcess`:                    "os.StartProcess",
		`import "syscall"; var _ = syscall.ForkExec`:              "syscall.ForkExec",
		`import "golang.org/x/sys/unix"; var _ = unix.Exec`:       "unix.Exec",
		`import exec "example.com/exec"; var _ = exec.Command`:    "",
	} {
		f := must.Get(parser.ParseFile(token.NewFileSet(), "", "package p; "+src, 0))(t)
		if got := strings.Join(startsIn(f), " "); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
