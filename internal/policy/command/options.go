package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// usage describes how a program is called: its options and its operands. An option that
// is not listed makes the effect of the command unknown.
//
// Options are written with marks. After an option: "=" has a value that is text, "<"
// has a value that is a file it reads, "?" has a value only if it is attached. Before
// an option: "!" means that it is known to write, send or run something, "#" that it
// reads what the words do not name.
type usage struct {
	short string // letters, each with its marks
	long  string // names without their dashes, separated by spaces
	// dash: after a single dash come words, not letters, as in go and find.
	dash string
	// full: long contains every option of the program, so an abbreviated one can be
	// resolved as getopt does.
	full   bool
	digits bool // -5 is a number of lines
	// exact: the arguments must not contain an unknown word.
	exact    bool
	operands operands
	pattern  string // options that replace the first operand, if that is a pattern
	most     int    // the maximum number of operands, plus one
	recurse  string // options that mean everything below
}

// operands is the kind of a program's operands.
type operands int

const (
	paths    operands = iota // files that are read
	text                     // no files
	patterns                 // the first is a pattern, the rest files that are read
	written                  // files that are created or changed
	removed                  // files that are removed
)

// opt is one option of a command.
type opt struct {
	name  string // "-n" or "--lines", in full
	marks string
	value shellsyntax.Word
	has   bool
	// unlisted: the usage does not contain it. behind: it follows an operand, where BSD
	// tools no longer parse options. late: it is behind, and its value is a separate
	// word.
	unlisted, behind, late bool
}

func (o opt) is(names string) bool { return slices.Contains(strings.Fields(names), o.name) }

// letter returns the marks of a short option, and whether it is known.
func (r usage) letter(c byte) (marks string, ok bool) {
	for i := 0; i < len(r.short); i++ {
		if strings.IndexByte("=<?!#", r.short[i]) >= 0 || r.short[i] != c {
			continue
		}
		if i > 0 && (r.short[i-1] == '!' || r.short[i-1] == '#') {
			marks += r.short[i-1 : i]
		}
		if i+1 < len(r.short) && strings.IndexByte("=<?", r.short[i+1]) >= 0 {
			marks += r.short[i+1 : i+2]
		}
		return marks, true
	}
	return "", false
}

// word finds a long option, without its dashes, in a list.
func (r usage) word(list, name string) (full, marks string, ok bool) {
	var found, foundMarks string
	n := 0
	for f := range strings.FieldsSeq(list) {
		bare := strings.Trim(f, "=<?!#")
		m := strings.ReplaceAll(f, bare, "")
		if bare == name {
			return bare, m, true
		}
		if strings.HasPrefix(bare, name) {
			found, foundMarks = bare, m
			n++
		}
	}
	if r.full && n == 1 && name != "" {
		return found, foundMarks, true
	}
	return "", "", false
}

// open reports whether the arguments may contain an unknown word: whatever option it
// is, it runs and writes nothing.
func (r usage) open() bool { return !r.exact && !strings.Contains(r.short+r.long+r.dash, "!") }

// scan parses arguments as getopt does. It refuses an option that is unknown, or known
// not to be harmless.
func (r usage) scan(args []shellsyntax.Word) (opts []opt, operands []shellsyntax.Word, why string) {
	opts, operands, why = r.read(args)
	for _, o := range opts {
		switch {
		case strings.Contains(o.marks, "!"):
			return nil, nil, o.name + " writes, sends or runs something"
		case strings.Contains(o.marks, "#"):
			return nil, nil, o.name + " reads what its words do not name"
		}
	}
	return opts, operands, why
}

func (r usage) read(args []shellsyntax.Word) (opts []opt, operands []shellsyntax.Word, why string) {
	for i := 0; i < len(args); {
		a := args[i]
		switch t := a.Text; {
		case !a.Known && mayBeOption(a) && !r.open():
			return opts, nil, "an argument that cannot be known before may be an option of it"
		case !a.Known || len(t) < 2 || t[0] != '-':
			operands = append(operands, a)
			i++
			continue
		case t == "--":
			return append(opts, opt{name: t, behind: len(operands) > 0}), append(operands, args[i+1:]...), ""
		}
		read, n := r.option(args[i:])
		i += n
		for _, o := range read {
			if o.unlisted {
				return opts, nil, o.name + " is not known to be harmless"
			}
			o.behind = len(operands) > 0
			o.late = o.late && o.behind
			opts = append(opts, o)
		}
	}
	return opts, operands, ""
}

