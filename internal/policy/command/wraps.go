package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Parse lists the simple commands of a line that bash will run in dir.
func Parse(line, dir string) ([]shellsyntax.Command, error) {
	return ParseWith(line, shellsyntax.Options{Dir: dir})
}

// ParseWith lists the simple commands of a line, also those that a program of the
// table runs among its words: behind sudo, xargs, find -exec. The promises and the
// errors are those of shellsyntax.Parse.
func ParseWith(line string, o shellsyntax.Options) ([]shellsyntax.Command, error) {
	return shellsyntax.Parse(line, o, programs{})
}

// wrapping is how a program runs the command that its words end with. Of its
// options, those that usage marks with "!" are known, and not to be harmless; with
// one that it does not list, the command may be anything. The other columns name
// options.
type wrapping struct {
	usage
	own    int    // how many operands of its own stand before the command
	folder string // their value is the folder in which the command runs
	reads  string // their value is a file that the program reads
	writes string // their value is a file that the program writes
	mark   string // their value stands in the command's words for other text, "{}" without one
	split  string // their value is split into words, if it is the first word
	none   string // letters that make it run nothing, in the first word
	only   bool   // with an option that is not listed, its words are no command
}

// programs is the table, asked by shellsyntax.
type programs struct{}

// Wrapping reads the words of a program up to the command that it runs.
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
	if at == 0 { // it is not known which of its words is the command
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
			return w, true // its words are not plain
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

// ownWords reads a wrapper's options, the variables that it sets, and where the
// command begins, 0 if that is not known or there is none.
func (r *wrapping) ownWords(words []shellsyntax.Word, assigns bool) (opts []opt, vars []string, at int) {
	whole := r.usage
	whole.full = true // getopt shortens
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
				if o.has && !o.value.Known && !o.value.One {
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

// splits splits the text that is the value of the first option, if it is plain.
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

// Inner finds the commands behind the options of a program that run one each.
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

// Counts reports whether a program prints an integer or nothing.
func (programs) Counts(words []shellsyntax.Word) bool {
	row := known(path.Base(words[0].Text))
	return row != nil && row.prints != nil && row.prints(words[1:])
}

// printsOne: wc with one count and no file.
func printsOne(args []shellsyntax.Word) bool {
	return len(args) == 1 && len(args[0].Text) == 2 && args[0].Text[0] == '-' && strings.Contains("lcwm", args[0].Text[1:])
}

// printsMatches: grep -c with at most one file.
func printsMatches(args []shellsyntax.Word) bool {
	if len(args) < 2 || len(args) > 3 || args[1].Text == "" || args[1].Text[0] == '-' || len(args) == 3 && strings.HasPrefix(args[2].Text, "-") {
		return false
	}
	flags, ok := strings.CutPrefix(args[0].Text, "-")
	return ok && strings.Contains(flags, "c") && strings.Trim(flags, "cEFGPivwxsah") == ""
}
