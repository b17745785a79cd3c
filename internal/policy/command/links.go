package command

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// This file knows what programs do with links: which create links, which copy or unpack
// them, and which remove what is at a path.

// Copying is what a command that links, copies or moves does with each Src at each Dst.
type Copying struct {
	Program  string
	Src, Dst []shellsyntax.Word
	Symbolic bool // Dst becomes a link with the text of Src
	Hard     bool // Dst becomes another name of the file Src
	Copies   bool // the content of Src comes to Dst, links as links
	Replaces bool // a folder at Dst, or a link to one, is replaced
	Follows  bool // it writes through a link in the folder Dst
}

// CopyingOf returns what a command does with links at the paths that it names. ok is
// false if it does nothing with links.
func CopyingOf(c shellsyntax.Command) (k Copying, ok bool) {
	name, _ := c.Program()
	row := known(name)
	if row == nil || row.copies == "" {
		return k, false
	}
	if name = row.copies; row.moves != nil {
		args, moves := row.moves(c)
		if !moves {
			return k, false
		}
		c.Words = append([]shellsyntax.Word{c.Words[0]}, args...)
	}
	k = copyingOf(c, name)
	if name == "ln" && len(k.Src) == 1 && len(k.Dst) == 0 {
		k.Dst = []shellsyntax.Word{{Text: ".", Known: true}}
	}
	return k, true
}

func copyingOf(c shellsyntax.Command, name string) Copying {
	k := Copying{Program: name}
	symbolic, hard := false, false
	rest := c.Words[1:]
	ended := false
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		t := w.Text
		switch {
		case ended || !w.Known || t == "" || t == "-" || t[0] != '-':
			k.Src = append(k.Src, w)
		case t == "--":
			ended = true
		case strings.HasPrefix(t, "--t"):
			if _, v, ok := strings.Cut(t, "="); ok {
				k.Dst = append(k.Dst, shellsyntax.Word{Text: v, Known: true})
			} else if i+1 < len(rest) {
				i++
				k.Dst = append(k.Dst, rest[i])
			}
		case strings.HasPrefix(t, "--"):
			symbolic = symbolic || strings.HasPrefix("--symbolic-link", t) && len(t) > 3
			hard = hard || strings.HasPrefix("--link", t)
			k.Replaces = k.Replaces || strings.HasPrefix(t, "--no")
		default:
			letters, v, target := cutLetter(t[1:], 't')
			symbolic = symbolic || strings.Contains(letters, "s")
			hard = hard || strings.Contains(letters, "l")
			k.Replaces = k.Replaces || strings.ContainsAny(letters, "Tnh")
			if target && v != "" {
				k.Dst = append(k.Dst, shellsyntax.Word{Text: v, Known: true})
			} else if target && name != "rsync" && i+1 < len(rest) {
				i++
				k.Dst = append(k.Dst, rest[i])
			}
		}
	}
	if len(k.Dst) == 0 && len(k.Src) > 1 {
		last := len(k.Src) - 1
		k.Src, k.Dst = k.Src[:last], k.Src[last:]
	}
	k.Symbolic = symbolic && (name == "ln" || name == "cp")
	k.Hard = name == "ln" && !symbolic || name == "link" || name == "cp" && hard
	k.Copies = !k.Hard && (name == "cp" || name == "mv" || name == "rsync")
	k.Follows = name == "cp"
	return k
}

// cutLetter splits a cluster of options at a letter that takes a value.
func cutLetter(cluster string, letter byte) (before, value string, found bool) {
	i := strings.IndexByte(cluster, letter)
	if i < 0 {
		return cluster, "", false
	}
	return cluster[:i], cluster[i+1:], true
}

// ReplacesLink reports whether a program that writes to a link replaces the link
// instead of following it.
func ReplacesLink(name string) bool { return known(name).has(replacesLink) }

// LinksAnywhere returns the program of a command that may create links at paths that
// its words do not name, for example by unpacking an archive; "" for none.
func LinksAnywhere(c shellsyntax.Command) string {
	name, _ := c.Program()
	switch row := known(name); {
	case row.has(unpacks):
		return name
	case row != nil && row.checksOut != nil:
		return row.checksOut(c)
	}
	return ""
}

// TakesAway returns the words that name what a command may remove from its path, even
// if its options are unknown. anything: it may also be something that no word names.
func TakesAway(c shellsyntax.Command) (words []shellsyntax.Word, anything bool) {
	if len(c.Words) == 0 {
		return nil, false
	}
	name, _ := c.Program()
	switch row := known(name); {
	case !c.Words[0].Known, row.has(takesAnything), row.has(mayTakeAnything) && Effects(c).Kind != Reads:
		return nil, true
	case row.has(mayTakeAnything):
	case row != nil && row.copies == "mv":
		words = copyingOf(c, "mv").Src
	case row.has(takesAway):
		words = c.Words[1:]
	}
	return words, slices.ContainsFunc(words, func(w shellsyntax.Word) bool { return !w.Known })
}
