package checks

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file finds out, from files alone, what a check needs and this machine does not have.

// maxNested is how many scripts that name one another are followed.
const maxNested = 4

// Lacks returns what a check needs and the machine does not have, such as "eslint is not
// installed", and "" if nothing is known to be missing.
func (f *Finder) Lacks(c Check) (what string) {
	_ = f.inTree(func(t *tree) { what, _ = t.lacks(".", c.Command, 0, false) }) // a folder that cannot be read lacks nothing that is known
	return what
}

// lacks looks through a command line in a folder. unknown: what it does first may install
// what comes after it. script: it is one of a package.json, for which installed modules are
// programs too.
func (t *tree) lacks(dir, line string, depth int, script bool) (what string, unknown bool) {
	if t.look == nil || depth > maxNested || !command.OnlyAnd(line) {
		return "", true
	}
	cmds, err := command.Parse(line, path.Join("/", dir))
	if err != nil {
		return "", true
	}
	for _, c := range cmds {
		if what, unknown = t.commandLacks(c, depth, script); what != "" || unknown {
			return what, unknown
		}
	}
	return "", false
}

func (t *tree) commandLacks(c shellsyntax.Command, depth int, script bool) (what string, unknown bool) {
	var words []string
	for _, w := range c.Words {
		if !w.Known && !w.Glob {
			return "", true
		}
		words = append(words, w.Text)
	}
	if !c.Dir.Known || c.Code || c.Func || slices.ContainsFunc(slices.Concat(words, c.Assigns), changesPrograms) {
		return "", true
	}
	name, plain := c.Program()
	if !plain || name == "" || strings.Contains(inShells, " "+name+" ") {
		return "", false
	}
	dir := "." + c.Dir.Text
	if at := strings.TrimPrefix(c.Dir.Text, "/"); at != "" {
		dir = at
	}
	if there, modules := false, true; !t.has(words[0]) {
		if script {
			there, modules = t.modules(dir, name)
		}
		switch {
		case !modules:
			return name + " is not installed (there is no node_modules)", false
		case !there:
			return name + " is not installed", false
		}
	}
	words = append(words, "", "", "")
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		called := words[1]
		switch called {
		case "run":
			called = words[2]
		case "t":
			called = "test"
		}
		scripts := t.packageJSON(dir).Scripts
		for _, s := range []string{"pre" + called, called} {
			if what, unknown = t.lacks(dir, scripts[s], depth+1, true); scripts[s] != "" && (what != "" || unknown) {
				return what, unknown
			}
		}
	case "python", "python3":
		if python, _ := t.look(words[0]); words[1] == "-m" && t.hasModule != nil {
			if has, known := t.hasModule(python, words[2]); known && !has && !t.isFile(path.Join(dir, words[2]+".py")) && len(t.list(path.Join(dir, words[2]))) == 0 {
				return words[2] + " is not installed for " + words[0], false
			}
		}
	}
	return "", false
}

// inShells are programs that shells have themselves.
const inShells = " cd echo test [ true false export set exit : . source printf pwd read wait umask eval exec type command local unset ulimit "

// changesPrograms reports whether a word or an assignment may change which programs there are.
func changesPrograms(w string) bool {
	switch w {
	case "install", "ci", "i", "add", "sync", "bootstrap", "setup", "activate", "venv":
		return true
	}
	return strings.HasPrefix(w, "PATH=")
}

// modules reports whether a program is among the installed modules of a folder or of one
// above it, and whether there are any. Yarn may keep them in a form that cannot be seen.
func (t *tree) modules(dir, program string) (there, any bool) {
	at := filepath.Join(t.root.Name(), dir)
	for range maxAbove {
		if _, err := os.Stat(filepath.Join(at, "node_modules", ".bin", program)); err == nil {
			return true, true
		}
		if _, err := os.Stat(filepath.Join(at, ".pnp.cjs")); err == nil {
			return true, true
		}
		st, err := os.Stat(filepath.Join(at, "node_modules"))
		any = any || err == nil && st.IsDir()
		if at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	return false, any
}
