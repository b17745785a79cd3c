package checks

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file follows what a definition runs: the files that it includes, the
// scripts that it calls and the definitions of the tools that it starts. What
// cannot be listed is never left out in silence: then unlisted has the reason,
// and the part covers every file of the folder (SPEC 16.1).

// Limits of what is followed.
const (
	maxReached = 200
	maxRounds  = 8
)

// under is where the workspace is for the parser of command lines: a path that
// begins elsewhere is not in it.
const under = "/workspace"

// reached is what definitions run.
type reached struct {
	t        *tree
	files    []string // found, relative to the workspace
	unlisted string   // why not all is found, "" if it is
	todo     []definition
	vars     map[string][]string // the values that makefiles give their variables
	at       definition          // that is being read
}

// definition is a file that is read for what it runs, in a folder.
type definition struct{ dir, name string }

// reach follows the definitions in a folder. lines are command lines that run there.
func (t *tree) reach(dir string, names, lines []string) (files []string, unlisted string) {
	r := &reached{t: t, vars: map[string][]string{}}
	for _, n := range names {
		r.define(dir, n)
	}
	for i, before := 0, ""; ; i++ { // variables of a later file count in an earlier one
		r.unlisted = ""
		r.at = definition{dir: dir}
		for _, l := range lines {
			r.line(dir, l)
		}
		for j := 0; j < len(r.todo); j++ {
			r.at = r.todo[j]
			r.read()
		}
		now := r.state()
		if now == before {
			return r.files, r.unlisted
		}
		if i == maxRounds {
			r.not("definitions that call each other without an end")
			return r.files, r.unlisted
		}
		before = now
	}
}

// state changes when a round found something.
func (r *reached) state() string {
	b, _ := json.Marshal([]any{len(r.files), len(r.todo), r.vars}) // plain strings: no error
	return string(b)
}

// not notes something that cannot be listed.
func (r *reached) not(what string) {
	if r.unlisted == "" {
		r.unlisted = strings.TrimPrefix(path.Join(r.at.dir, path.Base(r.at.name))+" has ", ". has ")
		if r.at.name == "" {
			r.unlisted = "the command has "
		}
		r.unlisted += what
	}
}

// add adds a file that is run. Those that are not there run nothing; when one
// comes, it is found then.
func (r *reached) add(name string) bool {
	if name = path.Clean(name); !fs.ValidPath(name) || !r.t.isFile(name) {
		return false
	}
	if !slices.Contains(r.files, name) {
		if len(r.files) >= maxReached {
			r.not("more files than are followed")
			return false
		}
		r.files = append(r.files, name)
	}
	return true
}

// define adds a file and reads it as a definition that runs in a folder.
func (r *reached) define(dir, name string) {
	d := definition{dir: path.Clean(dir), name: path.Clean(name)}
	if r.add(d.name) && !slices.Contains(r.todo, d) {
		r.todo = append(r.todo, d)
	}
}

// read reads the present definition.
func (r *reached) read() {
	text := r.t.read(r.at.name)
	base := path.Base(r.at.name)
	switch {
	case text == "":
		if st, err := r.t.root.Stat(r.at.name); err == nil && st.Size() > 0 {
			r.not("more text than is read")
		}
	case base == "package.json":
		r.scripts(text)
	case strings.HasSuffix(base, "justfile"), strings.HasSuffix(base, "Justfile"), path.Ext(base) == ".just":
		r.justfile(text)
	case slices.Contains(targetFiles(kindMake), base), !shellScript(base, text):
		r.makefile(text)
	default:
		r.line(r.at.dir, text)
	}
}

// shellScript reports whether a file is read by a shell.
func shellScript(name, text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return slices.Contains([]string{".sh", ".bash", ".zsh", ".ksh"}, path.Ext(name)) ||
		strings.HasPrefix(first, "#!") && slices.ContainsFunc(strings.FieldsFunc(first, func(r rune) bool { return r == '/' || r == ' ' }), shellsyntax.Shell)
}

