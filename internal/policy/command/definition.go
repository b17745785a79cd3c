package command

import (
	"path"
	"strings"
)

// Defines reports whether a file is one that can define what a check runs, if the
// project's own files define that.
func Defines(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "makefile", "gnumakefile", "justfile", ".justfile", "package.json", ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml", "tox.ini", "noxfile.py",
		"rakefile", "composer.json", "build.zig", "cmakelists.txt", "dockerfile":
		return true
	}
	switch base {
	case "license", "readme", "changelog", "notice", "authors", "copying", "codeowners", "version":
		return false
	}
	switch path.Ext(base) {
	case ".sh", ".bash", ".zsh", ".fish", ".mk", ".just", ".cmake", ".awk", ".pl", ".ps1", ".bat", ".cmd":
		return true
	}
	return path.Ext(base) == "" // a script without an extension
}
