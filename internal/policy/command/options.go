package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// usage describes the options of a program that runs others. Options are written with
// marks. After an option: "=" has a value, "?" has a value only if it is attached. Before
// an option: "!" means that it changes what runs.
type usage struct {
	short  string // letters, each with its marks
	long   string // names without their dashes, separated by spaces
	full   bool   // long contains every option, so an abbreviated one is resolved as getopt does
	digits bool   // -5 is a number
}

// opt is one option of a command.
type opt struct {
	name  string // "-n" or "--lines", in full
	marks string
	value shellsyntax.Word
	has   bool
	// unlisted: the usage does not contain it.
	unlisted bool
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
		case strings.Contains(marks, "=") && n < len(args):
			o.value, o.has = args[n], true
			n++
		}
		opts = append(opts, o)
	}
	number := func(s string) bool { return r.digits && strings.Trim(s, "0123456789") == "" }
	switch {
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
