package reach

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

type packageJSON struct {
	Scripts      map[string]string `json:"scripts"`
	Dependencies map[string]string `json:"dependencies"`
	Peers        map[string]string `json:"peerDependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
}

// dependencies returns the packages that a package needs when it runs.
func dependencies(text string) []string {
	var p packageJSON
	if json.Unmarshal([]byte(text), &p) != nil {
		return nil
	}
	return slices.Concat(slices.Sorted(maps.Keys(p.Dependencies)), slices.Sorted(maps.Keys(p.Peers)), slices.Sorted(maps.Keys(p.Optional)))
}

// scripts follows the scripts of a package.json that its checks run, also through other
// scripts.
func (r *walk) scripts(text string) {
	var p packageJSON
	if json.Unmarshal([]byte(text), &p) != nil {
		return // it defines no scripts
	}
	names := []string{"test", "lint", "typecheck"}
	if r.ask.Deep || r.all {
		names = slices.Sorted(maps.Keys(p.Scripts))
	}
	for i := 0; i < len(names); i++ {
		for _, n := range []string{names[i], "pre" + names[i], "post" + names[i]} {
			line, ok := p.Scripts[n]
			if !ok {
				continue
			}
			r.line(r.at.dir, line)
			for other := range p.Scripts {
				if (strings.Contains(line, other) || strings.Contains(line, "$") || strings.Contains(line, ":*")) && !slices.Contains(names, other) {
					names = append(names, other)
				}
			}
		}
	}
}

// justfile follows the recipes of a justfile.
func (r *walk) justfile(text string) {
	for l := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		first, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch {
		case strings.Contains(l, "`"), strings.Contains(l, "shell("):
			r.not("commands in its expressions")
		case strings.HasPrefix(strings.TrimSpace(l), "#!"):
			r.not("a recipe in another language")
		case strings.HasPrefix(l, " "), strings.HasPrefix(l, "\t"):
			r.line(r.at.dir, withoutBraces(strings.TrimLeft(l, " \t@-")))
		case first == "import", first == "import?", first == "mod", first == "mod?":
			words := strings.Fields(rest)
			if len(words) == 0 {
				continue
			}
			name := path.Join(path.Dir(r.at.name), strings.Trim(words[len(words)-1], `"'`))
			if strings.HasPrefix(first, "import") {
				r.define(r.at.dir, name)
				continue
			}
			for _, n := range []string{name, name + ".just", path.Join(name, "mod.just"), path.Join(name, "justfile"), path.Join(name, ".justfile")} {
				r.define(path.Dir(n), n)
			}
		case first == "set" && (strings.HasPrefix(rest, "shell") || strings.HasPrefix(rest, "script-interpreter") || strings.HasPrefix(rest, "working-directory") || strings.HasPrefix(rest, "dotenv")):
			r.not("set " + strings.TrimSpace(rest))
		}
	}
}

// withoutBraces replaces the values that just inserts by a variable.
func withoutBraces(l string) string {
	for {
		before, after, ok := strings.Cut(l, "{{")
		_, rest, ends := strings.Cut(after, "}}")
		if !ok || !ends {
			return l
		}
		l = before + "${" + unlistedVar + "}" + rest
	}
}

// tool follows just and the package managers of node.
func (r *walk) tool(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	for _, w := range args {
		if !w.Known && name != "just" && w.Prefix == "" {
			continue // the name of a script, or its arguments: all possible ones are in package.json
		}
		for _, flag := range []string{"-C", "-f", "-d", "-w", "-r", "--prefix", "--dir", "--cwd", "--workspace", "--filter", "--recursive", "--justfile", "--working-directory", "workspace"} {
			if w.Text == flag || strings.HasPrefix(w.Text, flag) && (strings.HasPrefix(flag, "--") || flag == "workspace") {
				r.everywhere(name)
				return
			}
		}
	}
	for _, dir := range r.folders(c) {
		for _, f := range command.BuildFileOf(name).Files() {
			r.define(dir, path.Join(dir, f))
		}
	}
	for i, w := range args {
		if w.Known && (strings.Contains(w.Text, "/") || scriptName(w.Text)) {
			r.file(c, w)
		}
		if w.Known && i > 0 && name != "just" && slices.Contains([]string{"exec", "x", "dlx"}, args[0].Text) && !strings.HasPrefix(w.Text, "-") {
			r.program(c, path.Base(w.Text), args[i+1:])
			r.installed(c, w.Text)
			break
		}
	}
}

// everywhere follows a call of a package manager in other folders. How it selects them
// is not analysed, so each package of the folder counts.
func (r *walk) everywhere(name string) {
	if name == "just" {
		r.not("a call of just in other folders")
		return
	}
	r.all = true
	folders := 0
	err := fs.WalkDir(r.fsys, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir():
			if folders++; folders > maxFolders {
				return fs.ErrInvalid
			}
		case d.Type()&fs.ModeSymlink != 0: // a linked folder
			if st, err := fs.Stat(r.fsys, file); err == nil && st.IsDir() {
				return fs.ErrInvalid
			}
		case d.Name() == "package.json":
			r.define(path.Dir(file), file)
		}
		return nil
	})
	for _, n := range []string{"pnpm-workspace.yaml", "lerna.json"} {
		r.add(n)
	}
	if err != nil {
		r.not("a call of " + name + " in other folders, of which there are more than are followed")
	}
}
