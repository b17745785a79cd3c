package shellsyntax

import (
	"path"
	"slices"
	"strings"
)

// Program returns the base name of a command's program. plain is false if it was given
// by a path outside the system's own folders, so that it may be any program.
func (c Command) Program() (base string, plain bool) {
	n := c.Name()
	dir, base := path.Split(n)
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/":
		return base, true
	}
	return base, false
}

// Paths joins a word's path with every folder that the command may run in, by the text
// alone: "x/.." is removed, even if x may be a link. That is enough for judging the
// text. Code that can follow links joins the word's own text with Dir and Alt, which
// keep ".." after what may be a link, and resolves it component by component as the
// kernel does. For a glob the result is the folder that contains all its paths, and
// "/*". A process substitution is not a path. ok is false if the path is not known.
func (c Command) Paths(w Word) (paths []string, ok bool) {
	switch {
	case w.Proc:
		return nil, true
	case w.Glob && !w.Known:
		w = Word{Text: w.Prefix[:strings.LastIndexByte(w.Prefix, '/')+1] + "*", Known: true}
	case !w.Known:
		return nil, false
	}
	for _, p := range c.Forms(w) {
		if !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths, len(paths) > 0
}

// Forms returns every absolute path that a word may be, also if unknown
// variables in it are empty.
func (c Command) Forms(w Word) []string {
	t := w.Text
	if !w.Known {
		if t = w.Blank; t == "" || strings.Contains(t, "\x00") {
			return nil
		}
	}
	if strings.HasPrefix(t, "~") || path.IsAbs(t) {
		return []string{path.Clean(t)}
	}
	if !c.Dir.Known {
		return nil
	}
	out := []string{path.Join(c.Dir.Text, t)}
	for _, d := range c.Alt {
		out = append(out, path.Join(d, t))
	}
	return out
}

// Parts returns the parts of a word that may be paths, as they are written.
func (w Word) Parts() []string {
	t := w.Text
	if !w.Known {
		if t = w.Blank; t == "" {
			return nil
		}
	}
	if strings.ContainsAny(t, " \n\t") || len(t) > 4096 {
		return nil
	}
	out := []string{t}
	for i := 0; i < len(t); i++ {
		if strings.IndexByte("=@:,", t[i]) >= 0 && !strings.HasPrefix(t[i+1:], "//") {
			out = append(out, t[i+1:])
		}
	}
	if len(t) > 2 && t[0] == '-' && t[1] != '-' {
		out = append(out, t[2:])
	}
	return out
}

// Candidates returns every absolute path that a word, or a part of it, may be.
func (c Command) Candidates(w Word) (out []string) {
	for _, part := range w.Parts() {
		out = append(out, c.Forms(Word{Text: part, Known: true})...)
	}
	return out
}

// Named returns the absolute paths that a command's words and redirections may name: all
// known words but the program and its options, and what follows "=" in a word.
func (c Command) Named() []string {
	var out []string
	add := func(w Word) {
		if paths, ok := c.Paths(w); ok && w.Known && w.Text != "" {
			out = append(out, paths...)
		}
	}
	for _, w := range c.Words[min(1, len(c.Words)):] {
		if _, value, has := strings.Cut(w.Text, "="); has {
			add(Word{Text: value, Known: w.Known})
		}
		if !strings.HasPrefix(w.Text, "-") {
			add(w)
		}
	}
	for _, r := range c.Redirects {
		add(r.Target)
	}
	return out
}
