package reach

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// program follows a program by its name and arguments.
func (r *walk) program(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	switch {
	case name == "." || name == "source":
		if len(args) > 0 {
			r.files(c, args[0], asSourced)
		}
	case shellsyntax.Shell(name):
		in := shellsyntax.ShellArgs(args)
		input := slices.ContainsFunc(c.Redirects, func(r shellsyntax.Redirect) bool { return strings.HasPrefix(r.Op, "<") })
		switch {
		case in.Script != nil:
			r.files(c, *in.Script, asShell)
		case in.Unknown, in.Code == nil && (c.Piped || input):
			r.not("a shell whose input is known only when it runs")
		}
	case command.BuildFileOf(name) == command.Makefile:
		r.make(c, args)
	case takesRecipes(name):
		r.tool(c, name, args)
	case command.Scripted(name):
		r.interpret(c, name, args)
	case command.RunsOwnFiles(name):
		r.not("a call of " + name + ", which runs what its own files define")
	case r.ask.Deep && command.Compiles(name, args):
		r.not("a call of " + name + ", which runs source of this folder")
	case command.ThroughRunner(name, args):
		r.not("a program that " + name + " is told to run")
	case command.SharesFolder(name, args):
		r.not("a container that runs files of this folder")
	case command.OnlyPrints(name, c):
	case command.RunsNothing(name):
		r.told(c, name, args)
	default: // it may run its arguments
		r.installed(c, name)
		for i, w := range args {
			base := path.Base(w.Text)
			switch {
			case w.Known && command.Launches(name) && !strings.HasPrefix(w.Text, "-"):
				r.installed(c, w.Text)
				for _, dir := range r.folders(c) {
					if st, err := fs.Stat(r.fsys, inside(dir, w.Text)); r.ask.Deep && err == nil && st.IsDir() {
						r.folder(inside(dir, w.Text))
					}
				}
				fallthrough
			case w.Known && scriptName(w.Text):
				r.files(c, w, asItIs)
				if shellsyntax.Shell(base) || command.Scripted(base) || command.RunsOwnFiles(base) {
					r.program(c, base, args[i+1:])
				}
			case w.Known && (shellsyntax.Shell(base) || command.Scripted(base) || command.BuildFileOf(base) == command.Makefile || takesRecipes(base) || command.RunsOwnFiles(base)):
				r.program(c, base, args[i+1:])
			case w.Known && strings.Contains(w.Text, " ") && command.RunsLines(name):
				for _, dir := range r.folders(c) {
					r.line(dir, w.Text)
				}
			case w.Known && strings.Contains(w.Text, "/"):
				r.file(c, w)
			}
		}
	}
}

// scriptName reports whether a word is named like a script.
func scriptName(w string) bool {
	return extensions[path.Ext(w)] != nil || path.Ext(w) == ".sh" || path.Ext(w) == ".bash" || path.Ext(w) == ".jar"
}

// takesRecipes reports whether a program runs what a justfile or a package.json
// defines. A program of node that only launches others runs installed packages.
func takesRecipes(name string) bool {
	from := command.BuildFileOf(name)
	return from == command.Justfile || from == command.PackageJSON && !command.Launches(name)
}

// told follows the programs that a program's flags make it run.
func (r *walk) told(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	if command.GivenSettings(name, args) {
		r.not("a setting that " + name + " is given")
	}
	if !command.HasExecutingFlags(name) {
		return
	}
	for i, w := range args {
		after := i > 0 && (args[i-1].Text == "foreach" || args[i-1].Text == "run" || command.ExecutingFlag(name, args[i-1].Text))
		if !after && !r.ask.Deep && !strings.ContainsAny(w.Text, "=!") {
			continue
		}
		for _, n := range named().FindAllString(w.Text, -1) {
			for _, dir := range append(r.folders(c), ".") {
				for n := n; ; n = strings.TrimPrefix(n, "../") { // foreach runs in folders below
					r.mentioned(path.Join(dir, n), false)
					if !strings.HasPrefix(n, "../") {
						break
					}
				}
			}
		}
	}
}