// scripts follows the scripts of a package.json that its checks, or the
// scripts that these name, run.
func (r *reached) scripts(text string) {
	var p packageJSON
	if json.Unmarshal([]byte(text), &p) != nil {
		return // it has no scripts
	}
	names := []string{"test", "lint", "typecheck"}
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
func (r *reached) justfile(text string) {
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

// withoutBraces replaces the values that just fills in by a variable.
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

// line follows the commands of a shell's text.
func (r *reached) line(dir, line string) {
	cmds, err := shellsyntax.Options{Dir: path.Join(under, dir)}.Parse(line)
	if err != nil {
		r.not("a command line that pawl cannot parse")
		return
	}
	for _, c := range cmds {
		r.command(c)
	}
}

func (r *reached) command(c shellsyntax.Command) {
	for _, a := range c.Assigns {
		if name, value, _ := strings.Cut(a, "="); loads(name, value) {
			r.not("a value of " + name + " by which programs load files")
		}
	}
	if c.Code {
		r.not("a command whose text is known only when it runs")
	}
	if slices.ContainsFunc(c.Via, func(w shellsyntax.Word) bool {
		return strings.HasPrefix(w.Text, "-C") || strings.HasPrefix(w.Text, "--chdir") || strings.HasPrefix(w.Text, "PATH=")
	}) {
		r.not("a wrapper that changes the folder or the programs")
	}
	if c.Func || len(c.Words) == 0 {
		return
	}
	if r.run(c, c.Words[0]); c.Words[0].Known {
		r.program(c, path.Base(c.Words[0].Text), c.Words[1:])
	}
}

// loads reports whether a value of a variable makes programs run other files.
func loads(name, value string) bool {
	value = strings.Trim(value, `"'`)
	switch strings.TrimSuffix(name, "+") {
	case "PATH", "SHELL":
		return slices.ContainsFunc(strings.Split(value, ":"), func(p string) bool {
			return !strings.HasPrefix(p, "/") && p != "$PATH" && p != "${PATH}" && name+p != "SHELLbash" && name+p != "SHELLsh" || strings.HasPrefix(p, under)
		})
	case "NODE_OPTIONS":
		return slices.ContainsFunc([]string{"require", "import", "loader", "-r", "$"}, func(s string) bool { return strings.Contains(value, s) })
	case "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "RUBYOPT", "RUBYLIB", "PERL5OPT", "PERL5LIB", "MAKEFILES", "MAKEFLAGS", "PYTHONPATH", "PYTHONSTARTUP", ".SHELLFLAGS", ".RECIPEPREFIX":
		return value != ""
	}
	return false
}

// run adds a file that a word names to be run. A word that has no folder in it
// is a program of the system, unless it is an argument.
func (r *reached) run(c shellsyntax.Command, w shellsyntax.Word) {
	switch {
	case !w.Known && !w.Glob:
		r.not("a file to run, " + written(w) + ", that is known only when it runs")
	case !w.Known || strings.Contains(w.Text, "/"):
		r.file(c, w)
	}
}

func written(w shellsyntax.Word) string {
	text := strings.NewReplacer("${"+unlistedVar+"}", "$(…)", "${"+targetVar+"}", "$@").Replace(w.Text)
	return text[:min(len(text), 60)]
}

// file adds the files that a word names, and follows them.
func (r *reached) file(c shellsyntax.Command, w shellsyntax.Word) {
	absolute := strings.HasPrefix(w.Text, "/")
	if !w.Known && !w.Glob || !c.Dir.Known && !absolute {
		r.not("a file to run, " + written(w) + ", in a folder that is known only when it runs")
		return
	}
	for _, dir := range append([]string{c.Dir.Text}, c.Alt...) {
		name := path.Join(dir, w.Text)
		if absolute {
			name = path.Clean(w.Text)
		}
		name, within := strings.CutPrefix(name, under+"/")
		if !within {
			continue
		}
		names := []string{name}
		if w.Glob {
			var err error
			if names, err = fs.Glob(r.t.root.FS(), name); err != nil || strings.ContainsAny(name, "{}") || strings.Contains(name, "**") {
				r.not("a pattern, " + written(w) + ", that pawl cannot list")
			}
		}
		for _, n := range names {
			if text := r.t.read(n); shellScript(n, text) {
				r.define(inside(".", dir), n)
			} else {
				r.add(n)
			}
		}
	}
}

// folders returns the folders in which a command runs.
func (r *reached) folders(c shellsyntax.Command) []string {
	if !c.Dir.Known {
		r.not("a folder that is known only when it runs")
		return nil
	}
	var out []string
	for _, d := range append([]string{c.Dir.Text}, c.Alt...) {
		if rest, ok := strings.CutPrefix(path.Clean(d)+"/", under+"/"); ok {
			out = append(out, path.Join(".", rest))
		}
	}
	return out
}

// program follows a program by its name and arguments.
func (r *reached) program(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	switch {
	case name == "." || name == "source":
		if len(args) > 0 {
			r.file(c, args[0])
		}
	case shellsyntax.Shell(name):
		in := shellsyntax.ShellArgs(args)
		input := slices.ContainsFunc(c.Redirects, func(r shellsyntax.Redirect) bool { return strings.HasPrefix(r.Op, "<") })
		switch {
		case in.Script != nil:
			r.file(c, *in.Script)
		case in.Unknown, in.Code == nil && (c.Piped || input):
			r.not("a shell whose input is known only when it runs")
		}
	case name == "make" || name == "gmake":
		r.make(c, args)
	case slices.Contains([]string{"just", "npm", "pnpm", "yarn", "bun"}, name):
		r.tool(c, name, args)
	case interpreter(name):
		r.interpret(c, name, args)
	case ownDefinitions[name]:
		r.not("a call of " + name + ", which runs what its own files define")
	case name == "go" && slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		return flag == "exec" || flag == "toolexec" || flag == "vettool"
	}):
		r.not("a program that go is told to run")
	case command.OnlyPrints(name, c) || plainTools[name]:
	default: // it may run its arguments
		for i, w := range args {
			base := path.Base(w.Text)
			switch {
			case w.Known && (shellsyntax.Shell(base) || interpreter(base) || base == "make" || base == "gmake" || base == "npm" || base == "pnpm" || base == "yarn" || base == "just" || ownDefinitions[base]):
				r.program(c, base, args[i+1:])
			case w.Known && strings.Contains(w.Text, " ") && runners[name]:
				for _, dir := range r.folders(c) {
					r.line(dir, w.Text)
				}
			case w.Known && strings.Contains(w.Text, "/"):
				r.file(c, w)
			}
		}
	}
}

