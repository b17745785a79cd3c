// Package checks finds out how a project is checked: for the changed files it returns the
// commands whose exit code shows whether the project works, and it extracts the relevant
// part of their output.
//
// It only reads files: it starts no process, neither to find a check nor to run one. It
// returns ordinary command lines; policy/permission decides whether one may run. It
// promises narrow checks before wide ones, each with its project's folder, and that a
// file without a check is not reported as checked.
package checks

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Configured is a check in a person's own configuration. For its files it replaces the
// checks that would be found.
type Configured struct {
	Name    string `json:"name"`
	Command string `json:"command"` // runs in the workspace's folder
	// Paths are patterns, with / and **, of the changed files that it covers; none: all.
	Paths []string `json:"paths,omitempty"`
	// In is the folder that it covers, with its subfolders; "": every folder.
	In string `json:"in,omitempty"`
}

// Check is a command to run in the workspace's folder.
type Check struct {
	Name    string // go test, npm run lint, …
	Command string
	Kind    string // how its output is read; see Read
	Unit    string // the project that it checks: the same for narrow and wide
	Dir     string // the project's folder; absolute where it is above the workspace
	Part    bool   // it checks only what the change can affect
	Direct  bool   // and of that only what was changed
	Own     bool   // a person's configuration names it
	// Defined are the files that define what the check does, relative to the workspace.
	Defined []string
	Env     []string // NAME=value

	module string // the path of its Go module
}

// Found is the checks to run after a change.
type Found struct {
	// Narrow are the checks of a part, Wide those of the whole. Each narrow one is
	// covered by a wide one.
	Narrow, Wide []Check
	// Why explains why there are no checks; "" if there are some.
	Why string
}

// Finder finds the checks of one workspace.
type Finder struct {
	Root       string // the workspace's real path
	Configured []Configured
	// LookPath finds a program, as exec.LookPath.
	LookPath func(string) (string, error)
	// HasModule, if set, reports whether a Python interpreter has a module; known: that could
	// be found out.
	HasModule func(python, module string) (has, known bool)
	// GoFlags are the flags that every go command gets: the value of GOFLAGS.
	GoFlags string
}

// The kinds of projects, by the files in a folder.
const (
	kindGo     = "go"
	kindNode   = "node"
	kindPython = "python"
	kindCargo  = "cargo"
	kindMake   = "make"
	kindJust   = "just"
	kindOwn    = "own"
)

// unit is a project of one kind in one folder, with the changed files that
// belong to it, relative to the workspace.
type unit struct {
	dir, kind string
	files     []string
}

// Find returns the checks for changed files. Paths are relative to the workspace, with /.
// Paths outside it are ignored.
func (f *Finder) Find(changed []string) (Found, error) {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return Found{}, err
	}
	defer root.Close()
	t := f.tree(root)
	var out Found
	var units []unit
	var documents, left []string
	for _, name := range changed {
		if path.IsAbs(name) || !fs.ValidPath(name) {
			continue
		}
		if project, _, ok := strings.Cut("/"+name, "/node_modules/"); ok { // an installed package has no checks: what needs it has
			if name = strings.TrimPrefix(project+"/package.json", "/"); !t.isFile(name) {
				continue
			}
		}
		if own := f.own(t, name); len(own) > 0 {
			out.Wide = appendNew(out.Wide, own...)
			continue
		}
		us := t.unitsOf(name)
		if document(name) && !t.embedded(name, us) {
			documents = append(documents, name)
			continue
		}
		if len(us) == 0 {
			left = append(left, name)
		}
		units = merge(units, us, name)
	}
	for _, u := range units {
		narrow, wide := t.checks(u)
		for _, cs := range [][]Check{narrow, wide} {
			for i := range cs {
				cs[i].Unit, cs[i].Dir = u.kind+" "+u.dir, u.dir
			}
		}
		out.Narrow = appendNew(out.Narrow, narrow...)
		out.Wide = appendNew(out.Wide, wide...)
	}
	why := ""
	if len(left) > 0 {
		var cs []Check
		if cs, why = f.aboveChecks(t, left); len(cs) > 0 {
			for i := range cs {
				cs[i].Unit = "above " + cs[i].Kind
			}
			out.Wide = appendNew(out.Wide, cs...)
		}
	}
	if len(out.Wide) == 0 {
		out.Why = "no check found"
		if why != "" {
			out.Why = why
		}
		if len(units)+len(left) == 0 && len(documents) > 0 {
			out.Why = "only documents changed, which no check looks at"
		}
	}
	return out, nil
}