// installed adds the package of node that a program run in the folder belongs to.
func (r *walk) installed(c shellsyntax.Command, name string) {
	if !r.ask.Deep {
		return
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "@"), "@") // the version
	if name == "" || strings.ContainsAny(name, " \t") {
		return
	}
	for _, dir := range r.folders(c) {
		for {
			bin := path.Join(dir, "node_modules", ".bin", path.Base(name))
			if r.isFile(bin) {
				r.ran(definition{dir, bin, asProgram})
			}
			r.pkg(dir, strings.TrimPrefix(name, "@"))
			if dir == "." {
				break
			}
			dir = path.Dir(dir)
		}
	}
}

// bin adds the package that a program in .bin, in a folder's node_modules, links to.
func (r *walk) bin(dir, name, to string) {
	rest, ok := strings.CutPrefix(path.Join(path.Dir(name), to), path.Join(dir, "node_modules")+"/")
	parts := strings.SplitN(rest, "/", 3)
	switch {
	case !ok || len(parts) < 2:
		r.not("a program, " + path.Base(name) + ", that its packages link to from elsewhere")
	case strings.HasPrefix(parts[0], "@"):
		r.pkg(dir, parts[0]+"/"+parts[1])
	default:
		r.pkg(dir, parts[0])
	}
}

// interpret follows an interpreter: its script, and the module of python -m.
func (r *walk) interpret(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	if command.Filters(name) {
		for i, w := range args {
			switch glued, ok := strings.CutPrefix(w.Text, "-f"); {
			case ok && glued == "" && i+1 < len(args):
				r.file(c, args[i+1])
			case ok, strings.HasPrefix(w.Text, "--file="):
				r.file(c, shellsyntax.Word{Text: strings.TrimPrefix(glued, "--file="), Known: w.Known})
			}
		}
		return
	}
	modules, script := command.RunsModules(name), false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case script: // an argument of the script may be a file that it runs
			if w.Known || w.Glob {
				r.file(c, w)
			}
		case modules && w.Known && strings.HasPrefix(w.Text, "-m"):
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
			r.code(c, name, args[i+1:])
			return
		case w.Text == "--test" && command.TestsItself(name): // tests are source code
			if r.ask.Deep {
				r.not("tests, which are source")
			}
			return
		case !w.Known && !w.Glob:
			r.not("a file to run, " + written(w) + ", that is known only when it runs")
			return
		case w.Text == "-":
			r.not("code for " + name + " in a command line")
		case modules && (w.Text == "-W" || w.Text == "-X") && i+1 < len(args):
			if i++; w.Text == "-X" && (!args[i].Known || strings.HasPrefix(args[i].Text, "pycache")) {
				r.not("a library of " + name + " that its call names")
			}
		case !modules && w.Known && preloading(name, args[i:]) > 0:
			n := preloading(name, args[i:])
			r.preload(c, name, args[i:i+n])
			i += n - 1
		case modules && strings.HasPrefix(w.Text, "-Xpycache"):
			r.not("a library of " + name + " that its call names")
		case w.Known && strings.HasPrefix(w.Text, "-"):
			if _, value, ok := strings.Cut(w.Text, "="); ok {
				r.file(c, shellsyntax.Word{Text: value, Known: true})
			}
		default:
			r.files(c, w, asScript)
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

// code follows an interpreter's code on the command line.
func (r *walk) code(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	loads := []string{"import", "require", "exec", "eval", "open", "load", "system", "spawn", "`", "do "}
	if r.ask.Deep { // what it loads by name is followed elsewhere
		loads = []string{"exec", "eval", "compile", "runpy", "vm."}
	}
	if len(args) == 0 || !args[0].Known || slices.ContainsFunc(loads, func(s string) bool { return strings.Contains(args[0].Text, s) }) {
		r.not("code for " + name + " in a command line")
		return
	}
	if !r.ask.Deep {
		return
	}
	was := r.at
	for _, dir := range r.folders(c) {
		r.at = definition{dir: dir, name: path.Join(dir, name)}
		r.loaded(args[0].Text)
	}
	r.at = was
	for _, w := range args[1:] {
		if w.Known || w.Glob {
			r.file(c, w)
		}
	}
}

// module adds the files of a module that python runs with -m.
func (r *walk) module(c shellsyntax.Command, module string) {
	at := ""
	for _, part := range strings.Split(module, ".") {
		at = path.Join(at, part)
		for _, n := range []string{at + ".py", at + "/__init__.py", at + "/__main__.py"} {
			r.file(c, shellsyntax.Word{Text: n, Known: true})
		}
	}
	if command.RunsOwnFiles(module) {
		r.not("a call of " + module + ", which runs what its own files define")
	}
}
