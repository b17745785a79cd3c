package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// find: everything is an expression; only the operands before it are paths.
func find(args []shellsyntax.Word) Effect {
	e := Effect{Kind: Reads}
	paths := true
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Known && (a.Prefix == "" || a.Prefix[0] == '-') {
			return other("an argument that cannot be known before may be an action of find")
		}
		t := a.Text
		if a.Known && strings.HasPrefix(t, "-") {
			switch strings.TrimLeft(t, "-") {
			case "exec", "execdir", "ok", "okdir", "delete", "fprint", "fprint0", "fprintf", "fls", "files0-from":
				return other("find " + t + " runs, writes or deletes")
			case "H", "L", "P":
				continue
			}
			if strings.HasPrefix(t, "-newer") || t == "-samefile" || t == "-anewer" || t == "-cnewer" {
				if i++; i < len(args) {
					e.Reads = append(e.Reads, args[i])
				}
			}
			paths = false
			continue
		}
		if a.Known && (t == "(" || t == "!") {
			paths = false
		}
		if paths {
			e.Reads = append(e.Reads, a)
		}
	}
	return e
}

// sed: the script is read too, since w, r and e write, read and run.
func sed(args []shellsyntax.Word) Effect {
	sp := spec{vals: "efl", long: "expression file line-length", bad: "-f --file"}
	// GNU's -i takes its suffix attached; the letters behind it are no options.
	var in []shellsyntax.Word
	edit := false
	for _, a := range args {
		if a.Known && strings.HasPrefix(a.Text, "-i") || a.Known && len(a.Text) > 3 && strings.HasPrefix("--in-place", strings.SplitN(a.Text, "=", 2)[0]) {
			edit = true
			if strings.ContainsAny(a.Text, "/*") {
				return other("sed -i with a backup somewhere else")
			}
			continue
		}
		in = append(in, a)
	}
	opts, operands, why := sp.scan(in)
	if why != "" {
		return other(why)
	}
	var scripts []shellsyntax.Word
	for _, o := range opts {
		switch {
		case o.name == "-e" || o.name == "--expression":
			scripts = append(scripts, o.value)
		case o.name == "-i":
			edit = true
		case forbids(sp.bad, o.name):
			return other("sed " + o.name + " runs a script from a file")
		}
	}
	if len(scripts) == 0 {
		if len(operands) == 0 {
			return other("sed without a script")
		}
		scripts, operands = operands[:1], operands[1:]
	}
	for _, s := range scripts {
		if !s.Known || !plainSed(s.Text) {
			return other("a sed script may write files or run commands")
		}
	}
	if edit {
		return Effect{Kind: Writes, Writes: operands}
	}
	return Effect{Kind: Reads, Reads: operands}
}

// plainSed accepts scripts of addresses with p, d, q, =, n, N, g, G, h, H, x,
// D, P, y, s and the text commands a, i, c as the last of their line; anything
// it does not follow is refused.
func plainSed(s string) bool {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n;{}!,$~+0123456789", c) >= 0:
			i++
		case strings.IndexByte("pdqQ=nNgGhHxDPzlI", c) >= 0:
			i++
		case c == '/':
			if i = delimited(s, i+1, '/'); i < 0 {
				return false
			}
		case c == '\\' && i+1 < len(s) && s[i+1] != '\n':
			if i = delimited(s, i+2, s[i+1]); i < 0 {
				return false
			}
		case (c == 's' || c == 'y') && i+1 < len(s) && s[i+1] != '\n' && s[i+1] != '\\':
			d := s[i+1]
			if i = delimited(s, i+2, d); i < 0 {
				return false
			}
			if i = delimited(s, i, d); i < 0 {
				return false
			}
			if c == 's' {
				for i < len(s) && strings.IndexByte("gpiIm0123456789M", s[i]) >= 0 {
					i++
				}
				if i < len(s) && strings.IndexByte(" \t\n;}", s[i]) < 0 {
					return false // w writes, e runs
				}
			}
		case c == 'a' || c == 'i' || c == 'c':
			// The text goes to the end of the line; one that is continued is
			// left alone.
			j := strings.IndexByte(s[i:], '\n')
			if j < 0 {
				return !strings.Contains(s[i:], "\n")
			}
			if s[i+j-1] == '\\' {
				return false
			}
			i += j
		default:
			return false
		}
	}
	return true
}

