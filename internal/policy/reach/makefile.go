package reach

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file parses makefiles as far as needed to know which files they include and run.
// Variables with one value are replaced by it.

// Shell variables that stand for what is known only when make runs: a value, and the
// name of a target or of a prerequisite.
const (
	unlistedVar = "PAWL_UNLISTED"
	targetVar   = "PAWL_TARGET"
)

var (
	assignment = lazyregexp.New(`^\s*(?:(?:export|override|private)\s+)*(?:[^:=#\s][^:=#]*:\s*)?(?:(?:export|override|private)\s+)*([A-Za-z0-9_.-]+)\s*(:::=|::=|:=|\?=|\+=|!=|=)\s*(.*)$`)
	makeOption = lazyregexp.New(`^(-C|-f|-I|--directory=?|--file=?|--makefile=?|--include-dir=?|--eval=?|-E)(.*)$`)
)

// predefined are the variables that make itself sets, with the values of GNU make: what
// a recipe runs through them is judged like any other command.
var predefined = map[string]string{"MAKE": "make", "CC": "cc", "CXX": "g++", "AR": "ar", "RM": "rm -f", "LD": "ld", "AS": "as", "CPP": "cc -E", "FC": "f77", "YACC": "yacc", "LEX": "lex", "INSTALL": "install"}

// makefile follows a makefile, or a file that a makefile includes.
func (r *walk) makefile(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	defining := false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		if !strings.HasPrefix(l, "\t") && !defining {
			l = strings.ReplaceAll(l, "\t", " ")
		}
		first, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		if first == "override" && strings.HasPrefix(strings.TrimSpace(rest), "define ") {
			first, rest = "define", strings.TrimPrefix(strings.TrimSpace(rest), "define ")
		}
		switch {
		case first == "define":
			defining = true
			r.assign(strings.TrimSpace(strings.TrimRight(rest, ":?+= ")), "${"+unlistedVar+"}")
			continue
		case first == "endef":
			defining = false
			continue
		case strings.HasPrefix(l, "\t"), defining:
			r.recipe(l)
			continue
		case first == "" || strings.HasPrefix(first, "#"):
			continue
		}
		l, rest = beforeComment(l), beforeComment(rest)
		switch first {
		case "include", "-include", "sinclude":
			r.including = true
			names := r.expand(rest, 0)
			r.including = false
			r.includes(names)
			continue
		case "load", "-load":
			r.not("load, which runs a library")
			continue
		case ".ONESHELL:":
			r.not(".ONESHELL")
			continue
		}
		if m := assignment().FindStringSubmatch(l); m != nil {
			value := r.expand(m[3], 0)
			switch {
			case m[2] == "!=":
				r.line(r.at.dir, value)
				r.assign(m[1], "${"+unlistedVar+"}")
			case m[2] == "+=":
				r.assign(m[1], "${"+unlistedVar+"}")
			default:
				r.assign(m[1], m[3])
			}
			if loads(m[1], value) {
				r.not("a value of " + m[1] + " by which programs load files")
			}
			continue
		}
		if plain, _, _ := strings.Cut(outsideBrackets(l), ";"); strings.Contains(plain, "=") && !strings.HasPrefix(first, "if") && first != "else" {
			r.not("an assignment to a variable whose name is known only when it runs")
		}
		head := r.expand(l, 0)
		if made, _, ok := strings.Cut(head, ":"); ok {
			for _, t := range strings.Fields(made) {
				r.targets[inside(r.at.dir, t)] = true
			}
		}
		if _, recipe, ok := strings.Cut(l, ";"); ok && strings.Contains(head, ":") {
			r.recipe(recipe)
		} else if strings.Contains(l, "$") && !strings.Contains(l, ":") && strings.Trim(strings.ReplaceAll(head, "${"+unlistedVar+"}", ""), " ") == "" && strings.Contains(l, "$(call") {
			r.not("$(call …), which can define rules")
		}
	}
}

// beforeComment returns a line of a makefile without its comment.
func beforeComment(l string) string {
	for i := range len(l) {
		if l[i] == '#' && (i == 0 || l[i-1] != '\\') {
			return l[:i]
		}
	}
	return l
}

// outsideBrackets returns the text that is outside variables and functions.
func outsideBrackets(l string) string {
	var b strings.Builder
	for i := 0; i < len(l); i++ {
		if l[i] == '$' && i+1 < len(l) && (l[i+1] == '(' || l[i+1] == '{') {
			if end := closing(l, i+1); end > 0 {
				i = end
				continue
			}
		}
		b.WriteByte(l[i])
	}
	return b.String()
}

// assign records a value of a variable.
func (r *walk) assign(name, value string) {
	if value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), "@")); !slices.Contains(r.vars[name], value) {
		r.vars[name] = append(r.vars[name], value)
	}
}

func (r *walk) recipe(l string) {
	l = strings.TrimLeft(r.expand(strings.TrimLeft(l, "\t @+-"), 0), "\t @+-")
	if l != "" && !strings.HasPrefix(l, "#") {
		r.line(r.at.dir, l)
	}
}

// includes follows the files of an include line. make searches them in the folder in
// which it runs.
func (r *walk) includes(names string) {
	for _, w := range strings.Fields(names) {
		if strings.Contains(w, "$") {
			r.not("an include of a name that is known only when it runs")
			continue
		}
		if w = inside(r.at.dir, w); !fs.ValidPath(w) {
			continue // outside the folder
		}
		found, err := fs.Glob(r.fsys, w)
		if err != nil || strings.Contains(w, "**") {
			r.not("an include of a pattern that pawl cannot list")
		}
		for _, n := range found {
			if st, err := fs.Stat(r.fsys, n); err == nil && st.Size() <= maxFile && dependenciesOnly(r.text(n)) {
				continue // a file as compilers write it
			}
			r.define(r.at.dir, n)
		}
	}
}

