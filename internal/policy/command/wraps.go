package command

import (
	"path"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Parse returns the simple commands of a line that bash would run in dir.
func Parse(line, dir string) ([]shellsyntax.Command, error) {
	return ParseWith(line, shellsyntax.Options{Dir: dir})
}

// ParseWith returns the simple commands of a line, without the wrappers of the table
// (sudo, env, timeout, …) in front of them. The promises and the errors are those of
// shellsyntax.Parse. What xargs, find -exec and their like run stays among their words.
func ParseWith(line string, o shellsyntax.Options) ([]shellsyntax.Command, error) {
	return shellsyntax.Parse(line, o, programs{})
}

// wrapping describes a program that runs the command that its words end with, with those
// words and in the same folder. With an option that is not listed the program is no wrapper.
type wrapping struct {
	usage
	own     int  // how many operands of its own precede the command
	assigns bool // NAME=value among them sets a variable of the command
}

// usage are the options of a program: letters without a value and with one, and long ones,
// which end in "=" if they have one.
type usage struct{ letters, valued, long string }

// listed reports whether an option, or a cluster of them, is listed, and whether its value
// is the next word.
func (u usage) listed(option string) (next, ok bool) {
	if strings.HasPrefix(option, "--") {
		name, _, has := strings.Cut(option, "=")
		valued := Listed(" "+u.long+" ", name+"=")
		return valued && !has, valued || Listed(" "+u.long+" ", name)
	}
	rest := strings.TrimLeft(option[1:], u.letters)
	return len(rest) == 1, rest == "" || strings.Contains(u.valued, rest[:1])
}

// programs is the table, in the form that shellsyntax uses.
type programs struct{}

func (programs) Wraps(words []shellsyntax.Word) (at int, sets []string) {
	row := known(path.Base(words[0].Text))
	if row == nil || row.wraps == nil {
		return 0, nil
	}
	own := row.wraps.own
	for i := 1; i < len(words) && words[i].Known; i++ {
		switch t := words[i].Text; {
		case t == "--":
			if i += 1 + own; i < len(words) {
				return i, sets
			}
			return 0, nil
		case len(t) > 1 && t[0] == '-':
			next, ok := row.wraps.listed(t)
			if !ok {
				return 0, nil
			}
			if next {
				i++
			}
		case row.wraps.assigns && strings.Contains(t, "="):
			sets = append(sets, t)
		case row.wraps.assigns && t == "-": // env - is env -i
		case own > 0:
			own--
		default:
			return i, sets
		}
	}
	return 0, nil
}
