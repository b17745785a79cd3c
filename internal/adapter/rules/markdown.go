package rules

import (
	"path"
	"strings"
	"unicode/utf8"
)

// ref is an import in a text: its path, and the start and end of its line without the
// newline.
type ref struct {
	path     string
	from, to int
}

// imports returns the @path imports of a Markdown text. Those in a fenced or indented
// block or in a code span are examples and do not count, nor do addresses such as
// a@b.org.
func imports(text string) []ref {
	if !strings.Contains(text, "@") {
		return nil
	}
	var refs []ref
	fence := ""
	para := -1 // where the current paragraph begins
	item := 0  // how far the text of the open list item is indented, 0 for none
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
		in, inner := indentation(text[at:end])
		if strings.TrimSpace(line) != "" && in < item && para < 0 {
			item = 0
		}
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
		case in < 4 && strings.HasPrefix(strings.TrimLeft(line, "#"), " ") && strings.HasPrefix(line, "#"): // a heading ends with its line
			flush(at)
			para = at
			flush(end)
		case para < 0 && in >= item+4: // an indented block, which cannot interrupt a paragraph
		default:
			if para < 0 {
				para = at
			}
			if inner > 0 {
				item = inner
			}
		}
		at = end + 1
	}
	flush(len(text))
	return refs
}

// indentation returns the columns by which a line is indented after quotation marks, and
// the column where the text of a list item begins that the line opens; 0 if it opens
// none.
func indentation(line string) (in, item int) {
	for {
		rest := strings.TrimLeft(line, " ")
		if len(line)-len(rest) > 3 || !strings.HasPrefix(rest, ">") {
			break
		}
		line = strings.TrimPrefix(rest[1:], " ")
	}
	rest := strings.TrimLeft(line, " \t")
	for _, c := range line[:len(line)-len(rest)] {
		if in++; c == '\t' {
			in = (in + 3) / 4 * 4
		}
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	mark := 0
	switch {
	case digits > 0 && digits < 10 && len(rest) > digits && (rest[digits] == '.' || rest[digits] == ')'):
		mark = digits + 1
	case rest != "" && strings.ContainsRune("-*+", rune(rest[0])):
		mark = 1
	}
	if mark == 0 || mark == len(rest) || rest[mark] != ' ' && rest[mark] != '\t' {
		return in, 0
	}
	blanks := len(rest[mark:]) - len(strings.TrimLeft(rest[mark:], " "))
	if blanks > 4 || blanks == 0 {
		blanks = 1 // the item begins with an indented block, or a tab follows
	}
	return in, in + mark + blanks
}

// fenceOf returns the mark that opens or closes a fenced block, "" for none. A list's
// mark may precede it.
func fenceOf(line string) string {
	for _, m := range [...]string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(line, m); ok && fenceOf(strings.TrimLeft(rest, " ")) != "" {
			// The block of a list item is closed by a mark without the bullet.
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

// paragraph returns the imports of text[from:to], which contains no fence and no blank
// line.
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

// closing returns the distance to the end of the next run of exactly n
// backticks, -1 if there is none.
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

// boundary reports whether an import may begin after this text.
func boundary(before string) bool {
	return strings.ContainsAny(before[len(before)-1:], " \t\n([{\"'*>:")
}

// likely reports whether an import was certainly meant as a file, so that a missing one
// is reported. @types/node and @alice are not.
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
