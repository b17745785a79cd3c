package checks

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// scripts returns the names of the checking scripts in a package.json, in the order in
// which they run, without those that another one runs.
func (t *tree) scripts(dir string) (out []string) {
	all := t.packageJSON(dir).Scripts
	for _, name := range []string{"typecheck", "test", "lint"} {
		s := all[name]
		if s == "" || strings.Contains(s, "no test specified") {
			continue
		}
		out = append(out, name)
	}
	npm := t.runner(dir) == "npm"
	return slices.DeleteFunc(slices.Clone(out), func(name string) bool {
		return slices.ContainsFunc(out, func(o string) bool {
			return o != name && (runsScript(all[o], name) || npm && (runsScript(all["pre"+o], name) || runsScript(all["post"+o], name)))
		})
	})
}

// runsScript reports whether a script runs another one whole, and fails if that fails: as
// one command of a chain of &&.
func runsScript(line, name string) bool {
	if strings.ContainsAny(strings.ReplaceAll(line, "&&", ""), "|;&\n") {
		return false
	}
	for command := range strings.SplitSeq(line, "&&") {
		words := strings.Fields(command)
		if len(words) > 1 && slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, words[0]) {
			switch called := words[1:]; {
			case len(called) == 2 && called[0] == "run" && called[1] == name,
				len(called) == 1 && called[0] == name && (name == "test" && words[0] != "bun" || words[0] == "yarn" || words[0] == "pnpm"):
				return true
			}
		}
	}
	return false
}

type packageJSON struct {
	Scripts        map[string]string `json:"scripts"`
	PackageManager string            `json:"packageManager"`
}

func (t *tree) packageJSON(dir string) packageJSON {
	var p packageJSON
	_ = json.Unmarshal([]byte(t.read(path.Join(dir, "package.json"))), &p) // one that is broken has no checks
	return p
}

// runner returns the package manager: the nearest one named by packageManager or shown by
// a lock file; else npm.
func (t *tree) runner(dir string) string {
	for _, d := range up(path.Join(dir, "x")) {
		name, _, _ := strings.Cut(t.packageJSON(d).PackageManager, "@")
		if slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, name) {
			return name
		}
		for _, lock := range [][2]string{
			{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}, {"package-lock.json", "npm"},
		} {
			if t.isFile(path.Join(d, lock[0])) {
				return lock[1]
			}
		}
	}
	return "npm"
}

// nodeChecks returns the scripts as checks, run by the project's own package manager.
// With npm, jest and vitest can select the tests that belong to the changed files.
func (t *tree) nodeChecks(u unit) (narrow, wide []Check) {
	run := t.runner(u.dir)
	var lines []string
	for _, s := range t.scripts(u.dir) {
		words := run + " run " + s
		if s == "test" && run != "bun" {
			words = run + " test"
		}
		lines = append(lines, words)
	}
	defined := t.runs(u.dir, lines...)
	for _, words := range lines {
		wide = append(wide, Check{Name: words, Command: in(u.dir, words), Kind: kindNode, Defined: defined})
	}
	if more := t.related(u); run == "npm" && more != "" {
		narrow = []Check{{Name: "npm test", Command: in(u.dir, "npm test -- "+more), Kind: kindNode, Part: true, Defined: defined}}
	}
	return narrow, wide
}

// related returns the arguments that narrow a test script to the changed files; "" if the
// script is not a plain call of jest or vitest, or a file is not a script.
func (t *tree) related(u unit) string {
	words := strings.Fields(t.packageJSON(u.dir).Scripts["test"])
	if len(words) == 0 || len(words) > 3 || slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "&|;") }) {
		return ""
	}
	var out string
	for _, f := range u.files {
		if !slices.Contains([]string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs"}, path.Ext(f)) || !t.isFile(f) {
			return ""
		}
		name := rel(u.dir, f)
		if words[0] == "vitest" {
			name = stem(name)
		}
		out += " " + shellsyntax.Quote(name)
	}
	switch words[0] {
	case "jest":
		return "--passWithNoTests --findRelatedTests" + out
	case "vitest":
		return "--passWithNoTests" + out
	}
	return ""
}

// stem returns a file's name without folder, extensions and test markers.
func stem(name string) string {
	base, _, _ := strings.Cut(path.Base(name), ".")
	return base
}