func (t *tree) checks(u unit) (narrow, wide []Check) {
	switch u.kind {
	case kindGo:
		return t.goChecks(u)
	case kindNode:
		return t.nodeChecks(u)
	case kindPython:
		return t.pythonChecks(u)
	case kindCargo:
		return t.cargoChecks(u)
	}
	return nil, t.targetChecks(u)
}

// own returns the configured checks for a file.
func (f *Finder) own(t *tree, name string) []Check {
	var out []Check
	for _, c := range f.Configured {
		if c.In != "" && !within(f.Root, c.In) {
			continue
		}
		if len(c.Paths) > 0 && !slices.ContainsFunc(c.Paths, func(p string) bool { return doublestar.MatchUnvalidated(p, name) }) {
			continue
		}
		out = append(out, f.ownCheck(t, c))
	}
	return out
}

func (f *Finder) ownCheck(t *tree, c Configured) Check {
	return once(&t.owns, c.Name+"\x00"+c.Command, func() Check {
		return Check{Name: c.Name, Command: c.Command, Kind: kindOwn, Unit: c.Command, Own: true, Defined: t.runs(".", c.Command)}
	})
}

func within(dir, parent string) bool {
	parent = strings.TrimSuffix(parent, "/")
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

// merge adds the file to each of its units.
func merge(units, us []unit, name string) []unit {
	for _, u := range us {
		i := slices.IndexFunc(units, func(o unit) bool { return o.dir == u.dir && o.kind == u.kind })
		if i < 0 {
			units = append(units, unit{dir: u.dir, kind: u.kind})
			i = len(units) - 1
		}
		units[i].files = append(units[i].files, name)
	}
	return units
}

func appendNew(cs []Check, more ...Check) []Check {
	for _, c := range more {
		if !slices.ContainsFunc(cs, func(o Check) bool { return o.Command == c.Command }) {
			cs = append(cs, c)
		}
	}
	return cs
}

// in returns a command line that runs command in a folder of the workspace.
func in(dir, command string) string {
	if dir == "." {
		return command
	}
	return "cd " + shellsyntax.Quote(dir) + " && " + command
}

// tree reads the workspace: within limits, regular files only, and nothing outside.
type tree struct {
	root *os.Root
	look func(string) (string, error)
	// hasModule is Finder.HasModule.
	hasModule func(python, module string) (has, known bool)
	// goEnv makes go test name each test: otherwise a package in which every test was
	// skipped looks like one that passed.
	goEnv []string

	// What was found of a folder, or of a command, is not looked for again: one turn may
	// change 100,000 files in a folder.
	lists             map[string][]fs.DirEntry
	kinds             map[string][]string
	python, embedding map[string]bool
	owns              map[string]Check
}

// once returns what is remembered of k, or finds it.
func once[K comparable, V any](known *map[K]V, k K, find func() V) V {
	if v, ok := (*known)[k]; ok {
		return v
	}
	v := find()
	if *known == nil {
		*known = map[K]V{}
	}
	(*known)[k] = v
	return v
}

// maxFile is the longest file that is read, in bytes.
const maxFile = 1 << 20

func (f *Finder) tree(root *os.Root) *tree {
	return &tree{root: root, look: f.LookPath, hasModule: f.HasModule, goEnv: []string{"GOFLAGS=" + strings.TrimSpace(f.GoFlags+" -v")}}
}

func (t *tree) isFile(name string) bool {
	st, err := t.root.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// read returns a file's text, "" if it cannot be read or is longer than maxFile.
func (t *tree) read(name string) string {
	b, err := plainfile.ReadIn(t.root, name, maxFile)
	if err != nil {
		return ""
	}
	return string(b)
}

// list returns the entries of a folder, sorted by name; nil if it cannot be read.
func (t *tree) list(dir string) []fs.DirEntry {
	return once(&t.lists, dir, func() []fs.DirEntry {
		es, err := fs.ReadDir(t.root.FS(), dir)
		if err != nil {
			return nil
		}
		return es
	})
}

var errEnough = errors.New("enough")

// walk calls file for at most most files below a folder, without folders of tools. whole
// reports whether it visited all files.
func (t *tree) walk(dir string, most int, file func(name string)) (whole bool) {
	n := 0
	err := fs.WalkDir(t.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if d.IsDir() {
			if name != dir && hidden(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if n++; n > most {
			return errEnough
		}
		if d.Type().IsRegular() {
			file(name)
		}
		return nil
	})
	return err == nil
}

// hidden reports whether a folder contains no code of the project itself.
func hidden(name string) bool {
	switch name {
	case "node_modules", "vendor", "target", "dist", "build", "__pycache__", "venv":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// up returns the folders above a file, the nearest first and the workspace's root last.
func up(name string) []string {
	var out []string
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		out = append(out, dir)
		if dir == "." {
			return out
		}
	}
}
