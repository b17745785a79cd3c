package gitconfig

import (
	"slices"
	"strings"
)

// Repository stands for a setting where a file is a repository's own.
const Repository = "repository"

// Deciding are the files and folders of a repository that decide what git runs.
var Deciding = []string{"config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"}

// installer is a program that installs itself as git's hooks: words of such a hook,
// and the files of the working tree in which it reads what to run.
type installer struct {
	words, files []string
}

var installers = []installer{
	{[]string{"hook-impl", "pre_commit", "pre-commit run"}, []string{".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"}},
	{[]string{"lefthook"}, []string{
		"lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook.json", ".config/lefthook.yml",
		"lefthook-local.yml", ".lefthook-local.yml", ".lefthook", ".lefthook-local",
	}},
	{[]string{"hk run"}, []string{"hk.pkl", ".config/hk.pkl"}},
	{[]string{"overcommit"}, []string{".overcommit.yml", ".git-hooks"}},
}

// ReadByHook returns the files that a hook with this text reads as what to run, as
// values of settings.
func ReadByHook(text string) []Setting {
	var out []Setting
	for _, in := range installers {
		if !slices.ContainsFunc(in.words, func(w string) bool { return strings.Contains(text, w) }) {
			continue
		}
		for _, f := range in.files {
			out = append(out, Setting{"hook", f})
		}
	}
	return out
}
