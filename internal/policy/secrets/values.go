package secrets

import (
	"slices"
	"strings"
)

// Values lists the secrets in a file: the values of names such as PASSWORD, and
// other text with the form of a key. A Masker made with them (New) masks them
// everywhere, with or without their names. Values leaves out words of ordinary
// text, and keys of several lines, which are masked by their form anyway.
func Values(file string) []string {
	var out []string
	add := func(v string) {
		if v = strings.TrimSpace(v); Distinct(v) && !strings.Contains(v, "\n") && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, f := range New().spans(file) {
		add(file[f.from:f.to])
	}
	for line := range strings.Lines(file) {
		parts := []string{line}
		if t := strings.TrimSpace(line); t != "" && strings.Contains("{[\"", t[:1]) { // JSON, whose values have quotes
			parts = strings.Split(t, ",")
		}
		for _, p := range parts {
			if name, value, ok := assignment(p); ok && (isSecretName(name) || secretSuffix(name)) {
				add(value)
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
		!strings.HasSuffix(name, "publickey")
}

// assignment takes a line such as `export NAME="value" # why`, `name: value` or
// `"name": "value",` apart.
func assignment(line string) (name, value string, ok bool) {
	line = strings.TrimPrefix(strings.Trim(line, " \t\r\n{}[]"), "export ")
	i := strings.IndexAny(line, "=:")
	if i <= 0 || strings.HasPrefix(line, "#") {
		return "", "", false
	}
	if open := strings.LastIndexByte(line, '{'); open > i { // "a": {"password": "…"
		return assignment(line[open:])
	}
	name, value = strings.Trim(line[:i], " \t\"'"), strings.TrimSpace(line[i+1:])
	if name == "" || len(name) > maxName || strings.ContainsAny(name, " \t/{") || strings.HasPrefix(value, "$") {
		return "", "", false
	}
	if q := strings.IndexAny(value, `"'`); q == 0 {
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			return name, value[1 : 1+end], true
		}
		return "", "", false
	}
	value, _, _ = strings.Cut(value, " #")
	return name, strings.TrimRight(value, " \t,;"), true
}
