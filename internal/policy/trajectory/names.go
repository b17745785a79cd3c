package trajectory

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// This file holds the names that other agents have for their tools.

// nameRule is a way to tell a tool's kind by the words of its name.
type nameRule struct {
	kind   progress.Kind
	begins string // beginnings of words; one is enough
	is     string // words; one is enough
	with   string // and one of these, where there are any
}

// nameRules are tried in order: if several words decide, changing comes before
// reading.
var nameRules = []nameRule{
	{kind: progress.Think, begins: "think todo plan memor thought reason reflect scratchpad"},
	{kind: progress.Wait, is: "wait sleep poll output await"},
	{kind: progress.Wait, is: "status logs", with: "command job task process shell background terminal"},
	{kind: progress.Edit, begins: "edit writ patch replac create insert delet move append undo rename", is: "rm mv multiedit apply"},
	{kind: progress.Search, begins: "grep search glob find list", is: "ls rg locate tree"},
	{kind: progress.Exec, is: "click fill type press drag upload evaluate"},
	{kind: progress.Read, begins: "read view open fetch scroll navigat brows screenshot hover definition diagnos", is: "cat show get goto diff log outline describe"},
	{kind: progress.Read, is: "git", with: "status blame"},
	{kind: progress.Test, begins: "test build lint check compil typecheck"},
	{kind: progress.Submit, begins: "submit finish complet exit", is: "done final terminate completion"},
}

func (r nameRule) matches(words []string) bool {
	return (begun(words, r.begins) || among(words, r.is)) && (r.with == "" || among(words, r.with))
}

func among(words []string, list string) bool {
	for w := range strings.FieldsSeq(list) {
		if slices.Contains(words, w) {
			return true
		}
	}
	return false
}

func begun(words []string, list string) bool {
	for p := range strings.FieldsSeq(list) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, p) }) {
			return true
		}
	}
	return false
}

// Of the commands by which agents offer their tools: editor is several tools in
// one, by its verbs, and openCommand is also a program of the system.
const (
	editor      = "str_replace_editor"
	openCommand = "open"
)

// kinds are names by what they do.
type kinds []struct {
	kind  progress.Kind
	names string
}

var (
	commands = kinds{
		{progress.Read, "goto scroll_up scroll_down view open"},
		{progress.Search, "search_file search_dir find_file"},
		{progress.Edit, "create edit insert apply_patch str_replace"},
		{progress.Submit, "submit exit_cost exit_forfeit"},
	}
	verbs = kinds{
		{progress.Read, "view open read"},
		{progress.Edit, "create str_replace insert undo_edit write replace delete append"},
	}
)

// of returns the kind of a name, "" for one that is not listed.
func (ks kinds) of(name string) progress.Kind {
	for _, k := range ks {
		if among([]string{name}, k.names) {
			return k.kind
		}
	}
	return ""
}
