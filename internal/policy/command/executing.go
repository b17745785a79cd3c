package command

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Executing returns the words of a command that make it run something that its pattern
// does not name: flags that execute, code for an interpreter, wrappers. A pattern with
// a wildcard must contain each of them (SPEC 16.5). "\x00" stands for something that no
// pattern with a wildcard can name.
func Executing(c shellsyntax.Command) []string {
	var out []string
	for _, n := range c.Wrappers {
		if row := known(n); !row.has(transparent) {
			out = append(out, n)
		}
	}
	if len(c.Words) == 0 {
		return out
	}
	name, _ := c.Program()
	args := c.Words[1:]
	row := known(name)
	switch {
	case shellsyntax.Shell(name):
		inv := shellsyntax.ShellArgs(args)
		if inv.Stdin || inv.Unknown {
			out = append(out, "\x00")
		}
	case row.has(barecluster) && len(args) > 0 && args[0].Text != "" && args[0].Text[0] != '-':
		args = append([]shellsyntax.Word{{Text: "-" + args[0].Text, Known: args[0].Known}}, args[1:]...)
	case row != nil && row.wraps != nil: // with options that are not listed
		out = append(out, "\x00")
	case row != nil && row.executes != nil:
		out = append(out, row.executes(c)...)
	}
	flags, list := len(out), ""
	if row := versionless(name); shellsyntax.Shell(name) {
		list = "-c"
	} else if row != nil {
		list = row.flags
	}
	for flag := range strings.FieldsSeq(list) {
		for _, a := range args {
			if isFlag(a.Text, flag) {
				out = append(out, flag)
				break
			}
		}
	}
	if p := versionless(name); flags == len(out) && p.has(interpreter) && !p.has(filter) && !hasScript(args) {
		out = append(out, "\x00") // code from standard input
	}
	return out
}

// itselfExecutes is for programs that run the command after them in a special way: a pattern
// names them, and what runs code among their words.
func itselfExecutes(c shellsyntax.Command) []string {
	name, _ := c.Program()
	out := []string{name}
	for _, w := range c.Words[1:] {
		inner := w.Text[strings.LastIndexByte(w.Text, '/')+1:]
		if row := known(inner); !w.Known || ExactOnly(inner) || row != nil && row.wraps != nil {
			out = append(out, "\x00")
		}
	}
	return out
}

// scriptExecutes is for programs whose scripts may run commands or write files: any but
// the plainest ones may.
func scriptExecutes(c shellsyntax.Command) []string {
	for _, w := range c.Words[1:] {
		if !strings.HasPrefix(w.Text, "-") {
			if w.Known && plainScript().MatchString(w.Text) {
				return nil
			}
			break
		}
	}
	return []string{"\x00"}
}

// plainScript matches sed's lines and simple replacements, and awk's printing of fields.
var plainScript = lazyregexp.New(`^(\d+|\$)?(,(\d+|\$))?[pdq]$|^s/[^/\n]*/[^/\n]*/[gIip0-9]*$|^\{ *print( *\$\d+,?)* *\}$`)

// assignmentsExecute is for programs whose variables may contain commands.
func assignmentsExecute(c shellsyntax.Command) (out []string) {
	for _, a := range c.Words[1:] {
		if Assignment(a.Text) {
			out = append(out, a.Text)
		}
	}
	return out
}

// hasScript reports whether an interpreter gets a file of code: an operand that is not
// the value of an option before it.
func hasScript(args []shellsyntax.Word) bool {
	for _, a := range args {
		switch t := a.Text; {
		case t == "-" || t == "/dev/stdin" || strings.HasPrefix(t, "/dev/fd/") || strings.HasPrefix(t, "/proc/self/fd/"):
			return false
		case !strings.HasPrefix(t, "-"):
			return true
		case strings.Trim(t, "-uBEsSOvqbdtwn") == "" || t == "--":
		case strings.HasPrefix(t, "--") && strings.Contains(t, "="):
		case isOneOf(a, "--version", "--help", "-V", "--inspect", "--test", "--watch", "--no-warnings", "--trace-warnings", "--harmony", "--expose-gc", "--enable-source-maps", "-I", "-P"):
		default:
			return false
		}
	}
	return false
}

// isFlag reports whether an argument is the flag: also with its value attached,
// abbreviated, with one dash for two, or as a letter of a cluster.
func isFlag(arg, flag string) bool {
	name, _, _ := strings.Cut(arg, "=")
	switch {
	case arg == flag || name == flag:
		return true
	case strings.HasPrefix(flag, "+"):
		return strings.HasPrefix(arg, "+")
	case strings.HasPrefix(flag, "--"):
		return len(name) > 3 && strings.HasPrefix(flag, name)
	case len(flag) == 2:
		return len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg[1:], flag[1:])
	}
	return name == "-"+flag // --exec for go's -exec
}
