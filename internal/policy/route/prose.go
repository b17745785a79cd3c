package route

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentence is a sentence in the person's own words: in lower case, with "," and ":" as
// separate words, and quoted in place of quotations and code.
type sentence struct {
	words    []string
	question bool // it ends in a question mark
	text     string
}

// quoted replaces a quotation or a piece of code.
const quoted = "`"

// How much of a prompt is read, in bytes, at its beginning and at its end: people write
// their request there, and paste in the middle.
const (
	lookHead = 6 << 10
	lookTail = 2 << 10
)

// heading is the longest line that counts as a sentence if the next line begins with a
// capital letter.
const heading = 60

// sentences returns the person's own sentences of a prompt, without pasted text.
func sentences(prompt string) []sentence {
	out := typedSentences(prompt)
	if len(out) > 0 {
		return out
	}
	// All of it looks pasted: perhaps it is only indented.
	var b strings.Builder
	for line := range strings.Lines(prompt[:min(len(prompt), lookHead)]) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return typedSentences(b.String())
}

func typedSentences(prompt string) []sentence {
	if len(prompt) > lookHead+lookTail {
		prompt = strings.ToValidUTF8(prompt[:lookHead], "") + "\n\n" + strings.ToValidUTF8(prompt[len(prompt)-lookTail:], "")
	}
	var out []sentence
	paragraph := ""
	flush := func() {
		out = append(out, split(paragraph)...)
		paragraph = ""
	}
	fence, tag, pasted, last := "", "", false, 0
	for line := range strings.Lines(prompt) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case tag != "":
			if strings.Contains(trimmed, "</"+tag) {
				tag = ""
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			flush()
			fence = trimmed[:3]
		case trimmed == "":
			flush()
			pasted = false
		case openingTag(trimmed) != "":
			flush()
			if t := openingTag(trimmed); !strings.Contains(trimmed, "</"+t) {
				tag = t
			}
		case pasted || isNotProse(line, trimmed):
			// Lines after machine output belong to it, up to an empty line.
			flush()
			pasted = pasted || !strings.HasPrefix(trimmed, ">")
		default:
			// A heading has no full stop.
			if r, _ := utf8.DecodeRuneInString(trimmed); isListItem(trimmed) || last < heading && unicode.IsUpper(r) {
				flush()
			}
			paragraph += " " + trimmed
			last = len(trimmed)
		}
	}
	flush()
	return out
}

// openingTag returns the name of the tag at the beginning of a line, such as <issue>.
func openingTag(line string) string {
	if len(line) < 3 || line[0] != '<' {
		return ""
	}
	end := strings.IndexAny(line, "> ")
	if end < 2 {
		return ""
	}
	name := line[1:end]
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123456789") != "" {
		return ""
	}
	return name
}

// isListItem reports whether a line is an entry of a list, which is a sentence by itself.
func isListItem(line string) bool {
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "#") ||
		len(line) > 2 && line[0] >= '0' && line[0] <= '9' && (line[1] == '.' || line[1] == ')')
}

// isNotProse reports whether a line was not typed as prose: code, a log, a stack
// trace, a diff, a quotation.
func isNotProse(line, trimmed string) bool {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
		return true
	}
	for _, start := range [...]string{
		">", "//", "/*", "Traceback (", "panic: ", "goroutine ", "exit status", "--- ", "+++ ", "@@ ", "diff --git", "at ", "File \"",
		"Caused by", "Exception in", "FAIL", "PASS", "ok  \t", "=== RUN", "error[", "ERROR", "WARN", "INFO ", "DEBUG ", "E   ", "SELECT ", "$ ", "fatal: ", "npm ERR",
	} {
		if strings.HasPrefix(trimmed, start) {
			// "at line 3 we …" is prose.
			return start != "at " || strings.ContainsAny(trimmed, "(:")
		}
	}
	// ValueError: …, java.lang.NullPointerException: …, x.go:12:3: …
	head, _, ok := strings.Cut(trimmed, ":")
	if ok && !strings.Contains(head, " ") && (strings.HasSuffix(head, "Error") || strings.HasSuffix(head, "Exception") || strings.Contains(head, ".") && fileLine(trimmed[len(head)+1:])) {
		return true
	}
	if strings.HasSuffix(trimmed, "{") && len(strings.Fields(trimmed)) <= 8 && !looksLikeRequest(trimmed) || strings.HasSuffix(trimmed, ";") && strings.ContainsAny(trimmed, "=(") || trimmed == "}" || trimmed == ")" {
		return true
	}
	return false
}

// looksLikeRequest reports whether a line begins like a request, and not like code.
func looksLikeRequest(line string) bool {
	w := strings.ToLower(firstWord(line))
	return isImperative(w) && w != "return" && w != "throw" && w != "type"
}

// fileLine reports whether a text continues like "12:" or "12: " after a file
// name.
func fileLine(s string) bool {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i > 0 && i < len(s) && s[i] == ':'
}

// split splits a paragraph into sentences and words.
func split(text string) []sentence {
	var out []sentence
	s, start := sentence{}, 0
	word := strings.Builder{}
	done := func() {
		w := strings.Trim(word.String(), "-'./_()[]*#")
		if w != "" {
			s.words = append(s.words, w)
		}
		word.Reset()
	}
	end := func(at int, question bool) {
		done()
		if len(s.words) > 0 {
			s.question, s.text = question, strings.TrimSpace(text[start:at])
			out = append(out, s)
		} else if question && len(out) > 0 {
			out[len(out)-1].question = true
		}
		s, start = sentence{}, at
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		next := rune(' ')
		if i+n < len(text) {
			next, _ = utf8.DecodeRuneInString(text[i+n:])
		}
		switch {
		case r == '`' || r == '"' || r == '“' || r == '«' || r == '\'' && word.Len() == 0:
			if j := closing(text[i+n:], r); j >= 0 {
				done()
				s.words = append(s.words, quoted)
				i += n + j
				continue
			}
		case r == '?' || r == '？':
			end(i+n, true)
		case r == '!' || r == ';' || r == '。' || r == '！':
			end(i+n, false)
		case r == '.' && (unicode.IsSpace(next) || next == '"' || next == ')') && !isAbbreviation(word.String()):
			end(i+n, false)
		case r == ',' || r == '，' || r == ':' && unicode.IsSpace(next) || r == '—' || r == '–' || r == '-' && word.Len() == 0 && unicode.IsSpace(next):
			done()
			mark := ","
			if r == ':' {
				mark = ":"
			}
			if len(s.words) > 0 {
				s.words = append(s.words, mark)
			}
		case r == '’':
			word.WriteByte('\'')
		case unicode.IsSpace(r):
			done()
		case r == '(' || r == ')' || r == '¿' || r == '¡':
			done()
		default:
			word.WriteRune(unicode.ToLower(r))
		}
		i += n
	}
	end(len(text), false)
	return out
}

// closing returns the index after the closing mark of a quotation, -1 if there
// is none near.
func closing(s string, open rune) int {
	mark := string(open)
	switch open {
	case '“':
		mark = "”"
	case '«':
		mark = "»"
	}
	j := strings.Index(s, mark)
	if j <= 0 || j > 400 || open == '\'' && j+1 < len(s) && unicode.IsLetter(rune(s[j+1])) {
		return -1
	}
	return j + len(mark)
}

func isAbbreviation(w string) bool {
	switch w {
	case "e.g", "i.e", "etc", "vs", "cf", "eg", "ie":
		return true
	}
	return false
}