// runners run command lines that are arguments.
var runners = map[string]bool{"concurrently": true, "watch": true, "parallel": true, "flock": true, "entr": true, "nodemon": true, "cross-env": true, "cross-env-shell": true, "start-server-and-test": true, "dotenv": true, "script": true, "npx": true, "c8": true, "nyc": true}

// plainTools run none of the files that their arguments name, or only source.
var plainTools = map[string]bool{"go": true, "git": true, "cargo": true, "rm": true, "cp": true, "mv": true, "mkdir": true, "touch": true, "ls": true, "cat": true, "test": true, "[": true, "cd": true, "grep": true, "tar": true, "chmod": true, "which": true, "type": true, "install": true, "export": true, "set": true}

// ownDefinitions are tools that run what files of their own define, in ways
// that are not followed here.
var ownDefinitions = map[string]bool{
	"tox": true, "nox": true, "rake": true, "gradle": true, "gradlew": true, "mvn": true, "mvnw": true, "ant": true, "sbt": true, "composer": true, "cmake": true, "ctest": true, "ninja": true,
	"meson": true, "scons": true, "invoke": true, "inv": true, "task": true, "bazel": true, "mage": true, "earthly": true, "dune": true, "mix": true, "rebar3": true, "zig": true, "deno": true,
	"gulp": true, "grunt": true, "lerna": true, "nx": true, "turbo": true, "rush": true, "wireit": true, "hatch": true, "pdm": true, "poe": true, "doit": true, "pre-commit": true, "lefthook": true, "bmake": true,
	"docker-compose": true, "vagrant": true, "ansible-playbook": true, "eval": true,
}

func interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return slices.Contains([]string{"python", "pypy", "node", "ruby", "perl", "php", "lua", "luajit", "awk", "gawk", "mawk", "sed", "tsx", "ts-node", "java", "Rscript", "osascript", "pwsh", "powershell", "tclsh", "expect", "groovy", "guile"}, name)
}

// interpret follows an interpreter: its script, and the module of python -m.
func (r *reached) interpret(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	if name == "sed" || strings.HasSuffix(name, "awk") {
		for i, w := range args {
			if w.Text == "-f" && i+1 < len(args) {
				r.file(c, args[i+1])
			}
		}
		return
	}
	python, script := strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy"), false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case script: // what the script gets may be a file that it runs
			if w.Known || w.Glob {
				r.file(c, w)
			}
		case python && w.Known && strings.HasPrefix(w.Text, "-m"):
			module := strings.TrimPrefix(w.Text, "-m")
			if module == "" && i+1 < len(args) {
				i++
				if module = args[i].Text; !args[i].Known {
					r.not("a module that is known only when it runs")
				}
			}
			r.module(c, module)
			return
		case w.Text == "-c", w.Text == "-e", w.Text == "-p", w.Text == "--eval", w.Text == "--print", w.Text == "-pe":
			if i+1 >= len(args) || !args[i+1].Known || slices.ContainsFunc([]string{"import", "require", "exec", "eval", "open", "load", "system", "spawn", "`", "do "}, func(s string) bool { return strings.Contains(args[i+1].Text, s) }) {
				r.not("code for " + name + " in a command line")
			}
			return
		case w.Text == "--test" && name == "node": // tests are source
			return
		case !w.Known && !w.Glob:
			r.not("a file to run, " + written(w) + ", that is known only when it runs")
			return
		case w.Text == "-":
			r.not("code for " + name + " in a command line")
		case !python && len(w.Text) > 2 && (strings.HasPrefix(w.Text, "-r") || strings.HasPrefix(w.Text, "-I") || strings.HasPrefix(w.Text, "-M")):
			r.not("a library of " + name + " that its call names")
		case w.Known && strings.HasPrefix(w.Text, "-"):
			if _, value, ok := strings.Cut(w.Text, "="); ok {
				r.file(c, shellsyntax.Word{Text: value, Known: true})
			}
		default:
			r.file(c, w)
			for _, more := range []string{"/__main__.py", "/package.json", "/index.js", ".js", ".cjs", ".mjs", ".ts"} { // a folder, or a name without an extension
				if w.Known {
					r.file(c, shellsyntax.Word{Text: strings.TrimSuffix(w.Text, "/") + more, Known: true})
				}
			}
			script = true
		}
	}
	if !script && c.Piped {
		r.not("code for " + name + " that is known only when it runs")
	}
}

// module adds the files of a module that python runs.
func (r *reached) module(c shellsyntax.Command, module string) {
	at := ""
	for _, part := range strings.Split(module, ".") {
		at = path.Join(at, part)
		for _, n := range []string{at + ".py", at + "/__init__.py", at + "/__main__.py"} {
			r.file(c, shellsyntax.Word{Text: n, Known: true})
		}
	}
	if ownDefinitions[module] {
		r.not("a call of " + module + ", which runs what its own files define")
	}
}

// tool follows just and the package managers of node.
func (r *reached) tool(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	for _, w := range args {
		if !w.Known && name != "just" && w.Prefix == "" {
			continue // a script's name, or its arguments: all that could be meant is in package.json
		}
		for _, flag := range []string{"-C", "-f", "-d", "-w", "-r", "--prefix", "--dir", "--cwd", "--workspace", "--filter", "--recursive", "--justfile", "--working-directory", "workspace"} {
			if w.Text == flag || strings.HasPrefix(w.Text, flag) && (strings.HasPrefix(flag, "--") || flag == "workspace") {
				r.not("a call of " + name + " in other folders")
				return
			}
		}
	}
	files := []string{"package.json"}
	if name == "just" {
		files = targetFiles(kindJust)
	}
	for _, dir := range r.folders(c) {
		for _, f := range files {
			r.define(dir, path.Join(dir, f))
		}
	}
	for _, w := range args {
		if w.Known && strings.Contains(w.Text, "/") {
			r.file(c, w)
		}
	}
}
