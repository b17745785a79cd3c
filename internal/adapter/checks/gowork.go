package checks

import (
	"path"
	"slices"
	"strings"
)

// goWork returns the modules that the nearest go.work in or above a folder uses, as
// folders of the workspace. found reports whether there is a go.work.
func (t *tree) goWork(dir string) (uses []string, found bool) {
	for _, at := range up(path.Join(dir, "x")) {
		name := path.Join(at, "go.work")
		if !t.isFile(name) {
			continue
		}
		block := false
		for l := range strings.Lines(t.read(name)) {
			l, _, _ = strings.Cut(l, "//")
			words := strings.Fields(l)
			switch {
			case len(words) == 0:
			case words[0] == ")":
				block = false
			case words[0] == "use" && len(words) > 1 && words[1] == "(":
				block = true
			case words[0] == "use" && len(words) > 1:
				uses = append(uses, path.Join(at, strings.Trim(words[1], "\"`")))
			case block:
				uses = append(uses, path.Join(at, strings.Trim(words[0], "\"`")))
			}
		}
		return uses, true
	}
	return nil, false
}

// dependents returns the modules in uses that import packages of the module in dir,
// directly or through each other.
func (t *tree) dependents(dir string, uses []string) []string {
	imports := map[string][]string{} // by module
	paths := map[string]string{}
	for _, m := range uses {
		if paths[m] = modulePath(t.read(path.Join(m, "go.mod"))); paths[m] == "" || m == dir {
			continue
		}
		n := 0
		t.walk(m, 20*maxGoFiles, func(name string) {
			if nearest := t.moduleOf(name); strings.HasSuffix(name, ".go") && nearest == m && n < maxGoFiles {
				n++
				imports[m] = append(imports[m], t.imports(name)...)
			}
		})
	}
	var out []string
	for next := []string{dir}; len(next) > 0; next = next[1:] {
		of := paths[next[0]]
		if of == "" {
			continue
		}
		for _, m := range uses {
			if m == dir || slices.Contains(out, m) || !slices.ContainsFunc(imports[m], func(im string) bool { return im == of || strings.HasPrefix(im, of+"/") }) {
				continue
			}
			out, next = append(out, m), append(next, m)
		}
	}
	return out
}

// moduleOf returns the folder of the nearest go.mod above a file, "" if there is none.
func (t *tree) moduleOf(name string) string {
	for _, dir := range up(name) {
		if t.isFile(path.Join(dir, "go.mod")) {
			return dir
		}
	}
	return ""
}

// inWork adapts a module's checks to the go.work above it. A module that go.work does not
// use is checked without it, since go would refuse; modules that depend on a changed one
// are checked as well.
func (t *tree) inWork(u unit, narrow, wide []Check) ([]Check, []Check) {
	uses, found := t.goWork(u.dir)
	switch {
	case !found:
		return narrow, wide
	case !slices.Contains(uses, u.dir):
		for _, cs := range [][]Check{narrow, wide} {
			for i := range cs {
				cs[i].Env = append(slices.Clip(cs[i].Env), "GOWORK=off")
			}
		}
		return narrow, wide
	}
	if len(u.files) == 0 {
		return narrow, wide
	}
	for _, m := range t.dependents(u.dir, uses) {
		wide = append(wide, Check{Name: "go test", Command: in(m, "go test ./..."), Kind: kindGo, Env: t.goEnv})
	}
	return narrow, wide
}
