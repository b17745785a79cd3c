package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
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
	Reads   []shellsyntax.Word
	Writes  []shellsyntax.Word
	Removes []shellsyntax.Word
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
func ReadOnly(cmds []shellsyntax.Command) bool {
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

// SafeDevice reports whether a path is a device that anyone may write to
// without anything being lost: nothing, and what is open already.
func SafeDevice(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return true
	}
	for _, dir := range [...]string{"/dev/fd/", "/proc/self/fd/"} {
		if n, ok := strings.CutPrefix(p, dir); ok {
			return n != "" && strings.Trim(n, "0123456789") == ""
		}
	}
	return false
}

// SafeSource reports whether a path is a device that anyone may read.
func SafeSource(p string) bool {
	switch p {
	case "/dev/stdin", "/dev/zero", "/dev/random", "/dev/urandom":
		return true
	}
	return SafeDevice(p)
}

// Effects says what a command does.
func Effects(c shellsyntax.Command) Effect {
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
	if shellsyntax.Shell(name) && told(args) {
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
func told(args []shellsyntax.Word) bool {
	inv := shellsyntax.ShellArgs(args)
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
func wrapped(c shellsyntax.Command) string {
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

func tellsVersion(name string) bool {
	switch name {
	case "go", "git", "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python", "python3", "pip", "pip3", "cargo", "rustc", "java", "javac",
		"gcc", "g++", "clang", "make", "cmake", "ruby", "php", "rg", "jq", "docker", "bash", "sh", "curl", "wget", "tar", "ssh", "gopls", "pytest", "tsc":
		return true
	}
	return false
}

// Touched lists the absolute paths that commands are known to read and to
// change: their words' and their redirections'. What cannot be known is not in
// it. It is for those who can follow links: a path that leads out of the
// workspace belongs into the footprint as what it leads to.
func Touched(cmds []shellsyntax.Command) (reads, writes []string) {
	add := func(list *[]string, c shellsyntax.Command, words []shellsyntax.Word) {
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
				add(&writes, c, []shellsyntax.Word{r.Target})
			} else {
				add(&reads, c, []shellsyntax.Word{r.Target})
			}
		}
	}
	return reads, writes
}
