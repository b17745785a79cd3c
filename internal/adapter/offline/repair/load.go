package repair

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"path"
	"slices"
	"strings"
)

//go:embed std.txt
var stdText string

// source is one file of the module.
type source struct {
	path string // relative to the workspace
	text string
	tree *ast.File
	test bool
}

// pkg is one folder of the module. Types are best effort: what an unknown
// import yields has no type.
type pkg struct {
	dir   string // relative to the workspace
	path  string // import path
	name  string
	files []*source // without tests, by name
	tests []*source
	types *types.Package
	info  *types.Info
	funcs []*function
	bad   map[string]bool // type errors of the tree as it is
}

// function is a declared function with a body.
type function struct {
	pkg  *pkg
	file *source
	decl *ast.FuncDecl
	name string // Name or Type.Name
}

// module reads and type-checks packages on demand.
type module struct {
	hands Hands
	dir   string // relative to the workspace, "" is its root
	path  string
	fset  *token.FileSet
	dirs  map[string][]string // folder -> its Go files
	pkgs  map[string]*pkg     // by folder; nil while it is loaded
	std   map[string]*types.Package
}

func openModule(h Hands, dir string) (*module, error) {
	name := path.Join(dir, "go.mod")
	mod, err := h.ReadAll([]string{name})
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	m := &module{
		hands: h, dir: dir, fset: token.NewFileSet(), dirs: map[string][]string{},
		pkgs: map[string]*pkg{}, std: map[string]*types.Package{},
	}
	for line := range strings.Lines(mod[name]) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "module" {
			m.path = strings.Trim(f[1], "\"`")
		}
	}
	if m.path == "" {
		return nil, errors.New("go.mod names no module")
	}
	files, err := h.List(path.Join(dir, "**/*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the Go files: %w", err)
	}
	slices.Sort(files)
	for _, f := range files {
		f = path.Clean(strings.ReplaceAll(f, "\\", "/"))
		m.dirs[folder(f)] = append(m.dirs[folder(f)], f)
	}
	return m, nil
}

// folder returns the folder of a path, "" for the workspace's root.
func folder(p string) string { return path.Dir("/" + p)[1:] }

// folderOf returns the folder of an import path of this module.
func (m *module) folderOf(imp string) (string, bool) {
	if imp != m.path && !strings.HasPrefix(imp, m.path+"/") {
		return "", false
	}
	dir := path.Join(m.dir, strings.TrimPrefix(strings.TrimPrefix(imp, m.path), "/"))
	_, ok := m.dirs[dir]
	return dir, ok
}

// pattern returns how the go command, run in the module's folder, names a folder.
func (m *module) pattern(dir string) string {
	if rel := strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/"); rel != "" {
		return "./" + rel
	}
	return "."
}

// open loads a folder: files that build here, parsed and type-checked.
func (m *module) open(dir string) (*pkg, error) {
	if p, ok := m.pkgs[dir]; p != nil {
		return p, nil
	} else if ok {
		return nil, fmt.Errorf("import cycle through %s", dir)
	}
	m.pkgs[dir] = nil
	p := &pkg{dir: dir, path: path.Join(m.path, strings.TrimPrefix(dir, m.dir)), bad: map[string]bool{}}
	texts, err := m.hands.ReadAll(m.dirs[dir])
	if err != nil {
		return nil, fmt.Errorf("read the package in %s: %w", m.pattern(dir), err)
	}
	for _, f := range m.dirs[dir] {
		text := texts[f]
		if !builds(f, text) {
			continue
		}
		tree, err := parser.ParseFile(m.fset, f, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", f, err)
		}
		s := &source{path: f, text: text, tree: tree, test: strings.HasSuffix(f, "_test.go")}
		if s.test {
			p.tests = append(p.tests, s)
			continue
		}
		p.name = tree.Name.Name
		p.files = append(p.files, s)
	}
	if p.name == "" && len(p.tests) > 0 {
		p.name = p.tests[0].tree.Name.Name
	}
	trees := make([]*ast.File, len(p.files))
	for i, s := range p.files {
		trees[i] = s.tree
	}
	p.types, p.info = m.check(p.path, trees, func(msg string, _ token.Pos) { p.bad[msg] = true })
	for _, s := range p.files {
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Name.Name != "_" {
				p.funcs = append(p.funcs, &function{pkg: p, file: s, decl: f, name: funcName(f)})
			}
		}
	}
	m.pkgs[dir] = p
	return p, nil
}

// check type-checks files; every error goes to bad and is otherwise ignored.
func (m *module) check(imp string, trees []*ast.File, bad func(string, token.Pos)) (*types.Package, *types.Info) {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	cfg := types.Config{Importer: importer{m}, Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok {
			bad(e.Msg, e.Pos)
		}
	}}
	p, _ := cfg.Check(imp, m.fset, trees, info) // errors went to bad
	return p, info
}

// importer finds packages of the module by reading them, those of the standard
// library in std.txt, and returns an empty package for any other.
type importer struct{ m *module }

func (i importer) Import(imp string) (*types.Package, error) {
	m := i.m
	if dir, ok := m.folderOf(imp); ok {
		p, err := m.open(dir)
		if err != nil {
			return nil, err
		}
		return p.types, nil
	}
	if p, ok := m.std[imp]; ok {
		return p, nil
	}
	p := types.NewPackage(imp, path.Base(imp))
	text, ok := stdBlock(imp)
	if imp == path.Join(m.path, "pawlrt") {
		text, ok = rtDecls, true
	}
	if ok {
		if tree, err := parser.ParseFile(m.fset, "std:"+imp, text, parser.SkipObjectResolution); err == nil {
			cfg := types.Config{Importer: i, IgnoreFuncBodies: true, Error: func(error) {}}
			p, _ = cfg.Check(imp, m.fset, []*ast.File{tree}, nil) // best effort
		}
	}
	p.MarkComplete()
	m.std[imp] = p
	return p, nil
}

// stdBlock returns the text of one package in std.txt.
func stdBlock(imp string) (string, bool) {
	head := "\npackage " + path.Base(imp) + " // " + imp + "\n"
	at := strings.Index(stdText, head)
	if at < 0 {
		return "", false
	}
	text, _, _ := strings.Cut(stdText[at+1:], "\n----\n")
	return text, true
}

// builds reports whether a file is part of the build here, by its name and its
// constraints.
func builds(file, text string) bool {
	ctx := build.Default
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	ok, err := ctx.MatchFile("", path.Base(file))
	return err != nil || ok
}

// funcName is Name, or Type.Name for a method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	recv, _, _ := strings.Cut(strings.TrimLeft(types.ExprString(f.Recv.List[0].Type), "(*"), "[")
	return strings.TrimRight(recv, ")") + "." + f.Name.Name
}

// closure returns the packages that a folder's tests reach, itself first.
func (m *module) closure(dir string) (out []*pkg, err error) {
	queue := []string{dir}
	for i := 0; i < len(queue) && i < 60; i++ {
		p, err := m.open(queue[i])
		if err != nil {
			return nil, err
		}
		out = append(out, p)
		files := p.files
		if i == 0 {
			files = slices.Concat(p.files, p.tests)
		}
		for _, s := range files {
			for _, im := range s.tree.Imports {
				if d, ok := m.folderOf(strings.Trim(im.Path.Value, "`\"")); ok && !slices.Contains(queue, d) {
					queue = append(queue, d)
				}
			}
		}
	}
	return out, nil
}
