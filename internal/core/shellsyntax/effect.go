package shellsyntax

import (
	"path"
	"slices"
	"strings"
)

// Kind is what a command does, as far as its words tell.
type Kind int

// The kinds of commands.
const (
	Other  Kind = iota // not known, or it runs, sends or changes what its words do not name
	Reads              // it only reads
	Writes             // it changes the files it names, and nothing else
)

// Effect is what a command does to which paths. Paths are as in the words:
// relative ones hold below the command's Dir. Redirections are not in it.
type Effect struct {
	Kind    Kind
	Reads   []Word
	Writes  []Word
	Removes []Word
	// Recursive: what is removed is removed with all below it.
	Recursive bool
	// Why says in a few words why it is Other.
	Why string
}

func other(why string) Effect { return Effect{Why: why} }

// ReadOnly says whether every command only reads, as its syntax tells: each
// program is on the table of those that do, no option makes it write or run
// something, no redirection opens a file for writing but /dev/null, and
// nothing unknown is where it could change that. It is no word on which files
// are read, nor on where they are. The table is in doc/permissions.md.
func ReadOnly(cmds []Command) bool {
	for _, c := range cmds {
		if Effects(c).Kind != Reads {
			return false
		}
		for _, r := range c.Redirects {
			if r.Writes() && !(r.Target.Known && SafeDevice(r.Target.Text)) {
				return false
			}
		}
	}
	return len(cmds) > 0
}

// SafeDevice names the device files that anyone may write to.
func SafeDevice(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2":
		return true
	}
	return false
}

// Program is the base name of a command's program; plain is false where it was
// given by a path that is not one of the system's own folders, so that it may
// be any program of that name.
func (c Command) Program() (base string, plain bool) {
	n := c.Name()
	dir, base := path.Split(n)
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/":
		return base, true
	}
	return base, false
}

// Effects says what a command does.
func Effects(c Command) Effect {
	for _, a := range c.Assigns {
		if name, _, _ := strings.Cut(a, "="); len(c.Words) > 0 && !SafeVariable(name) || len(c.Words) == 0 && LoadedVariable(name) {
			return other("it sets " + name + ", which programs obey")
		}
	}
	if why := wrapped(c); why != "" {
		return other(why)
	}
	if len(c.Words) == 0 {
		return Effect{Kind: Reads}
	}
	if c.Func {
		return Effect{Kind: Reads} // its own commands are listed
	}
	if c.Code {
		return other("it runs code that cannot be known before")
	}
	name, plain := c.Program()
	switch {
	case !c.Words[0].Known:
		return other("which program it runs cannot be known before")
	case !plain:
		return other(c.Words[0].Text + " may be any program")
	}
	args := c.Words[1:]
	if len(args) == 1 && args[0].Known && (args[0].Text == "--version" || args[0].Text == "--help") && tellsVersion(name) {
		return Effect{Kind: Reads}
	}
	if Shell(name) && told(args) {
		return Effect{Kind: Reads} // its commands are listed
	}
	switch name {
	case "git":
		return git(args)
	case "go":
		return goTool(args)
	case "find":
		return find(args)
	case "sed":
		return sed(args)
	case "awk", "gawk", "mawk", "nawk":
		return awk(args)
	case "gofmt", "gofumpt", "goimports":
		return gofmt(args)
	case "export", "declare", "local", "readonly", "typeset", "cd", "read", "set", "printf", "test", "[", "unset":
		return builtins(name, args, len(c.Assigns) > 0)
	case "cp", "mv", "ln", "install":
		return copies(name, args)
	}
	sp, ok := specOf(name)
	if !ok {
		return other(name + " is not known to be harmless")
	}
	return sp.effect(name, args)
}

// told says whether a shell runs nothing but the text of its -c or its standard
// input, which Parse took apart.
func told(args []Word) bool {
	inv := ShellArgs(args)
	if inv.Script != nil || inv.Unknown || inv.Code == nil && !inv.Stdin {
		return false
	}
	for i, a := range args {
		if a.Text == "" || a.Text[0] != '-' || a.Text == "-" {
			return true
		}
		if strings.Trim(a.Text[1:], "ceuxlsv") != "" && !(strings.Trim(a.Text[1:], "ceuxlsvo") == "" && i+1 < len(args) && args[i+1].Text == "pipefail") {
			return false
		}
		if strings.HasSuffix(a.Text, "o") {
			break
		}
	}
	return true
}

