// Package shellsyntax parses a shell command line into its simple commands, with the words
// that are literal.
//
// It knows the syntax of bash and follows what the line itself runs: substitutions,
// functions, eval, the code of a shell, what wrappers such as env or timeout start. Programs
// tells it which programs those are. It evaluates nothing: a word with a
// variable, a pattern or braces is unknown, but for $HOME and ~.
//
// It promises that every command that is in the text is in the result, in the order of the
// text, and that a word marked as known is what the program gets. A line that cannot be
// understood is an error, never an empty result. It judges nothing and does no I/O.
package shellsyntax

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Word is one word of a command after the expansions that are known.
type Word struct {
	// Text is the word's value if Known, else its source text.
	Text string `json:"text"`
	// Known is false if a variable, a substitution or a glob decides at run time. An
	// unknown word that was not quoted may become no word or several.
	Known bool `json:"known"`
	// Glob: only a pathname pattern makes the word unknown, so it stands for paths that
	// begin with Prefix, or for its own text.
	Glob bool `json:"glob,omitempty"`
	// Prefix is the certain beginning of an unknown word.
	Prefix string `json:"prefix,omitempty"`
	// Proc: a process substitution, that is, a file that the shell creates; its
	// commands are listed.
	Proc bool `json:"proc,omitempty"`
	// Blank is an unknown word as it would be if every unknown variable in it were empty;
	// glob characters and an unknown "~" stay.
	Blank string `json:"blank,omitempty"`
}

// Redirect is a redirection to or from a file. Here-documents and duplicated file
// descriptors are not listed.
type Redirect struct {
	Op     string `json:"op"` // > >> < <> >| &> &>> >&
	Target Word   `json:"target"`
}

// Writes reports whether the redirection opens its target for writing.
func (r Redirect) Writes() bool { return r.Op != "<" }

// Command is one simple command of a command line. A command without words has only
// assignments, or the redirections of a compound command.
type Command struct {
	// Words are the program and its arguments, without wrappers.
	Words []Word `json:"words"`
	// Via are the words of the removed wrappers, outermost first: "sudo", "-u", "me",
	// "timeout", "5". Each wrapper's name begins a group of Wrappers.
	Via []Word `json:"via,omitempty"`
	// Wrappers are the names of the wrappers: "sudo", "timeout".
	Wrappers []string `json:"wrappers,omitempty"`
	// Assigns are the NAME=value before it; an unknown value is its source text.
	Assigns   []string   `json:"assigns,omitempty"`
	Redirects []Redirect `json:"redirects,omitempty"`
	// Dir is the folder in which the command runs, according to the cd commands before
	// it; its Known is false if the folder is unknown. A ".." stays in it after a name
	// that may be a link; the kernel decides what it means.
	Dir Word `json:"dir"`
	// Alt are other folders that it may run in: if a cd before it may have failed or was
	// skipped.
	Alt []string `json:"alt,omitempty"`
	// Piped: its standard input is another command's output.
	Piped bool `json:"piped,omitempty"`
	// Background: it is followed by &.
	Background bool `json:"background,omitempty"`
	// From are the indexes (in the slice that Parse returns) of the commands whose output
	// this command gets: by a pipe, as its words, as a file, or as text.
	From []int `json:"from,omitempty"`
	// Code: text that is known only at run time is run as shell code here, as
	// in eval "$X" and sh -c "$(…)".
	Code bool `json:"code,omitempty"`
	// Evaluates: it evaluates arithmetic or a subscript, in which the value of a variable
	// may be code.
	Evaluates bool `json:"evaluates,omitempty"`
	// Func: it calls a function of the same line, whose commands are listed.
	Func bool `json:"func,omitempty"`
}

// Name returns the program's name as written, "" if there is none or it is unknown.
func (c Command) Name() string {
	if len(c.Words) == 0 || !c.Words[0].Known {
		return ""
	}
	return c.Words[0].Text
}

// String returns the command as text for a person: wrappers, then words.
func (c Command) String() string {
	var b strings.Builder
	for _, a := range c.Assigns {
		if !slices.ContainsFunc(c.Via, func(w Word) bool { return w.Text == a }) {
			put(&b, a)
		}
	}
	for _, w := range c.Via {
		put(&b, w.quoted())
	}
	for _, w := range c.Words {
		put(&b, w.quoted())
	}
	for _, r := range c.Redirects {
		put(&b, r.Op+r.Target.quoted())
	}
	return b.String()
}

func put(b *strings.Builder, s string) {
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(s)
}

func (w Word) quoted() string {
	if !w.Known {
		return w.Text
	}
	return Quote(w.Text)
}

// Quote returns s as one word of bash.
func Quote(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:=@%+,", c) >= 0 || c >= 0x80
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// The errors of Parse.
var (
	// ErrSyntax: bash would not parse it either, or would parse it differently.
	ErrSyntax = errors.New("the command line cannot be parsed")
	// ErrTooLarge: the line is longer, deeper or has more commands than the limits allow.
	ErrTooLarge = errors.New("the command line is too large to be looked through")
	// ErrForkBomb: a function calls itself through a pipe or in the background.
	ErrForkBomb = errors.New("the command line starts itself over and over")
)

// Limits of the analysis.
const (
	maxBytes    = 1 << 20
	maxOpeners  = 20_000 // brackets, quotes and keywords that nest: bounds the parser's stack
	maxDepth    = 64     // of what is walked: blocks, substitutions, sh -c
	maxCommands = 4096
)

// Options are facts about the shell that will run the line.
type Options struct {
	Dir  string // the folder it starts in, absolute
	Home string // the value of $HOME and ~; "": unknown
	// POSIX: the line will be run by a plain sh, not by bash.
	POSIX bool
}

// Parse returns the simple commands of a line. Errors wrap ErrSyntax, ErrTooLarge or
// ErrForkBomb; after an error, nothing may be assumed about the line. The returned
// slice is the caller's; the slices in it are shared and must not be changed. Results
// are cached: equal programs must always answer the same.
func Parse(line string, o Options, programs Programs) ([]Command, error) {
	if len(line) > memoLength {
		return parseLine(line, o, programs)
	}
	k := memoKey{line, o, programs}
	v, ok := remembered(k)
	if !ok {
		v.cmds, v.err = parseLine(line, o, programs)
		remember(k, v)
	}
	return slices.Clone(v.cmds), v.err
}

func parseLine(line string, o Options, programs Programs) ([]Command, error) {
	if strings.ContainsAny(line, "\x00\r") { // the parser drops carriage returns, bash keeps them
		return nil, fmt.Errorf("%w: it holds a NUL or a carriage return", ErrSyntax)
	}
	if err := bounded(line); err != nil {
		return nil, err
	}
	w := &walker{opts: o, programs: programs}
	sc := &scope{}
	if o.Dir != "" {
		sc.dirs = []string{o.Dir}
	}
	if w.source(sc, line); w.err != nil {
		return nil, w.err
	}
	return w.out, nil
}

func bounded(line string) error {
	if len(line) > maxBytes {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(line), maxBytes)
	}
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '(', '{', '`', '"', '[':
			n++
		}
	}
	for _, k := range [...]string{"if ", "while ", "until ", "for ", "case ", "if\n", "while\n", "until\n", "then", "do", "else"} {
		n += strings.Count(line, k)
	}
	if n > maxOpeners {
		return fmt.Errorf("%w: %d openings, at most %d", ErrTooLarge, n, maxOpeners)
	}
	return nil
}
