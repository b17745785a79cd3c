package reach

import (
	"path"
	"strings"
)

// This file knows make's functions on lists of names. A list may contain patterns of
// $(wildcard …): a function is then applied to the pattern, and a function that selects
// names keeps all.

var listFunctions = map[string]func(args []string, word string) (string, bool){
	"patsubst": func(args []string, w string) (string, bool) { return patsubst(args[0], args[1], w) },
	"subst": func(args []string, w string) (string, bool) {
		return strings.ReplaceAll(w, args[0], args[1]), args[0] != ""
	},
	"addprefix": func(args []string, w string) (string, bool) { return args[0] + w, true },
	"addsuffix": func(args []string, w string) (string, bool) { return w + args[0], true },
	"notdir":    func(_ []string, w string) (string, bool) { return path.Base(w), !strings.HasSuffix(w, "/") },
	"basename": func(_ []string, w string) (string, bool) {
		return strings.TrimSuffix(w, path.Ext(w)), path.Ext(w) != ".*"
	},
	"filter":     func(_ []string, w string) (string, bool) { return w, true },
	"filter-out": func(_ []string, w string) (string, bool) { return w, true },
}

// listArgs is the number of arguments before the list.
var listArgs = map[string]int{"patsubst": 2, "subst": 2, "addprefix": 1, "addsuffix": 1, "filter": 1, "filter-out": 1}

// listed returns the value of a function on a list.
func (r *walk) listed(function, rest string, depth int) string {
	unlisted := "${" + unlistedVar + "}"
	args := arguments(rest)
	n := listArgs[function]
	if len(args) <= n || strings.HasPrefix(function, "filter") && !r.including { // keeping all is correct only for files
		return unlisted
	}
	args[n] = strings.Join(args[n:], ",")
	for i := range args[:n+1] {
		args[i] = r.expand(args[i], depth)
		if i < n && strings.ContainsAny(args[i], "$`") {
			return unlisted
		}
	}
	return onWords(args[n], func(w string) (string, bool) { return listFunctions[function](args, w) })
}

// arguments splits the arguments of a function, which may contain variables.
func arguments(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// onWords changes each word of a list; if one is unknown, the whole list is.
func onWords(list string, change func(string) (string, bool)) string {
	var out []string
	for _, w := range strings.Fields(list) {
		to, ok := change(w)
		if !ok || strings.ContainsAny(w, "$`") {
			return "${" + unlistedVar + "}"
		}
		out = append(out, to)
	}
	return strings.Join(out, " ")
}

// patsubst replaces a word that matches a pattern. If the word is itself a pattern that
// could match, the result is unknown.
func patsubst(from, to, w string) (string, bool) {
	before, after, wild := strings.Cut(from, "%")
	switch {
	case !wild:
		if w == from {
			return to, true
		}
		return w, true
	case strings.HasPrefix(w, before) && strings.HasSuffix(w, after) && len(w) >= len(before)+len(after):
		return strings.Replace(to, "%", w[len(before):len(w)-len(after)], 1), true
	case strings.ContainsAny(w, "*?["):
		return w, false
	}
	return w, true
}