// option parses the options in the first of args, which begins with a dash, and returns
// how many words they take.
func (r usage) option(args []shellsyntax.Word) (opts []opt, n int) {
	t := args[0].Text
	n = 1
	add := func(name, marks, attached string, has bool) {
		o := opt{name: name, marks: marks}
		switch {
		case has:
			o.value, o.has = shellsyntax.Word{Text: attached, Known: true}, true
		case strings.ContainsAny(marks, "=<") && n < len(args):
			o.value, o.has, o.late = args[n], true, true
			n++
			// If there are several words, the first is the value; unless the operands
			// are files that are read, the rest may be anything.
			if several(o.value) && (!r.open() || r.operands == written || r.operands == removed) {
				o.marks += "!"
			}
		}
		opts = append(opts, o)
	}
	number := func(s string) bool { return r.digits && strings.Trim(s, "0123456789") == "" }
	switch {
	case r.dash != "":
		name, v, has := strings.Cut(strings.TrimPrefix(t[1:], "-"), "=")
		full, marks, ok := r.word(r.dash, name)
		switch {
		case ok:
			add("-"+full, marks, v, has)
		case number(t[1:]):
		case t[1] != '-' && r.attached(t[1:]) != "":
			_, marks, _ := r.word(r.dash, t[1:2])
			add("-"+t[1:2], marks, t[2:], true)
		case t[1] != '-' && r.letters(t[1:]):
			add(t, "", "", false)
		default:
			opts = append(opts, opt{name: t, unlisted: true})
		}
	case strings.HasPrefix(t, "--"):
		name, v, has := strings.Cut(t[2:], "=")
		if full, marks, ok := r.word(r.long, name); ok {
			add("--"+full, marks, v, has)
		} else {
			opts = append(opts, opt{name: t, unlisted: true})
		}
	case number(t[1:]):
	default:
		for j := 1; j < len(t); j++ {
			marks, ok := r.letter(t[j])
			switch {
			case !ok && number(t[j:j+1]):
			case !ok:
				opts = append(opts, opt{name: "-" + t[j:j+1], unlisted: true})
			case strings.ContainsAny(marks, "=<?"):
				add("-"+t[j:j+1], marks, t[j+1:], j+1 < len(t))
				return opts, n
			default:
				add("-"+t[j:j+1], marks, "", false)
			}
		}
	}
	return opts, n
}

// attached returns the value after the letter of a single dash, or "" if the letter
// takes none.
func (r usage) attached(t string) string {
	if _, marks, ok := r.word(r.dash, t[:1]); ok && strings.ContainsAny(marks, "=<?") {
		return t[1:]
	}
	return ""
}

// letters reports whether t is a cluster of letters that take no value.
func (r usage) letters(t string) bool {
	for i := range len(t) {
		if _, marks, ok := r.word(r.dash, t[i:i+1]); !ok || marks != "" {
			return false
		}
	}
	return true
}

// mayBeOption reports whether an unknown word may begin with a dash, or be several
// words of which one does.
func mayBeOption(w shellsyntax.Word) bool {
	return !(w.Glob && w.NoDash) && (w.Prefix == "" || w.Prefix[0] == '-' || many(w))
}

// many reports whether an unknown word may be several, apart from the matches of a
// pattern that is no option.
func many(w shellsyntax.Word) bool {
	return !w.Known && !w.One && !w.Num && !w.Proc && !(w.Glob && (w.NoDash || w.Prefix != "" && w.Prefix[0] != '-'))
}

// several reports whether a word may be more than one word, so that the boundary
// between operands is unknown.
func several(w shellsyntax.Word) bool { return !w.Known && !w.One && !w.Num && !w.Proc }

// effect returns the effect of a program of the table with these arguments.
func (r usage) effect(name string, args []shellsyntax.Word) Effect {
	opts, operands, why := r.scan(args)
	if why != "" {
		return other(name + " " + why)
	}
	e := Effect{Kind: Reads}
	first := r.operands == patterns
	for _, o := range opts {
		if o.is(r.pattern) {
			first = false
		}
		if o.is(r.recurse) {
			e.Recursive = true
		}
		if o.has && o.value.Text != "-" && (strings.Contains(o.marks, "<") || several(o.value) && r.operands != text || o.late && (!o.value.Known || strings.ContainsAny(o.value.Text, "/~"))) {
			e.Reads = append(e.Reads, o.value)
		}
	}
	if r.most > 0 && (len(operands) > r.most-1 || slices.ContainsFunc(operands, several) || slices.ContainsFunc(opts, func(o opt) bool { return o.behind })) {
		return other(name + " with that many operands may write")
	}
	switch r.operands {
	case text:
	case removed:
		e.Kind, e.Removes = Writes, operands
	case written:
		e.Kind, e.Writes = Writes, operands
	default:
		if first && len(operands) > 0 && !several(operands[0]) {
			operands = operands[1:]
		}
		e.Reads = append(e.Reads, operands...)
	}
	return e
}