func delimited(s string, i int, d byte) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case d:
			return i + 1
		case '[':
			// A bracket may hold the delimiter, and versions differ about it.
			if j := strings.IndexByte(s[i:], ']'); j > 0 && strings.IndexByte(s[i:i+j], d) >= 0 {
				return -1
			}
		}
	}
	return -1
}

// awk: a program that can not write, run or read the environment.
func awk(args []shellsyntax.Word) Effect {
	sp := spec{vals: "Fvf", long: "field-separator assign file", bad: "-f --file -i --include -l --load -e --source -E --exec -o --pretty-print -p --profile -d --dump-variables -D --debug -L -b"}
	opts, operands, why := sp.scan(args)
	if why != "" {
		return other(why)
	}
	for _, o := range opts {
		if o.name != "-F" && o.name != "-v" && o.name != "--field-separator" && o.name != "--assign" {
			return other("awk " + o.name + " may run or write something")
		}
	}
	if len(operands) == 0 || !operands[0].Known {
		return other("an awk program that cannot be known before")
	}
	for _, s := range [...]string{"system", "|", ">", "getline", "@", "ENVIRON", "PROCINFO", "\\", "\"/"} {
		if strings.Contains(operands[0].Text, s) {
			return other("an awk program may write files or run commands")
		}
	}
	return Effect{Kind: Reads, Reads: operands[1:]}
}

func gofmt(args []shellsyntax.Word) Effect {
	e := Effect{Kind: Reads}
	var paths []shellsyntax.Word
	for i, a := range args {
		if !a.Known && (a.Prefix == "" || a.Prefix[0] == '-') {
			return other("an argument that cannot be known before may be an option of it")
		}
		if !strings.HasPrefix(a.Text, "-") {
			if i > 0 && args[i-1].Known && (args[i-1].Text == "-r" || args[i-1].Text == "-local") {
				continue
			}
			paths = append(paths, a)
			continue
		}
		switch name, _, _ := strings.Cut(strings.TrimLeft(a.Text, "-"), "="); name {
		case "w":
			e.Kind = Writes
		case "l", "d", "e", "s", "r", "extra", "local", "v":
		default:
			return other(a.Text + " writes or runs something")
		}
	}
	if e.Kind == Writes {
		e.Writes = paths
	} else {
		e.Reads = paths
	}
	return e
}

// goTool: the subcommands that build and run nothing of the project.
func goTool(args []shellsyntax.Word) Effect {
	if len(args) == 0 || !args[0].Known {
		return other("go without a subcommand that is known")
	}
	e := Effect{Kind: Reads}
	switch args[0].Text {
	case "version", "help":
	case "doc", "list", "env":
		for _, a := range args[1:] {
			if !a.Known && !a.Glob {
				return other("an argument that cannot be known before may be a flag of go")
			}
			if !strings.HasPrefix(a.Text, "-") {
				if a.Glob || strings.HasPrefix(a.Text, ".") || strings.HasPrefix(a.Text, "/") {
					e.Reads = append(e.Reads, shellsyntax.Word{Text: strings.TrimSuffix(a.Text, "..."), Known: true})
				}
				continue
			}
			switch name, v, _ := strings.Cut(strings.TrimLeft(a.Text, "-"), "="); name {
			case "json", "m", "f", "deps", "test", "e", "find", "compiled", "versions", "tags", "all", "short", "src", "u", "c", "cmd", "changed":
				if args[0].Text == "env" && name == "u" || args[0].Text == "list" && name == "u" {
					return other("go " + args[0].Text + " -u changes or fetches something")
				}
			case "mod":
				if v != "readonly" && v != "vendor" {
					return other("go -mod=mod changes go.mod")
				}
			default:
				return other("go " + args[0].Text + " " + a.Text + " may run or write something")
			}
		}
	default:
		return other("go " + args[0].Text + " is not known to be harmless")
	}
	return e
}
