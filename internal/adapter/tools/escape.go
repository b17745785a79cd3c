package tools

import "strings"

// This file handles text that was escaped once too often: as HTML, or as in a string of a
// program. One level is removed only if old then occurs exactly once, and if it is
// certain how to change new.

const (
	noteEscaped   = "old and new were escaped as HTML (&lt; and the like), and the file is not"
	noteBackslash = "old had backslashes too many, and the file has not"
)

var htmlEscapes = []struct{ given, means string }{
	{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&#39;", "'"}, {"&apos;", "'"}, {"&amp;", "&"},
}

// unescapedHTML returns the edit without HTML escapes, which some models add. If a
// character occurs both escaped and plain in the text, the escapes are intended, and it
// returns nil.
func (e *edit) unescapedHTML() (*edit, string) {
	if !strings.Contains(e.old, "&") {
		return nil, ""
	}
	var pairs []string
	bare := e.old + "\n" + e.text
	for _, h := range htmlEscapes {
		bare = strings.ReplaceAll(bare, h.given, "")
	}
	for _, h := range htmlEscapes {
		if !strings.Contains(e.old, h.given) && !strings.Contains(e.text, h.given) {
			continue
		}
		if strings.Contains(bare, h.means) {
			return nil, ""
		}
		pairs = append(pairs, h.given, h.means)
	}
	r := strings.NewReplacer(pairs...)
	return e.exactOnly(r.Replace(e.old), r.Replace(e.text)), noteEscaped
}

// exactOnly returns the edit with other texts, or nil if that old does not occur exactly
// once.
func (e *edit) exactOnly(old, text string) *edit {
	if old == e.old || old == text || old == "" || strings.Count(e.in.plain, old) != 1 {
		return nil
	}
	return &edit{in: e.in, lines: e.lines, old: old, text: text}
}

// backslashed are the escapes of programming languages, by their second character.
var backslashed = map[byte]string{'n': "\n", 't': "\t", '\'': "'", '"': `"`, '`': "`", '$': "$", '\\': `\`}

// unescaped returns the edit with one level of backslashes removed. New is not changed if
// it has no such escapes; otherwise it must be escaped in the same ways as old.
func (e *edit) unescaped() (*edit, string) {
	if !strings.Contains(e.old, `\`) {
		return nil, ""
	}
	old, kinds, _ := unbackslash(e.old)
	text, fresh, rest := unbackslash(e.text)
	if len(fresh) == 0 {
		return e.exactOnly(old, e.text), noteBackslash
	}
	for k := range fresh {
		if !kinds[k] {
			return nil, ""
		}
	}
	_, _, was := unbackslash(e.old)
	for k := range kinds {
		// The character occurs both escaped and plain: the escapes are intended.
		if means := backslashed[k]; strings.Contains(rest+was, means) {
			return nil, ""
		}
	}
	if kinds['n'] && !balanced(text) {
		return nil, "" // the \n may be inside a string
	}
	return e.exactOnly(old, text), noteBackslash
}

// unbackslash removes one level of backslashes. kinds are the escapes that it found, rest
// is the text without them.
func unbackslash(s string) (out string, kinds map[byte]bool, rest string) {
	kinds = map[byte]bool{}
	var b, r strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && backslashed[s[i+1]] != "" {
			kinds[s[i+1]] = true
			b.WriteString(backslashed[s[i+1]])
			i++
			continue
		}
		b.WriteByte(s[i])
		r.WriteByte(s[i])
	}
	return b.String(), kinds, r.String()
}

// balanced reports whether each line has its quotes in pairs.
func balanced(s string) bool {
	for line := range strings.Lines(s) {
		for _, q := range []string{`"`, "'", "`"} {
			if strings.Count(line, q)%2 != 0 {
				return false
			}
		}
	}
	return true
}
