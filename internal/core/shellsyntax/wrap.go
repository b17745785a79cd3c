package shellsyntax

import (
	"path"
	"slices"
	"strings"
)

// wrapper says how a program that runs another finds it among its arguments.
type wrapper struct {
	vals string // short options that take a value, as letters
	long string // long options that take a value in the next word
	args int    // operands of its own before the command
	vars bool   // NAME=value operands may come first
	more bool   // it appends arguments that only run time knows
}

// wrapperOf gives the wrapper of that base name.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "env":
		return wrapper{vals: "uCS", long: " unset chdir split-string ", vars: true}, true
	case "nohup", "setsid":
		return wrapper{}, true
	case "builtin":
		return wrapper{}, true
	case "command":
		return wrapper{}, true
	case "exec":
		return wrapper{vals: "a"}, true
	case "time":
		return wrapper{vals: "fo", long: " format output "}, true
	case "nice":
		return wrapper{vals: "n", long: " adjustment "}, true
	case "ionice":
		return wrapper{vals: "cnpPu", long: " class classdata pid "}, true
	case "chrt", "taskset":
		return wrapper{args: 1}, true
	case "timeout":
		return wrapper{vals: "ks", long: " kill-after signal ", args: 1}, true
	case "stdbuf":
		return wrapper{vals: "ioe", long: " input output error "}, true
	case "sudo":
		return wrapper{vals: "ughpCTRDrtaU", long: " user group host prompt close-from command-timeout chroot chdir role type other-user ", vars: true}, true
	case "doas":
		return wrapper{vals: "uC"}, true
	case "xargs":
		return wrapper{vals: "adEILnPs", long: " arg-file delimiter max-lines max-args max-procs replace max-chars process-slot-var ", more: true}, true
	case "busybox", "toybox":
		return wrapper{}, true
	case "caffeinate":
		return wrapper{vals: "tw"}, true
	}
	return wrapper{}, false
}

// unwrap moves one wrapper from the words to Via. It leaves a wrapper that
// runs nothing (env alone, command -v) or whose options it cannot read.
func unwrap(c *Command) bool {
	name := base(c)
	wr, ok := wrapperOf(name)
	if !ok {
		return false
	}
	i, args := 1, wr.args
	for ; i < len(c.Words); i++ {
		a := c.Words[i]
		if !a.Known {
			// An option or the command itself: both unknown, leave it.
			return false
		}
		t := a.Text
		switch {
		case t == "--":
			i++
		case len(t) > 1 && t[0] == '-':
			if name == "command" && strings.ContainsAny(t, "vV") || name == "env" && (strings.HasPrefix(t, "-S") || strings.HasPrefix(t, "--s") || strings.Contains(t, "S") && t[1] != '-') {
				return false
			}
			if name == "sudo" && (t == "-e" || t == "--edit" || t == "-s" || t == "-i" || t == "-l" || t == "-v" || t == "-k" || t == "-K") {
				return false
			}
			if takesValue(wr, t) {
				i++
			}
			continue
		case wr.vars && strings.Contains(t, "="):
			c.Assigns = append(c.Assigns, t)
			continue
		case args > 0:
			args--
			continue
		}
		break
	}
	if i >= len(c.Words) {
		return false
	}
	c.Via = append(c.Via, c.Words[:i]...)
	c.Wrappers = append(c.Wrappers, name)
	c.Words = slices.Clone(c.Words[i:])
	if wr.more {
		c.Words = append(c.Words, Word{Text: "…"})
	}
	return true
}

func takesValue(wr wrapper, t string) bool {
	if strings.HasPrefix(t, "--") {
		return !strings.Contains(t, "=") && strings.Contains(wr.long, " "+t[2:]+" ")
	}
	// The value follows in the next word only where the letter is the last.
	for i := 1; i < len(t); i++ {
		if strings.IndexByte(wr.vals, t[i]) >= 0 {
			return i == len(t)-1
		}
	}
	return false
}

// inner writes down the commands that a command runs by its own options:
// find -exec.
func (w *walker) inner(st *state, c Command, at int) {
	if base(&c) != "find" {
		return
	}
	for i := 1; i < len(c.Words); i++ {
		switch c.Words[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		j := i + 1
		for j < len(c.Words) && c.Words[j].Text != ";" && c.Words[j].Text != "+" {
			j++
		}
		if j == i+1 {
			continue
		}
		in := Command{
			Words:    slices.Clone(c.Words[i+1 : j]),
			Via:      append(slices.Clone(c.Via), c.Words[:i+1]...),
			Wrappers: append(slices.Clone(c.Wrappers), "find"),
			From:     []int{at},
		}
		for k := range in.Words {
			if strings.Contains(in.Words[k].Text, "{}") {
				in.Words[k] = Word{Text: in.Words[k].Text}
			}
		}
		for unwrap(&in) {
		}
		if !w.nested(st, &in, nil) {
			w.emit(st, in)
		}
		i = j
	}
}

// base is the base name of a command's program, "" where it is not known.
func base(c *Command) string {
	if n := c.Name(); n != "" {
		return path.Base(n)
	}
	return ""
}