// expand replaces the variables in a makefile's text by their values. An unknown one
// becomes a shell variable.
func (r *walk) expand(s string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case '$':
			b.WriteByte('$')
		case '(', '{':
			end := closing(s, i)
			if end < 0 {
				r.not("a variable without an end")
				return b.String()
			}
			b.WriteString(r.value(s[i+1:end], depth+1))
			i = end
		case '@', '<', '^', '*', '?', '+', '%', '|':
			b.WriteString("${" + targetVar + "}")
		default:
			b.WriteString(r.value(s[i:i+1], depth+1))
		}
	}
	return b.String()
}

// closing returns the position at which the bracket at i closes, or -1 if it does not.
func closing(s string, i int) int {
	open, shut, depth := s[i], byte(')'), 0
	if open == '{' {
		shut = '}'
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// value returns what $(name) or $(function arguments) expands to.
func (r *walk) value(name string, depth int) string {
	unlisted := "${" + unlistedVar + "}"
	if depth > 20 {
		r.not("variables that name each other without an end")
		return unlisted
	}
	here := path.Join(under, r.at.dir)
	function, rest, isCall := strings.Cut(strings.ReplaceAll(name, "\t", " "), " ")
	switch {
	case name == "CURDIR", name == "PWD" && r.vars["PWD"] == nil, isCall && function == "shell" && strings.TrimSpace(rest) == "pwd":
		return here
	case len(name) == 2 && strings.ContainsAny(name[:1], "@<^*?+%|") && (name[1] == 'D' || name[1] == 'F'):
		return "${" + targetVar + "}"
	case isCall && function == "eval":
		r.not("$(eval …)")
		r.expand(rest, depth)
		return unlisted
	case isCall && function == "shell":
		r.line(r.at.dir, r.expand(rest, depth))
		return unlisted
	case isCall && listFunctions[function] != nil:
		return r.listed(function, rest, depth)
	case !isCall && strings.Contains(name, ":") && strings.Contains(name, "="): // $(A:.c=.o)
		name, change, _ := strings.Cut(name, ":")
		from, to, _ := strings.Cut(change, "=")
		if !strings.Contains(from, "%") {
			from, to = "%"+from, "%"+to
		}
		if strings.ContainsAny(from+to, "$") {
			from, to = r.expand(from, depth), r.expand(to, depth)
		}
		return onWords(r.value(strings.TrimSpace(name), depth+1), func(w string) (string, bool) { return patsubst(from, to, w) })
	case isCall && (function == "wildcard" || function == "strip" || function == "sort" || function == "abspath"):
		text := r.expand(rest, depth)
		if function == "abspath" && !strings.ContainsAny(text, " $/") {
			return path.Join(here, text)
		}
		return text
	case isCall && (function == "info" || function == "warning" || function == "error"):
		r.expand(rest, depth)
		return ""
	case isCall || strings.ContainsAny(name, "$:"):
		r.expand(name, depth)
		return unlisted
	}
	values := r.vars[name]
	switch {
	case len(values) == 0 && predefined[name] != "":
		return predefined[name]
	case len(values) != 1:
		return unlisted
	}
	return r.expand(values[0], depth)
}

// make follows a call of make: the makefiles of its folder, or those that its arguments
// name.
func (r *walk) make(c shellsyntax.Command, args []shellsyntax.Word) {
	folders := r.folders(c)
	var files []string
	for i := 0; i < len(args); i++ {
		w := args[i]
		name, value, assigns := strings.Cut(w.Text, "=")
		m := makeOption().FindStringSubmatch(w.Text)
		switch {
		case m != nil:
			arg := shellsyntax.Word{Text: strings.TrimPrefix(m[2], "="), Known: w.Known}
			if arg.Text == "" && i+1 < len(args) {
				i++
				arg = args[i]
			}
			switch {
			case !arg.Known:
				r.not("a call of make with " + m[1] + " " + written(arg) + ", known only when it runs")
				return
			case m[1] == "-I", strings.HasPrefix(m[1], "--i"), m[1] == "-E", strings.HasPrefix(m[1], "--e"):
				r.not("a call of make with " + m[1])
			case m[1] == "-C", strings.HasPrefix(m[1], "--d"):
				for j, d := range folders {
					folders[j] = inside(d, arg.Text)
				}
			default:
				files = append(files, arg.Text)
			}
		case assigns && !strings.HasPrefix(name, "-"):
			if !w.Known {
				value = "${" + unlistedVar + "}"
			}
			r.assign(name, value)
		case !w.Known && w.Prefix == "" && strings.Contains(w.Text, unlistedVar):
			r.not("a call of make with " + written(w) + ", known only when it runs")
		}
	}
	if files == nil {
		files = command.Makefile.Files()
	}
	for _, d := range folders {
		for _, f := range files {
			r.define(d, inside(d, f))
		}
	}
}

// inside joins a name to a folder, both relative to the workspace; an absolute name
// inside the workspace becomes relative.
func inside(dir, name string) string {
	if rest, ok := strings.CutPrefix(path.Clean(name)+"/", under+"/"); ok {
		return path.Join(".", rest)
	}
	if path.IsAbs(name) {
		return name
	}
	return path.Join(dir, name)
}
