package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Parse returns the simple commands of a line that bash would run in dir.
func Parse(line, dir string) ([]shellsyntax.Command, error) {
	return ParseWith(line, shellsyntax.Options{Dir: dir})
}

// ParseWith returns the simple commands of a line, including those that a program of
// the table runs among its words: after sudo, xargs, find -exec. The promises and the
// errors are those of shellsyntax.Parse.
func ParseWith(line string, o shellsyntax.Options) ([]shellsyntax.Command, error) {
	return shellsyntax.Parse(line, o, programs{})
}

// wrapping describes how a program runs the command that its words end with. Options
// that usage marks with "!" are known but not harmless; with an option that usage does
// not list, the command may be anything. The other fields name options.
type wrapping struct {
	usage
	own    int    // how many operands of its own precede the command
	folder string // their value is the folder in which the command runs
	reads  string // their value is a file that the program reads
	writes string // their value is a file that the program writes
	mark   string // their value is replaced in the command's words by other text; "{}" without one
	split  string // their value is split into words, if it is the first word
	none   string // letters that make it run nothing, in the first word
	only   bool   // with an unlisted option, its words are no command
}

// programs is the table, in the form that shellsyntax uses.
type programs struct{}

// Wrapping parses the words of a program up to the command that it runs.
func (programs) Wrapping(words []shellsyntax.Word) (w shellsyntax.Wrapping, ok bool) {
	row := known(path.Base(words[0].Text))
	if row == nil || row.wraps == nil {
		return w, false
	}
	r := row.wraps
	if t := words[min(1, len(words)-1)].Text; r.none != "" && strings.Trim(t, r.short+r.none) == "-" && strings.ContainsAny(t, r.none) {
		return w, false
	}
	w.Words, w.More, w.Stays = r.splits(words), row.has(feeds), row.has(stays)
	opts, assigns, at := r.ownWords(w.Words, row.has(assigns))
	if at == 0 { // unknown which of its words is the command
		w.Code = slices.ContainsFunc(w.Words, func(a shellsyntax.Word) bool { return !a.Known })
		return w, true
	}
	w.Code = slices.ContainsFunc(opts, func(o opt) bool { return o.unlisted })
	if r.only && w.Code {
		return w, false
	}
	for _, o := range opts {
		switch {
		case o.is(r.folder):
			w.Dirs = append(w.Dirs, o.value)
		case o.is(r.split):
			w.Code = w.Code || !o.value.Known
			return w, true // its words are unknown
		case o.is(r.writes):
			w.Redirects = append(w.Redirects, shellsyntax.Redirect{Op: ">", Target: o.value})
		case o.is(r.reads):
			w.Redirects = append(w.Redirects, shellsyntax.Redirect{Op: "<", Target: o.value})
		case o.is(r.mark) && o.has && !o.value.Known:
			w.Code = true
			return w, true
		case o.is(r.mark):
			if w.Mark, w.More = o.value.Text, false; w.Mark == "" && strings.Contains(o.marks, "?") {
				w.Mark = "{}"
			}
		}
	}
	w.Assigns, w.At = assigns, at
	return w, true
}

// ownWords returns a wrapper's options, the variables that it sets, and the index at
// which the command begins, 0 if that is unknown or there is no command.
func (r *wrapping) ownWords(words []shellsyntax.Word, assigns bool) (opts []opt, vars []string, at int) {
	whole := r.usage
	whole.full = true // getopt accepts abbreviations
	own := r.own
	for i := 1; i < len(words) && words[i].Known; i++ {
		switch t := words[i].Text; {
		case t == "--":
			if i += 1 + own; i < len(words) {
				return opts, vars, i
			}
			return nil, nil, 0
		case len(t) > 1 && t[0] == '-':
			read, n := whole.option(words[i:])
			for _, o := range read {
				if o.has && !o.value.Known {
					return nil, nil, 0 // it may be several words
				}
			}
			opts = append(opts, read...)
			i += n - 1
		case assigns && strings.Contains(t, "="):
			vars = append(vars, t)
		case assigns && t == "-": // env - is env -i
		case own > 0:
			own--
		default:
			return opts, vars, i
		}
	}
	return nil, nil, 0
}

// splits splits the value of the first option into words, if it is plain.
func (r *wrapping) splits(words []shellsyntax.Word) []shellsyntax.Word {
	if r.split == "" || len(words) < 2 || !words[1].Known {
		return words
	}
	opts, n := r.option(words[1:])
	if len(opts) != 1 || !opts[0].is(r.split) || !opts[0].has || !opts[0].value.Known || strings.ContainsAny(opts[0].value.Text, `'"\$#`) {
		return words
	}
	out := []shellsyntax.Word{words[0]}
	for f := range strings.FieldsSeq(opts[0].value.Text) {
		out = append(out, shellsyntax.Word{Text: f, Known: true})
	}
	return append(out, words[1+n:]...)
}

// Inner returns the positions of the commands after the options that each run one.
func (programs) Inner(words []shellsyntax.Word) (at [][2]int) {
	row := known(path.Base(words[0].Text))
	if row == nil || row.inner == "" {
		return nil
	}
	for i := 1; i < len(words); i++ {
		if !slices.Contains(strings.Fields(row.inner), words[i].Text) {
			continue
		}
		j := i + 1
		for j < len(words) && words[j].Text != ";" && words[j].Text != "+" {
			j++
		}
		if j > i+1 {
			at = append(at, [2]int{i + 1, j})
			i = j
		}
	}
	return at
}
