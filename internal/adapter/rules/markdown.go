package rules

import (
	"path"
	"strings"
	"unicode/utf8"
)

// ref is an import in a text: its path, and the line it stands on without the
// newline.
type ref struct {
	path     string
	from, to int
}

// imports finds the @path imports of a Markdown text. What is in a fenced
// block or a code span is an example, and an address such as a@b.org is none.
func imports(text string) []ref {
	if !strings.Contains(text, "@") {
		return nil
	}
	var refs []ref
	fence := ""
	para := -1 // where the current paragraph begins
	flush := func(end int) {
		if para >= 0 {
			refs = append(refs, paragraph(text, para, end)...)
		}
		para = -1
	}
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := strings.TrimLeft(text[at:end], " \t>")
		mark := fenceOf(line)
		switch {
		case fence != "":
			if mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.TrimSpace(line[len(mark):]) == "" {
				fence = ""
			}
		case mark != "":
			flush(at)
			fence = mark
		case strings.TrimSpace(line) == "":
			flush(at)
		case para < 0:
			para = at
		}
		at = end + 1
	}
	flush(len(text))
	return refs
}

// fenceOf is the mark that opens or closes a fenced block, "" for none. It may
// follow a list's mark.
func fenceOf(line string) string {
	for _, m := range [...]string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(line, m); ok && fenceOf(strings.TrimLeft(rest, " ")) != "" {
			// The block of a list item closes by a mark without the bullet.
			return fenceOf(strings.TrimLeft(rest, " "))
		}
	}
	for _, c := range [...]string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// paragraph finds the imports of text[from:to], which has no fence and no
// blank line inside.
func paragraph(text string, from, to int) []ref {
	var refs []ref
	missing := map[int]bool{} // lengths of backtick runs that nothing closes
	for i := from; i < to; {
		switch c := text[i]; {
		case c == '`':
			n := run(text[i:to])
			i += n
			if missing[n] {
				continue
			}
			if skip := closing(text[i:to], n); skip >= 0 {
				i += skip
			} else {
				missing[n] = true
			}
		case c == '@' && (i == from || boundary(text[:i])):
			end := i + 1
			for end < to && !strings.ContainsRune(" \t\n`\"'<>|*", rune(text[end])) {
				end++
			}
			if p := strings.TrimRight(text[i+1:end], ".,;:!?)]}"); p != "" && utf8.ValidString(p) && !strings.Contains(p, "@") {
				start := strings.LastIndexByte(text[:i], '\n') + 1
				stop := to
				if j := strings.IndexByte(text[i:], '\n'); j >= 0 {
					stop = i + j
				}
				refs = append(refs, ref{path: p, from: start, to: min(stop, len(text))})
			}
			i = end
		default:
			i++
		}
	}
	return refs
}

func run(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// closing is how far it is behind the next run of exactly n backticks, -1 if
// there is none.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		m := run(s[i:])
		i += m
		if m == n {
			return i
		}
	}
	return -1
}

// boundary says whether an import may begin behind a text.
func boundary(before string) bool {
	return strings.ContainsAny(before[len(before)-1:], " \t\n([{\"'*>:")
}

// likely says whether somebody must have meant a file: then one that is not
// there is worth a word. @types/node and @alice are not.
func likely(ref string) bool {
	for _, p := range [...]string{"./", "../", "~/", "/"} {
		if strings.HasPrefix(ref, p) {
			return true
		}
	}
	switch strings.ToLower(path.Ext(ref)) {
	case ".md", ".mdx", ".txt", ".rst", ".mdc":
		return true
	}
	return false
}