// wrapped refuses the wrappers that change what the command is.
func wrapped(c Command) string {
	for _, n := range c.Wrappers {
		switch n {
		case "nohup", "nice", "timeout", "command", "builtin", "stdbuf", "setsid", "exec":
		case "env", "time":
			for _, v := range c.Via {
				t := v.Text
				if strings.HasPrefix(t, "-C") || strings.HasPrefix(t, "--c") || strings.HasPrefix(t, "-o") || strings.HasPrefix(t, "--o") || strings.HasPrefix(t, "-a") || strings.HasPrefix(t, "--a") {
					return n + " " + t + " changes where it runs or what it writes"
				}
			}
		case "xargs":
			return "xargs adds arguments that cannot be known before"
		case "find":
			return "find gives it paths that cannot be known before"
		default:
			return n + " runs it with other rights or in another program"
		}
	}
	return ""
}

// SafeVariable names the variables that only change how output looks, or how
// a build is made, and never what runs.
func SafeVariable(name string) bool {
	switch name {
	case "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GOTRACEBACK", "GO111MODULE",
		"CI", "TZ", "LANG", "LANGUAGE", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLORTERM",
		"NODE_ENV", "RUST_BACKTRACE", "RUST_LOG", "CARGO_TERM_COLOR", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED",
		"DEBIAN_FRONTEND", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "DEBUG", "VERBOSE", "HUSKY":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// LoadedVariable names those that change what later commands of the line do
// even where they are not exported again: they are in the environment already
// or the shell itself obeys them.
func LoadedVariable(name string) bool {
	switch name {
	case "PATH", "HOME", "SHELL", "USER", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "CDPATH", "GLOBIGNORE", "TMPDIR",
		"EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER", "CC", "CXX", "LD", "AR", "MAKEFLAGS", "MAKE",
		"PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "CLASSPATH", "RUSTC", "RUSTC_WRAPPER", "RIPGREP_CONFIG_PATH",
		"PROMPT_COMMAND", "EXECIGNORE", "HISTFILE", "XDG_CONFIG_HOME":
		return true
	}
	for _, p := range [...]string{"LD_", "DYLD_", "GIT_", "GO", "CGO_", "PYTHON", "NODE_", "NPM_", "npm_", "CARGO", "RUST", "BASH_", "SSH_", "LESS", "GREP_", "GCC_", "CMAKE_", "PYTEST_", "DOCKER_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func tellsVersion(name string) bool {
	switch name {
	case "go", "git", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python", "python3", "pip", "pip3", "cargo", "rustc", "java", "javac",
		"gcc", "g++", "clang", "make", "cmake", "ruby", "php", "rg", "jq", "docker", "bash", "sh", "curl", "wget", "tar", "ssh", "gopls", "pytest", "tsc":
		return true
	}
	return false
}

// opt is one option of a command.
type opt struct {
	name  string // "-n" or "--lines"
	value Word
	has   bool
}

// scan reads arguments as getopt does: clusters of letters, --name=value, and
// values in the next word for those that sp names.
func (sp spec) scan(args []Word) (opts []opt, operands []Word, why string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known && (a.Prefix == "" || a.Prefix[0] == '-') {
			if sp.bad != "" {
				return nil, nil, "an argument that cannot be known before may be an option of it"
			}
			operands = append(operands, a)
			continue
		}
		t := a.Text
		switch {
		case !a.Known || len(t) < 2 || t[0] != '-':
			operands = append(operands, a)
		case t == "--":
			return opts, append(operands, args[i+1:]...), ""
		case strings.HasPrefix(t, "--"):
			name, v, has := strings.Cut(t, "=")
			o := opt{name: name, value: Word{Text: v, Known: true}, has: has}
			if !has && takesNext(sp.long, name[2:]) && i+1 < len(args) {
				i++
				o.value, o.has = args[i], true
			}
			opts = append(opts, o)
		default:
			for j := 1; j < len(t); j++ {
				o := opt{name: "-" + t[j:j+1]}
				if strings.IndexByte(sp.vals, t[j]) >= 0 {
					o.has = true
					if j+1 < len(t) {
						o.value = Word{Text: t[j+1:], Known: true}
					} else if i+1 < len(args) {
						i++
						o.value = args[i]
					}
					opts = append(opts, o)
					break
				}
				opts = append(opts, o)
			}
		}
	}
	return opts, operands, ""
}

// takesNext says whether a long option takes the next word; it may be shortened.
func takesNext(list, name string) bool {
	for l := range strings.FieldsSeq(list) {
		if strings.HasPrefix(l, name) {
			return true
		}
	}
	return false
}

func listed(list, name string) bool { return strings.Contains(" "+list+" ", " "+name+" ") }

// forbids says whether an option is on a list of bad ones; a long one may be
// shortened.
func forbids(bad, name string) bool {
	for b := range strings.FieldsSeq(bad) {
		if b == name || strings.HasPrefix(name, "--") && len(name) > 2 && strings.HasPrefix(b, name) {
			return true
		}
	}
	return false
}

// effect reads the arguments of a program of the table.
func (sp spec) effect(name string, args []Word) Effect {
	opts, operands, why := sp.scan(args)
	if why != "" {
		return other(why)
	}
	e := Effect{Kind: Reads}
	pattern := sp.first
	for _, o := range opts {
		if forbids(sp.bad, o.name) {
			return other(name + " " + o.name + " writes, sends or runs something")
		}
		if listed(sp.pattern, o.name) {
			pattern = false
		}
		if listed(sp.recurse, o.name) {
			e.Recursive = true
		}
		if o.has && (!o.value.Known || strings.ContainsAny(o.value.Text, "/~") || o.value.Text == "..") && !listed(sp.text, o.name) {
			e.Reads = append(e.Reads, o.value)
		}
	}
	if pattern && len(operands) > 0 {
		operands = operands[1:]
	}
	if sp.most > 0 && len(operands) > sp.most-1 {
		return other(name + " with that many operands may write")
	}
	if sp.none {
		operands = nil
	}
	switch sp.does {
	case removing:
		e.Kind, e.Removes = Writes, operands
	case writing:
		if sp.skip > 0 && !modeOption(opts) {
			operands = operands[min(sp.skip, len(operands)):]
		}
		e.Kind, e.Writes = Writes, operands
	default:
		e.Reads = append(e.Reads, operands...)
	}
	return e
}

// modeOption: chmod -x gives the mode where an option would be.
func modeOption(opts []opt) bool {
	return slices.ContainsFunc(opts, func(o opt) bool { return len(o.name) == 2 && strings.Contains("rwxXstugo", o.name[1:]) })
}

// Paths puts a word's path behind every folder that the command may run in.
// For a glob it is the folder that all of its paths are below, and "/*".
// ok is false where the path cannot be known.
func (c Command) Paths(w Word) (paths []string, ok bool) {
	t := w.Text
	if !w.Known {
		if !w.Glob {
			return nil, false
		}
		t = w.Prefix[:strings.LastIndexByte(w.Prefix, '/')+1] + "*"
	}
	if path.IsAbs(t) {
		return []string{path.Clean(t)}, true
	}
	if !c.Dir.Known {
		return nil, false
	}
	paths = append(paths, join(c.Dir.Text, t))
	for _, d := range c.Alt {
		if p := join(d, t); !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths, true
}

// Touched lists the absolute paths that commands are known to read and to
// change: their words' and their redirections'. What cannot be known is not in
// it. It is for those who can follow links: a path that leads out of the
// workspace belongs into the footprint as what it leads to.
func Touched(cmds []Command) (reads, writes []string) {
	add := func(list *[]string, c Command, words []Word) {
		for _, w := range words {
			paths, ok := c.Paths(w)
			for _, p := range paths {
				if ok && !slices.Contains(*list, p) {
					*list = append(*list, p)
				}
			}
		}
	}
	for _, c := range cmds {
		e := Effects(c)
		add(&reads, c, e.Reads)
		add(&writes, c, e.Writes)
		add(&writes, c, e.Removes)
		for _, r := range c.Redirects {
			if r.Writes() {
				add(&writes, c, []Word{r.Target})
			} else {
				add(&reads, c, []Word{r.Target})
			}
		}
	}
	return reads, writes
}
