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
	case name == "make" || name == "gmake":
		r.make(c, args)
	case slices.Contains([]string{"just", "npm", "pnpm", "yarn", "bun"}, name):
		r.tool(c, name, args)
	case interpreter(name):
		r.interpret(c, name, args)
	case ownDefinitions[name]:
		r.not("a call of " + name + ", which runs what its own files define")
	case r.ask.Deep && r.runsSource(name, args):
		r.not("a call of " + name + ", which runs source of this folder")
	case name == "go" && slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		return flag == "exec" || flag == "toolexec" || flag == "vettool"
	}):
		r.not("a program that go is told to run")
	case name == "git" || name == "tar":
		r.told(c, name, args)
	case (name == "docker" || name == "podman") && containers(args):
		r.not("a container that runs files of this folder")
	case command.OnlyPrints(name, c) || plainTools[name]:
	default: // it may run its arguments
		r.installed(c, name)
		for i, w := range args {
			base := path.Base(w.Text)
			switch {
			case w.Known && launchers[name] && !strings.HasPrefix(w.Text, "-"):
				r.installed(c, w.Text)
				for _, dir := range r.folders(c) {
					if st, err := fs.Stat(r.fsys, inside(dir, w.Text)); r.ask.Deep && err == nil && st.IsDir() {
						r.folder(inside(dir, w.Text))
					}
				}
				fallthrough
			case w.Known && scriptName(w.Text):
				r.files(c, w, asItIs)
				if shellsyntax.Shell(base) || interpreter(base) || ownDefinitions[base] {
					r.program(c, base, args[i+1:])
				}
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

// scriptName reports whether a word is named like a script.
func scriptName(w string) bool {
	return extensions[path.Ext(w)] != nil || path.Ext(w) == ".sh" || path.Ext(w) == ".bash" || path.Ext(w) == ".jar"
}

// runsSource reports whether a program compiles or tests what is in the folder.
func (r *walk) runsSource(name string, args []shellsyntax.Word) bool {
	switch name {
	case "go", "cargo", "dotnet", "swift", "stack", "cabal":
		return len(args) > 0 && (!args[0].Known || slices.Contains([]string{"run", "test", "generate", "tool", "bench", "vet", "build", "install", "r", "t", "b", "exec"}, args[0].Text))
	case "pytest", "py.test", "jest", "vitest", "mocha", "ava", "tap", "cypress", "playwright", "rspec", "phpunit", "cc", "gcc", "g++", "clang", "clang++", "rustc", "javac", "tsc":
		return true
	}
	return false
}

// launchers run the installed program that their argument names.
var launchers = map[string]bool{"npx": true, "bunx": true, "pnpx": true, "uvx": true, "pipx": true, "uv": true, "poetry": true, "pipenv": true, "rye": true, "pixi": true, "conda": true, "asdf": true, "nix": true, "dotenvx": true}

// told follows the programs that git or tar are told to run.
func (r *walk) told(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	for i, w := range args {
		if name == "git" && i > 0 && args[i-1].Text == "-c" && !slices.ContainsFunc([]string{"user.", "color.", "advice.", "init.", "safe.", "commit.gpgsign=false", "core.autocrlf=", "core.quotepath="}, func(p string) bool { return strings.HasPrefix(strings.ToLower(w.Text), p) }) ||
			name == "git" && (strings.HasPrefix(w.Text, "--exec-path=") || strings.HasPrefix(w.Text, "--config-env")) {
			r.not("a setting that git is given")
		}
		runs := strings.ContainsAny(w.Text, "=!") || name == "git" && r.ask.Deep || i > 0 && (args[i-1].Text == "foreach" || args[i-1].Text == "run" || args[i-1].Text == "-x" || args[i-1].Text == "--exec" || args[i-1].Text == "-I" || args[i-1].Text == "-F")
		if !runs {
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

// containers reports whether a container is given the folder.
func containers(args []shellsyntax.Word) bool {
	return len(args) > 0 && args[0].Text != "build" && slices.ContainsFunc(args, func(w shellsyntax.Word) bool {
		return !w.Known || w.Text == "compose" || w.Text == "bake" || strings.HasPrefix(w.Text, "-v") || strings.HasPrefix(w.Text, "--volume") || strings.HasPrefix(w.Text, "--mount")
	})
}

// installed adds the package of node that a program in the folder belongs to.
func (r *walk) installed(c shellsyntax.Command, name string) {
	if !r.ask.Deep {
		return
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "@"), "@") // a version
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

// bin adds the package that a program in .bin of a folder's packages links to.
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

// runners run command lines that are arguments.
var runners = map[string]bool{"concurrently": true, "watch": true, "parallel": true, "flock": true, "entr": true, "nodemon": true, "cross-env": true, "cross-env-shell": true, "start-server-and-test": true, "dotenv": true, "script": true, "npx": true, "c8": true, "nyc": true}

// plainTools run none of the files that their arguments name, or only source.
var plainTools = map[string]bool{"go": true, "cargo": true, "rm": true, "cp": true, "mv": true, "mkdir": true, "touch": true, "ls": true, "cat": true, "test": true, "[": true, "cd": true, "grep": true, "chmod": true, "which": true, "type": true, "install": true, "export": true, "set": true}

// ownDefinitions are tools that run what files of their own define, in ways
// that are not followed here.
var ownDefinitions = map[string]bool{
	"tox": true, "nox": true, "rake": true, "gradle": true, "gradlew": true, "mvn": true, "mvnw": true, "ant": true, "sbt": true, "composer": true, "cmake": true, "ctest": true, "ninja": true,
	"meson": true, "scons": true, "invoke": true, "inv": true, "task": true, "bazel": true, "mage": true, "earthly": true, "dune": true, "mix": true, "rebar3": true, "zig": true, "deno": true,
	"gulp": true, "grunt": true, "lerna": true, "nx": true, "turbo": true, "rush": true, "wireit": true, "hatch": true, "pdm": true, "poe": true, "doit": true, "pre-commit": true, "lefthook": true, "bmake": true,
	"docker-compose": true, "podman-compose": true, "vagrant": true, "ansible-playbook": true, "eval": true, "direnv": true, "mise": true, "devbox": true, "nix-shell": true,
	"foreman": true, "honcho": true, "overmind": true, "pm2": true, "skaffold": true, "tilt": true, "husky": true, "watchexec": true,
}

func interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return slices.Contains([]string{"python", "pypy", "node", "ruby", "perl", "php", "lua", "luajit", "awk", "gawk", "mawk", "sed", "tsx", "ts-node", "java", "Rscript", "osascript", "pwsh", "powershell", "tclsh", "expect", "groovy", "guile"}, name)
}

// interpret follows an interpreter: its script, and the module of python -m.
func (r *walk) interpret(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	if name == "sed" || strings.HasSuffix(name, "awk") {
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
			r.code(c, name, args[i+1:])
			return
		case w.Text == "--test" && name == "node": // tests are source
			if r.ask.Deep {
				r.not("tests, which are source")
			}
			return
		case !w.Known && !w.Glob:
			r.not("a file to run, " + written(w) + ", that is known only when it runs")
			return
		case w.Text == "-":
			r.not("code for " + name + " in a command line")
		case python && (w.Text == "-W" || w.Text == "-X") && i+1 < len(args):
			if i++; w.Text == "-X" && (!args[i].Known || strings.HasPrefix(args[i].Text, "pycache")) {
				r.not("a library of " + name + " that its call names")
			}
		case !python && w.Known && preloading(name, args[i:]) > 0:
			n := preloading(name, args[i:])
			r.preload(c, name, args[i:i+n])
			i += n - 1
		case python && strings.HasPrefix(w.Text, "-Xpycache"):
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

// code follows the code for an interpreter that a command line has.
func (r *walk) code(c shellsyntax.Command, name string, args []shellsyntax.Word) {
	loads := []string{"import", "require", "exec", "eval", "open", "load", "system", "spawn", "`", "do "}
	if r.ask.Deep { // what it loads by name is followed
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

// module adds the files of a module that python runs.
func (r *walk) module(c shellsyntax.Command, module string) {
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
