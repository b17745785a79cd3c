package checks

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Limits: how many folders of a Go module are read to find what a change can affect, and
// how many packages are worth a separate run before the whole.
const (
	maxGoFiles  = 3000
	maxAffected = 40
)

// goChecks returns go test, which builds and vets what it tests, and also builds packages
// without tests. The narrow check tests the changed packages and those that import them;
// of too many only the changed ones.
func (t *tree) goChecks(u unit) (narrow, wide []Check) {
	module := modulePath(t.read(path.Join(u.dir, "go.mod")))
	wide = []Check{{Name: "go test", Command: in(u.dir, "go test ./..."), Kind: kindGo, Env: t.goEnv, module: module}}
	some, direct := t.affected(u)
	if len(some) == 0 {
		return t.inWork(u, nil, wide)
	}
	words := "go test"
	for _, p := range some {
		words += " " + shellsyntax.Quote(p)
	}
	narrow = []Check{{Name: "go test", Command: in(u.dir, words), Kind: kindGo, Env: t.goEnv, Part: true, Direct: direct, module: module}}
	return t.inWork(u, narrow, wide)
}

// Only returns the command that checks only units of a check, and false if there is none.
func (c Check) Only(units []string) (command string, ok bool) {
	before, _, ok := strings.Cut(c.Command, "go test ")
	if !ok || c.Kind != kindGo || c.module == "" || len(units) == 0 {
		return "", false
	}
	command = before + "go test"
	for _, u := range units {
		if rest, ok := strings.CutPrefix(u, c.module); !ok || rest != "" && rest[0] != '/' {
			return "", false
		}
		command += " " + shellsyntax.Quote(u)
	}
	return command, true
}

// Holds reports whether a file may belong to a unit of the check: it is in its folder or
// below, or the unit's folder is not known.
func (c Check) Holds(unit, file string) bool {
	rest, ok := strings.CutPrefix(unit, c.module)
	if dir := path.Join(c.Dir, "./"+rest); ok && dir != "." && !path.IsAbs(dir) {
		return strings.HasPrefix(file, dir+"/")
	}
	return true
}

// Within returns the environment of a check that is stopped after a time: go test ends
// the tests of a package earlier, and names those that still run.
func (c Check) Within(limit time.Duration) []string {
	out := slices.Clone(c.Env)
	for i, kv := range out {
		if c.Kind == kindGo && strings.HasPrefix(kv, "GOFLAGS=") && !strings.Contains(kv, "-timeout") {
			out[i] += " -timeout=" + (limit * 4 / 5).String()
		}
	}
	return out
}

// InCopy returns variables for a check that runs in a copy of the workspace: python
// would find packages that are installed from the workspace there, not in the copy.
func (c Check) InCopy(dir string) []string {
	if c.Kind != kindPython {
		return nil
	}
	at := path.Join(dir, c.Dir)
	return []string{"PYTHONPATH=" + at + ":" + path.Join(at, "src")}
}

// affected returns the packages that a change can affect, as ./folder; nil if these are all
// of a few packages, or it is not known. direct: the others are too many, so only the
// changed packages are returned.
func (t *tree) affected(u unit) (some []string, direct bool) {
	if len(u.files) == 0 {
		return nil, false
	}
	imports := map[string][]string{} // by folder: the paths that its files import
	module := modulePath(t.read(path.Join(u.dir, "go.mod")))
	if module == "" {
		return nil, false
	}
	var nested []string
	whole := t.walk(u.dir, 20*maxGoFiles, func(name string) {
		if path.Base(name) == "go.mod" && path.Dir(name) != u.dir {
			nested = append(nested, path.Dir(name))
		}
		if n := len(imports); strings.HasSuffix(name, ".go") && n <= maxGoFiles && !ignoredByGo(rel(u.dir, path.Dir(name))) {
			dir := path.Dir(name)
			imports[dir] = append(imports[dir], t.imports(name)...)
		}
	})
	if !whole {
		return nil, false
	}
	for dir := range imports {
		if slices.ContainsFunc(nested, func(n string) bool { return dir == n || strings.HasPrefix(dir, n+"/") }) {
			delete(imports, dir)
		}
	}
	importers := map[string][]string{}
	for dir, list := range imports {
		for _, im := range list {
			if p, ok := strings.CutPrefix(im, module); ok && (p == "" || p[0] == '/') {
				to := path.Join(u.dir, "./"+p)
				importers[to] = append(importers[to], dir)
			}
		}
	}
	seen := map[string]bool{}
	var visit func(dir string)
	visit = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		for _, d := range importers[dir] {
			visit(d)
		}
	}
	changed := map[string]bool{}
	for _, f := range u.files {
		dir, ok := t.packageOf(f, u.dir, imports)
		if !ok {
			return nil, false
		}
		changed[dir] = true
		if strings.HasSuffix(f, "_test.go") {
			seen[dir] = true // nobody imports it
			continue
		}
		visit(dir)
	}
	if direct = len(seen) > maxAffected; direct {
		seen = changed
	}
	if len(seen) >= len(imports) || len(seen) > maxAffected {
		return nil, false
	}
	for dir := range seen {
		r := rel(u.dir, dir)
		if r != "." {
			r = "./" + r
		}
		some = append(some, r)
	}
	slices.Sort(some)
	return some, direct
}

// packageOf returns the folder whose package a file belongs to: its own folder, or the
// nearest above it with Go files, as for testdata.
func (t *tree) packageOf(file, root string, packages map[string][]string) (string, bool) {
	if base := path.Base(file); base == "go.mod" || base == "go.sum" {
		return "", false
	}
	for _, dir := range up(file) {
		if _, ok := packages[dir]; ok {
			return dir, true
		}
		if dir == root {
			break
		}
	}
	return "", false
}

func rel(root, dir string) string {
	if root == "." {
		return dir
	}
	if dir == root {
		return "."
	}
	return strings.TrimPrefix(dir, root+"/")
}

// ignoredByGo reports whether ./... omits a folder.
func ignoredByGo(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(p string) bool {
		return p == "testdata" || p == "vendor" || len(p) > 1 && (p[0] == '_' || p[0] == '.')
	})
}

func (t *tree) imports(name string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), name, t.read(name), parser.ImportsOnly)
	if err != nil && f == nil {
		return nil
	}
	var out []string
	for _, im := range f.Imports {
		if p, err := strconv.Unquote(im.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func modulePath(mod string) string {
	for l := range strings.Lines(mod) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), "module "); ok {
			rest, _, _ = strings.Cut(rest, "//")
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}
