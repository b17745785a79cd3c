package shellsyntax

import (
	"path"
	"slices"
	"strings"
)

// Programs tells Parse about programs that are not part of the shell. Its methods get
// the words of a command; the first word names the program.
type Programs interface {
	// Wrapping returns how a program runs the command that its words end with; ok is
	// false for one that runs none.
	Wrapping(words []Word) (w Wrapping, ok bool)
	// Inner returns where, in a program's words, the commands are that its options run:
	// for each, the index of its first word, and of the word that ends it.
	Inner(words []Word) [][2]int
}

// Wrapping describes how a program runs the command that its words end with.
type Wrapping struct {
	Words     []Word     // all words; a word that contained the text of a command is split
	At        int        // the index at which the command begins; 0: unknown, or none
	Code      bool       // one of the program's own words may change what runs
	Assigns   []string   // NAME=value that the command gets
	Redirects []Redirect // files that the program opens itself
	Dirs      []Word     // folders into which it changes, in this order
	Mark      string     // in the command's words this is replaced by other text
	More      bool       // it appends words to the command
	Stays     bool       // the command runs in the folder where the program was started
}

// unwrap moves one wrapper from the words to Via. It does not move a wrapper that runs
// nothing (env alone, command -v). Its other effects are recorded with the command: the
// folder in which it runs, the files that it opens.
func (w *walker) unwrap(sc *scope, c *Command) bool {
	if base(c) == "" {
		return false
	}
	r, ok := w.programs.Wrapping(c.Words)
	if !ok {
		return false
	}
	c.Words, c.Code = r.Words, c.Code || r.Code
	for _, d := range r.Dirs {
		w.runIn(sc, c, d)
	}
	c.Redirects = append(c.Redirects, r.Redirects...)
	if r.At == 0 {
		return false
	}
	c.Assigns = append(c.Assigns, r.Assigns...)
	c.Via = append(c.Via, r.Words[:r.At]...)
	c.Wrappers = append(c.Wrappers, base(c))
	c.strays = c.strays || !r.Stays
	c.Words = slices.Clone(r.Words[r.At:])
	if r.Mark != "" {
		replaced(c.Words, r.Mark)
	}
	if r.More {
		c.Words = append(c.Words, Word{Text: "…"})
	}
	return true
}

// runIn records that a wrapper changes the folder.
func (w *walker) runIn(sc *scope, c *Command, dir Word) {
	if !c.moved {
		c.dirs = sc.dirs
	}
	var in []string
	for _, d := range c.dirs {
		if path.IsAbs(dir.Text) {
			d = "/"
		}
		if dir.Known && dir.Text != "" {
			in = append(in, path.Join(d, dir.Text))
		}
	}
	c.dirs, c.moved = in, true
}

// replaced marks as unknown the words in which a program replaces mark by other text.
func replaced(words []Word, mark string) {
	for i, word := range words {
		if before, _, has := strings.Cut(word.Text, mark); has {
			words[i] = Word{Text: word.Text, Prefix: before, Blank: strings.ReplaceAll(word.Text, mark, "")}
		}
	}
}

// inner records the commands that a command runs by its own options.
func (w *walker) inner(sc *scope, c Command, at int) {
	name := base(&c)
	if name == "" {
		return
	}
	for _, r := range w.programs.Inner(c.Words) {
		in := Command{
			Words:    slices.Clone(c.Words[r[0]:r[1]]),
			Via:      append(slices.Clone(c.Via), c.Words[:r[0]]...),
			Wrappers: append(slices.Clone(c.Wrappers), name),
			From:     []int{at},
			strays:   true,
		}
		replaced(in.Words, "{}")
		for i := range in.Words { // a path, which begins with no dash
			in.Words[i].Glob = in.Words[i].Text == "{}"
		}
		for w.unwrap(sc, &in) {
		}
		out := *sc
		out.dirs = nil
		if Shell(base(&in)) && len(in.Words) > 0 {
			w.shell(&out, in, in.Words[1:], nil)
		} else {
			w.emit(sc, in)
		}
	}
}

// base returns the base name of a command's program, "" if it is unknown.
func base(c *Command) string {
	if n := c.Name(); n != "" {
		return path.Base(n)
	}
	return ""
}
