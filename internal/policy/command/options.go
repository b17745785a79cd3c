package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// opt is one option of a command.
type opt struct {
	name  string // "-n" or "--lines"
	value shellsyntax.Word
	has   bool
}

// scan reads arguments as getopt does: clusters of letters, --name=value, and
// values in the next word for those that sp names.
func (sp spec) scan(args []shellsyntax.Word) (opts []opt, operands []shellsyntax.Word, why string) {
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
			o := opt{name: name, value: shellsyntax.Word{Text: v, Known: true}, has: has}
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
						o.value = shellsyntax.Word{Text: t[j+1:], Known: true}
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
func (sp spec) effect(name string, args []shellsyntax.Word) Effect {
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
