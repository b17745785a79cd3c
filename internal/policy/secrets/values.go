package secrets

import (
	"slices"
	"strings"
)

// File is a file that may hold secrets. Its name decides how its text is read.
type File struct{ Name, Text string }

// Values lists the secrets in a file: text with the form of a key, and the values of
// names such as PASSWORD; in a file of settings for a process (EnvFile) every value
// that is not plain, and in a file that is named after its secrets every word that
// looks like one. A Masker that holds them masks them in all text. It leaves out keys
// of several lines, which are masked by their form anyway.
func Values(f File) []Value {
	var out []Value
	add := func(v Value) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	everywhere := func(v string) {
		if v = strings.TrimSpace(v); Distinct(v) && !strings.Contains(v, "\n") {
			add(Value{Text: v})
		}
	}
	how := kindOf(f.Name)
	for _, s := range New().spans(f.Text) {
		everywhere(f.Text[s.from:s.to])
	}
	for line := range strings.Lines(f.Text) {
		parts := []string{line}
		if t := strings.TrimSpace(line); t != "" && strings.Contains("{[\"", t[:1]) { // JSON, whose values have quotes
			parts = strings.Split(t, ",")
		}
		for _, p := range parts {
			name, value, lead, ok := assignment(p)
			if !ok || value == "" {
				continue
			}
			key := isSecretName(name) || secretSuffix(name)
			switch {
			case how == settings && (key && !stands(value) || !plain(value)), key && how != data && !stands(value):
				add(Value{Text: lead + value, Lead: len(lead)})
				if key || strings.ContainsAny(value, "0123456789") {
					everywhere(value)
				}
			case isSecretName(name) && !plain(value), key && !stands(value) && LooksSecret(f.Name):
				everywhere(value)
			}
		}
		if how == bare {
			for w := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;:='\"|", r) }) {
				if passwordLike(w, true) {
					everywhere(w)
				}
			}
			if t := strings.TrimSpace(line); strings.Count(f.Text, "\n") <= 1 && !strings.Contains(t, " ") { // it has nothing else
				everywhere(t)
			}
		}
	}
	return out
}

// secretSuffix reports whether a name stands for a secret in a file of secrets,
// where in other files it may stand for a word of the language.
func secretSuffix(name string) bool {
	name = normalName(name)
	return slices.ContainsFunc([]string{"token", "key", "secret", "pass", "credential", "credentials", "auth"}, func(s string) bool { return strings.HasSuffix(name, s) }) &&
		!strings.HasSuffix(name, "publickey") && !strings.HasSuffix(name, "signingkey") // names a key
}

// assignment takes a line such as `export NAME="value" # why`, `name: value` or
// `"name": "value",` apart. lead is what stands before the value, from the name on.
func assignment(line string) (name, value, lead string, ok bool) {
	line = strings.TrimPrefix(strings.Trim(line, " \t\r\n{}[]"), "export ")
	i := strings.IndexAny(line, "=:")
	if i <= 0 || strings.HasPrefix(line, "#") {
		return "", "", "", false
	}
	if open := strings.LastIndexByte(line, '{'); open > i { // "a": {"password": "…"
		return assignment(line[open:])
	}
	name, value = strings.Trim(line[:i], " \t\"'"), strings.TrimSpace(line[i+1:])
	if strings.HasPrefix(line, "//") && strings.Contains(name, "/") { // of an .npmrc: //host/:_authToken=…
		return assignment(line[i+1:])
	}
	if name == "" || len(name) > maxName || strings.ContainsAny(name, " \t/{") {
		return "", "", "", false
	}
	if q := strings.IndexAny(value, `"'`); q == 0 {
		end := strings.IndexByte(value[1:], value[0])
		if end < 0 {
			return "", "", "", false
		}
		value = value[1 : 1+end]
	} else {
		value, _, _ = strings.Cut(value, " #")
		value = strings.TrimRight(value, " \t,;")
	}
	at := strings.Index(line[i:], value)
	return name, value, line[:i+max(at, 0)], true
}

// stands reports whether a value stands for a secret or says that there is none.
func stands(v string) bool {
	switch strings.ToLower(v) {
	case "", "true", "false", "null", "none", "nil", "yes", "no", "on", "off":
		return true
	}
	return placeholder(v) || strings.HasPrefix(v, "{{") || len(v) < 3
}

// plain reports whether a value of an env file may be shown: a number, a switch, a word,
// a host with or without its port, an address or a path without anything that looks
// random.
func plain(v string) bool {
	if stands(v) || strings.Trim(v, "0123456789.,:%-+/ ") == "" {
		return true
	}
	if _, rest, ok := strings.Cut(v, "://"); ok {
		v = rest
	}
	if strings.ContainsAny(v, "@?&=#$!^*~+ ") || len(v) > 100 {
		return false
	}
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune("./:,_-", r) }) {
		word := strings.TrimRight(part, "0123456789")
		digits := len(part) - len(word)
		if strings.ContainsFunc(word, func(r rune) bool { return r > 0x7f || !isLetter(byte(r)) }) && strings.Trim(part, "0123456789") != "" && len(part) > 4 {
			return false
		}
		if len(word) > 12 || digits > 5 || mixed(word) {
			return false
		}
	}
	return strings.ContainsAny(v, "./:,") || len(v) <= 16 && strings.Count(v, "-")+strings.Count(v, "_") < 2
}

// mixed reports whether a word has capitals behind its first letter, but is not in
// capitals.
func mixed(w string) bool {
	return len(w) > 1 && w != strings.ToUpper(w) && w[1:] != strings.ToLower(w[1:])
}
