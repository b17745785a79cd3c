package trajectory

import (
	"slices"
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

// kindOfWords decides by the words of a tool's name. If several words decide,
// changing comes before reading.
func kindOfWords(ws []string) progress.Kind {
	is := func(all ...string) bool {
		return slices.ContainsFunc(ws, func(w string) bool { return slices.Contains(all, w) })
	}
	begins := func(all ...string) bool {
		return slices.ContainsFunc(ws, func(w string) bool {
			return slices.ContainsFunc(all, func(p string) bool { return strings.HasPrefix(w, p) })
		})
	}
	switch {
	case begins("think", "todo", "plan", "memor", "thought", "reason", "reflect", "scratchpad"):
		return progress.Think
	case is("wait", "sleep", "poll", "output", "await") || is("status", "logs") && is("command", "job", "task", "process", "shell", "background", "terminal"):
		return progress.Wait
	case begins("edit", "writ", "patch", "replac", "create", "insert", "delet", "move", "append", "undo", "rename") ||
		is("rm", "mv", "multiedit", "apply"):
		return progress.Edit
	case begins("grep", "search", "glob", "find", "list") || is("ls", "rg", "locate", "tree"):
		return progress.Search
	case is("click", "fill", "type", "press", "drag", "upload", "evaluate"):
		return progress.Exec
	case begins("read", "view", "open", "fetch", "scroll", "navigat", "brows", "screenshot", "hover", "definition", "diagnos") ||
		is("cat", "show", "get", "goto", "diff", "log", "outline", "describe") || is("git") && is("status", "blame"):
		return progress.Read
	case begins("test", "build", "lint", "check", "compil", "typecheck"):
		return progress.Test
	case begins("submit", "finish", "complet", "exit") || is("done", "final", "terminate", "completion"):
		return progress.Submit
	}
	return progress.Exec
}

// kindOfCommand decides by the command line. Some agents offer their tools as commands. A
// command that writes a file counts as an edit, as far as that is known.
func kindOfCommand(line string) progress.Kind {
	first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch first {
	case "goto", "scroll_up", "scroll_down", "view":
		return progress.Read
	case "open":
		if !strings.HasPrefix(strings.TrimSpace(rest), "-") {
			return progress.Read
		}
	case "search_file", "search_dir", "find_file":
		return progress.Search
	case "str_replace_editor":
		verb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if k := editorVerb(verb); k != "" {
			return k
		}
		return progress.Edit
	case "create", "edit", "insert", "apply_patch", "str_replace":
		return progress.Edit
	case "submit", "exit_cost", "exit_forfeit":
		return progress.Submit
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
