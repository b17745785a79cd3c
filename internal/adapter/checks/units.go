package checks

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// language returns the kind of project that a file belongs to, by its name; "" if none.
func language(name string) string {
	switch path.Ext(name) {
	case ".go":
		return kindGo
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".css", ".scss":
		return kindNode
	case ".py", ".pyi":
		return kindPython
	case ".rs":
		return kindCargo
	}
	switch path.Base(name) {
	case "go.mod", "go.sum":
		return kindGo
	case "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "tsconfig.json":
		return kindNode
	case "pyproject.toml", "pytest.ini", "setup.cfg", "requirements.txt":
		return kindPython
	case "Cargo.toml", "Cargo.lock":
		return kindCargo
	}
	return ""
}

// kindsIn returns the kinds of projects whose root is this folder.
func (t *tree) kindsIn(dir string) []string {
	return once(&t.kinds, dir, func() []string { return t.findKinds(dir) })
}

func (t *tree) findKinds(dir string) []string {
	var out []string
	at := func(name string) bool { return t.isFile(path.Join(dir, name)) }
	if at("go.mod") {
		out = append(out, kindGo)
	}
	if at("package.json") && len(t.scripts(dir)) > 0 {
		out = append(out, kindNode)
	}
	if t.isPython(dir) {
		out = append(out, kindPython)
	}
	if at("Cargo.toml") {
		out = append(out, kindCargo)
	}
	if t.target(dir, kindMake) != "" {
		out = append(out, kindMake)
	}
	if t.target(dir, kindJust) != "" {
		out = append(out, kindJust)
	}
	return out
}

// unitsOf returns the projects that check a file: the nearest one above it of its
// language; else, for a file with a language, the nearest make or just that checks; else
// all in the nearest folder with projects, since a file without a language may belong to
// any.
func (t *tree) unitsOf(name string) []unit {
	lang := language(name)
	if lang == kindPython {
		if dir, ok := t.pythonAbove(name); ok {
			return []unit{{dir: dir, kind: lang}}
		}
	}
	var nearest, targets []unit
	for _, dir := range up(name) {
		kinds := t.kindsIn(dir)
		if lang != "" && slices.Contains(kinds, lang) {
			return []unit{{dir: dir, kind: lang}}
		}
		var here, make []unit
		for _, k := range kinds {
			if k == kindMake || k == kindJust {
				make = append(make, unit{dir: dir, kind: k})
			} else {
				here = append(here, unit{dir: dir, kind: k})
			}
		}
		if len(here) == 0 && len(make) > 0 {
			here = make[:1]
		}
		if nearest == nil {
			nearest = here
		}
		if targets == nil && len(make) > 0 {
			targets = make[:1]
		}
	}
	if lang != "" && targets != nil {
		return targets
	}
	return nearest
}

// document reports whether a file is for people: a text, a picture. Files among tests are
// not, nor are files that a tool reads by name.
func document(name string) bool {
	for _, part := range strings.Split(path.Dir(name), "/") {
		switch part {
		case "testdata", "test", "tests", "fixtures", "__tests__", "__snapshots__", "golden", "templates":
			return false
		}
	}
	base := strings.ToLower(path.Base(name))
	switch base {
	case "license", "notice", "authors", "codeowners", "changelog":
		return true
	}
	if strings.HasPrefix(base, "requirements") || strings.HasPrefix(base, "constraints") || base == "cmakelists.txt" {
		return false
	}
	switch path.Ext(base) {
	case ".md", ".markdown", ".txt", ".rst", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".pdf":
		return true
	}
	return false
}

// embedded reports whether a document may be part of a Go program: a Go file in its
// folder or above it embeds something.
func (t *tree) embedded(name string, us []unit) bool {
	i := slices.IndexFunc(us, func(u unit) bool { return u.kind == kindGo })
	if i < 0 {
		return false
	}
	for _, dir := range up(name) {
		if t.embeds(dir) {
			return true
		}
		if dir == us[i].dir {
			break
		}
	}
	return false
}

// embeds reports whether Go files of a folder embed files.
func (t *tree) embeds(dir string) bool {
	return once(&t.embedding, dir, func() bool {
		return slices.ContainsFunc(t.list(dir), func(e fs.DirEntry) bool {
			return strings.HasSuffix(e.Name(), ".go") && strings.Contains(t.read(path.Join(dir, e.Name())), "//go:embed ")
		})
	})
}
