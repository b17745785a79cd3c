package trajectory

import (
	"cmp"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// KindOf guesses what a call of any agent's tool does, from the tool's name and from the
// command if it runs one.
func KindOf(tool, command string) progress.Kind {
	if command != "" {
		return kindOfCommand(command)
	}
	return kindOfWords(nameWords(tool))
}

// nameWords splits a name at characters other than letters and digits, and
// before upper-case letters that begin a word; the words are in lower case.
func nameWords(name string) []string {
	var out []string
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, strings.ToLower(name[start:end]))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
			cut(i)
			start = i + 1
		case i > start && c >= 'A' && c <= 'Z' && (name[i-1] < 'A' || name[i-1] > 'Z'):
			cut(i)
			start = i
		}
	}
	cut(len(name))
	return out
}

// kindOfWords decides by the words of a tool's name.
func kindOfWords(ws []string) progress.Kind {
	for _, r := range nameRules {
		if r.matches(ws) {
			return r.kind
		}
	}
	return progress.Exec
}

// kindOfCommand decides by the command line. Some agents offer their tools as commands. A
// command that writes a file counts as an edit, as far as that is known.
func kindOfCommand(line string) progress.Kind {
	first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	verb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if first == editor {
		return cmp.Or(verbs.of(verb), progress.Edit)
	}
	if k := commands.of(first); k != "" && !(first == openCommand && strings.HasPrefix(verb, "-")) { // with options it is the system's
		return k
	}
	k := progress.CommandKind(line)
	if k == progress.Exec && writes(line) {
		return progress.Edit
	}
	return k
}

// writes reports whether a command line writes a file: by an editor in place, a
// patch, or a here-document into a file.
func writes(line string) bool {
	l := " " + strings.ReplaceAll(line, "\n", " ")
	switch {
	case strings.Contains(l, " sed -i"), strings.Contains(l, " apply_patch"), strings.Contains(l, " patch -p"), strings.Contains(l, " git apply"),
		strings.Contains(l, " perl -pi"):
		return true
	case strings.Contains(l, "<<"):
		return strings.Contains(l, " cat >") || strings.Contains(l, " cat <<") && strings.Contains(l, "> ") || strings.Contains(l, " tee ")
	}
	return false
}
