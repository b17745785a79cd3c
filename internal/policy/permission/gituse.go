package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/gitconfig"
)

// This file judges what git's configuration makes git run or read (SPEC 16.3): a hook
// in .husky is written only with a person's consent, like one in .git/hooks. The
// adapter that confines commands finds these uses.

// gitUse returns why git runs or reads a file, and the name that a rule about it must
// contain, "" for other files.
func (p *Policy) gitUse(abs string) (use tool.GitUse, name string) {
	file := fold2(abs)
	if path.Base(file) == "head" { // a folder with one may be a bare repository
		return tool.GitUse{Path: abs, Setting: gitconfig.Repository}, "head"
	}
	i := slices.IndexFunc(p.git, func(u tool.GitUse) bool { return under(file, fold2(u.Path)) })
	if i < 0 {
		return use, ""
	}
	return p.git[i], fold(path.Base(p.git[i].Path))
}

// Protected reports whether a file of the workspace, at the absolute path abs, is
// written only with a person's consent.
func Protected(file, abs string, git []tool.GitUse) bool {
	return protected(file) != "" || (&Policy{git: git}).usedByGit(abs)
}

func (p *Policy) usedByGit(file string) bool {
	_, name := p.gitUse(file)
	return name != ""
}

// gitDoes describes what git does with a file that a setting names.
func gitDoes(setting string) string {
	switch {
	case setting == tool.Instructions:
		return "which pawl reads as instructions, since the rules import it"
	case setting == "core.hookspath":
		return "and git runs this file by itself, such as at your next commit (core.hooksPath)"
	case setting == gitconfig.Repository:
		return "and git takes a folder with such a file for a repository, which names programs that git runs"
	case setting == "init.templatedir":
		return "and git copies this file into new repositories, where it runs it (init.templateDir)"
	case strings.HasPrefix(setting, "hook "):
		return "and git's " + setting + " runs it, or what it says"
	case strings.HasPrefix(setting, "include"), setting == "core.attributesfile":
		return "which is a part of git's configuration and decides what git runs (" + setting + ")"
	}
	return "which git runs (" + setting + ")"
}
