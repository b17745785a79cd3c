package offline

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// This file type-checks packages of one module from what the read tool shows,
// so that a rename knows which identifiers are the same thing. Packages from
// outside the module are unknown to it; the checker leaves those uses
// unresolved, which is right for names of the module.

// loader keeps the parsed files and checked packages of one module.
type loader struct {
	b     *builder // for reading and the module's path
	fset  *token.FileSet
	files map[string]*ast.File // by path in the workspace
	pkgs  map[string]*types.Package
	info  *types.Info
	busy  map[string]bool
	err   error // a call that failed: the plan must stop
}

func newLoader(h *hands, dir string) *loader {
	return &loader{
		b: &builder{h: h, dir: dir}, fset: token.NewFileSet(),
		files: map[string]*ast.File{}, pkgs: map[string]*types.Package{}, busy: map[string]bool{},
		info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Scopes: map[ast.Node]*types.Scope{}},
	}
}

// parsed returns the parsed Go files of a folder.
func (l *loader) parsed(dir string) ([]string, error) {
	files, err := l.b.h.List(path.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(p string) bool {
		d := path.Dir(p)
		return d != dir && !(d == "." && dir == "")
	})
	var want []string
	for _, p := range files {
		if _, ok := l.b.h.seen[p]; !ok {
			want = append(want, p)
		}
	}
	if len(want) > 0 {
		if _, err := l.b.h.ReadAll(want); err != nil {
			return nil, err
		}
	}
	for _, p := range files {
		if l.files[p] == nil {
			f, err := parser.ParseFile(l.fset, p, l.b.h.seen[p], parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("%s does not parse: %w", p, err)
			}
			l.files[p] = f
		}
	}
	return files, nil
}

// Import implements types.Importer for the module's own packages.
func (l *loader) Import(importPath string) (*types.Package, error) {
	if p := l.pkgs[importPath]; p != nil {
		return p, nil
	}
	rel, ok := strings.CutPrefix(importPath, l.b.module)
	if l.err != nil || !ok || l.busy[importPath] || rel != "" && rel[0] != '/' {
		return nil, fmt.Errorf("%s is outside the module", importPath)
	}
	l.busy[importPath] = true
	defer delete(l.busy, importPath)
	dir := path.Join(l.b.dir, strings.TrimPrefix(rel, "/"))
	files, err := l.parsed(dir)
	if err != nil {
		l.err = err
		return nil, err
	}
	var plain []*ast.File
	for _, p := range files {
		if !strings.HasSuffix(p, "_test.go") {
			plain = append(plain, l.files[p])
		}
	}
	pkg := l.check(importPath, plain)
	l.pkgs[importPath] = pkg
	return pkg, nil
}

func (l *loader) check(importPath string, files []*ast.File) *types.Package {
	conf := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true}
	pkg, _ := conf.Check(importPath, l.fset, files, l.info) // errors are expected: half the world is missing
	return pkg
}

// loadDir checks a folder's package, its tests and its external tests.
func (l *loader) loadDir(dir string) error {
	if err := l.b.modulePath(); err != nil {
		return err
	}
	if dir == "." {
		dir = ""
	}
	importPath := l.b.module
	if rel := strings.Trim(strings.TrimPrefix(dir, l.b.dir), "/"); rel != "" {
		importPath += "/" + rel
	}
	if _, err := l.Import(importPath); err != nil {
		return err
	}
	files, err := l.parsed(dir)
	if err != nil {
		return err
	}
	var inside, outside []*ast.File
	tests := false
	for _, p := range files {
		f := l.files[p]
		switch {
		case strings.HasSuffix(p, "_test.go") && strings.HasSuffix(f.Name.Name, "_test"):
			outside = append(outside, f)
		case strings.HasSuffix(p, "_test.go"):
			tests = true
			inside = append(inside, f)
		default:
			inside = append(inside, f)
		}
	}
	if tests {
		l.check(importPath, inside) // objects keep their positions, so both checks agree
	}
	if len(outside) > 0 {
		l.check(importPath+"_test", outside)
	}
	return l.err
}
